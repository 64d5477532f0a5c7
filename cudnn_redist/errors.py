"""Every error this package raises on purpose, by whose fault it is.

    RedistError                     caught by callers, never raised itself
    |- UsageError                   the question makes no sense                     exit 2
    |- NotAvailableError            the question is fine, the thing is not there    exit 3
    |  |- LabelNotFound
    |  |- ComponentNotFound
    |  |- PlatformNotFound
    |  |- VariantNotFound
    |  |- VersionNotFound
    |  |- ChannelNotFound
    |  |- ArchiveWithdrawn
    |  `- NotInstalled
    |- TransferError                the line, the proxy or the server               exit 4
    |  |- TransientTransferError    the same request may work in a moment
    |  `- OfflineError              the network was not to be asked
    |- IntegrityError               the bytes are not the promised ones             exit 5
    |  |- SizeMismatch
    |  |- DigestMismatch
    |  `- ManifestChanged
    |- ManifestError                the manifest is damaged or unsafe               exit 6
    |- ArchiveError                 the archive is damaged or unsafe                exit 6
    |- LockError                    the lock file is damaged or unsafe              exit 6
    |- PrefixError                  the disk, a permission, or a directory in use   exit 7
    |- LockMismatch                 a source, or a prefix, differs from the lock    exit 8
    `- VerificationFailed           a prefix is not what its record says            exit 9

An error reads ``<phase>: <where>: <cause>``; the three parts and the facts behind them are attributes, so that
a program never has to look at the text.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ArchiveError",
    "ArchiveWithdrawn",
    "ChannelNotFound",
    "ComponentNotFound",
    "DigestMismatch",
    "IntegrityError",
    "LabelNotFound",
    "LockError",
    "LockMismatch",
    "ManifestChanged",
    "ManifestError",
    "NotAvailableError",
    "NotInstalled",
    "OfflineError",
    "PlatformNotFound",
    "PrefixError",
    "RedistError",
    "SizeMismatch",
    "TransferError",
    "TransientTransferError",
    "UsageError",
    "VariantNotFound",
    "VerificationFailed",
    "VersionNotFound",
]


class RedistError(Exception):
    """The root of the tree.

    ``phase`` is the step that failed (``label``, ``manifest``, ``choose``, ``plan``, ``download``, ``unpack``,
    ``publish``, ...), ``where`` the URL or path it worked on (``None`` where there is none), ``cause`` the
    sentence that says why.
    """

    exit_code: ClassVar[int] = 1
    default_phase: ClassVar[str] = "run"

    def __init__(self, cause: str, *, phase: str | None = None, where: object = None) -> None:
        self.cause = cause
        self.phase = phase or self.default_phase
        self.where = None if where is None else str(where)
        super().__init__(cause)

    def __str__(self) -> str:
        parts = (self.phase, self.where, self.cause)
        return ": ".join(part for part in parts if part)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle knows nothing of keywords, and errors come back from worker processes.
        return copyreg.__newobj__, (type(self), self.cause), vars(self)  # type: ignore[attr-defined]

    def facts(self) -> dict[str, Any]:
        """Return what a program may want to know, ready for JSON."""
        facts = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {"type": type(self).__name__, "exit_code": self.exit_code, **facts}


class UsageError(RedistError):
    """The question makes no sense, or has more than one answer and must be asked more precisely."""

    exit_code = 2
    default_phase = "usage"


class NotAvailableError(RedistError):
    """What was asked for does not exist here; ``available`` lists what does."""

    exit_code = 3
    default_phase = "choose"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, available: Sequence[str] = ()
    ) -> None:
        self.available = tuple(available)
        super().__init__(cause, phase=phase, where=where)


class LabelNotFound(NotAvailableError):
    """No manifest has this name."""

    default_phase = "label"


class ComponentNotFound(NotAvailableError):
    """The manifest has no such component."""


class PlatformNotFound(NotAvailableError):
    """The component has no archive for this platform."""


class VariantNotFound(NotAvailableError):
    """The platform has no archive for this CUDA."""


class VersionNotFound(NotAvailableError):
    """The manifest's three-part label exists, but holds another version than the four-part one asked for."""


class ChannelNotFound(NotAvailableError):
    """The source has no such channel, or none at all."""

    default_phase = "channel"


class ArchiveWithdrawn(NotAvailableError):
    """The manifest names the archive, the server no longer has it (404, 410)."""

    default_phase = "download"


class NotInstalled(NotAvailableError):
    """The root holds no such prefix."""

    default_phase = "prefix"


class TransferError(RedistError):
    """The line, the proxy or the server; ``status`` is the HTTP status where there was one."""

    exit_code = 4
    default_phase = "download"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, status: int | None = None
    ) -> None:
        self.status = status
        super().__init__(cause, phase=phase, where=where)


class TransientTransferError(TransferError):
    """The same request may work in a moment.

    ``retry_after`` is the server's wish in seconds, if it had one; ``landed`` is how many bytes of an archive are kept.
    """

    def __init__(
        self,
        cause: str,
        *,
        phase: str | None = None,
        where: object = None,
        status: int | None = None,
        retry_after: float | None = None,
        landed: int = 0,
    ) -> None:
        self.retry_after = retry_after
        self.landed = landed
        super().__init__(cause, phase=phase, where=where, status=status)


class OfflineError(TransferError):
    """Only the network has it, which was not to be asked; ``where`` is what would have been."""


class IntegrityError(RedistError):
    """The bytes are not the promised ones; ``expected`` and ``actual`` say how."""

    exit_code = 5
    default_phase = "verify"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, expected: object, actual: object
    ) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(cause, phase=phase, where=where)


class SizeMismatch(IntegrityError):
    """More or fewer bytes than the manifest says."""


class DigestMismatch(IntegrityError):
    """The right number of bytes, but not the right ones."""


class ManifestChanged(IntegrityError):
    """The manifest's own sha256 is not the pinned one."""

    default_phase = "manifest"


class ManifestError(RedistError):
    """The manifest is damaged or unsafe; ``faults`` names each place (a dotted path) and what is wrong there."""

    exit_code = 6
    default_phase = "manifest"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, faults: Sequence[str] = ()
    ) -> None:
        self.faults = tuple(faults)
        super().__init__(cause, phase=phase, where=where)


class ArchiveError(RedistError):
    """The archive is damaged, or holds a ``member`` that must not be written."""

    exit_code = 6
    default_phase = "unpack"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, member: str | None = None
    ) -> None:
        self.member = member
        super().__init__(cause, phase=phase, where=where)


class LockError(RedistError):
    """The lock file is damaged or unsafe; ``faults`` names each place (a dotted path) and what is wrong there."""

    exit_code = 6
    default_phase = "lock"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, faults: Sequence[str] = ()
    ) -> None:
        self.faults = tuple(faults)
        super().__init__(cause, phase=phase, where=where)


class PrefixError(RedistError):
    """The disk, a permission, or a directory that is not ours to replace."""

    exit_code = 7
    default_phase = "publish"


class LockMismatch(RedistError):
    """A source, or an installed prefix, is not what the lock says.

    ``differences`` names each one; ``releases`` is what ``lock --check`` found of each, ready for JSON.
    """

    exit_code = 8
    default_phase = "lock"

    def __init__(
        self,
        cause: str,
        *,
        phase: str | None = None,
        where: object = None,
        differences: Sequence[str] = (),
        releases: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.differences = tuple(differences)
        self.releases = tuple(releases)
        super().__init__(cause, phase=phase, where=where)


class VerificationFailed(RedistError):
    """A prefix is not what its record says, or not fit for use; ``findings`` has each difference."""

    exit_code = 9
    default_phase = "verify"

    def __init__(
        self, cause: str, *, phase: str | None = None, where: object = None, findings: Sequence[Any] = ()
    ) -> None:
        self.findings = tuple(findings)
        super().__init__(cause, phase=phase, where=where)
