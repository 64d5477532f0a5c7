"""Sources asked in turn: which of their failures to report, what to say with it, and what is told on the way."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from .errors import ArchiveWithdrawn, IntegrityError, OfflineError, TransferError, TransientTransferError
from .notes import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .errors import RedistError
    from .locations import Folder
    from .planner import PlannedArchive

__all__ = ["Failures", "from_first", "reported"]

_Given = TypeVar("_Given")


class Failures:
    """What went wrong at some folders while others were still to be asked for a manifest."""

    def __init__(self) -> None:
        self._first: RedistError | None = None
        self._lost: set[str] = set()

    def note(self, error: RedistError, folder: Folder) -> None:
        """Remember an error; a source that does not answer is not asked for its other folders."""
        if self._first is None:
            self._first = error
        else:
            log.warning("%s", error)
        if isinstance(error, (TransientTransferError, OfflineError)):
            self._lost.add(folder.tree)

    def has_lost(self, folder: Folder) -> bool:
        """Whether the folder's source did not answer."""
        return folder.tree in self._lost

    def raise_first(self) -> None:
        """Raise the first error, if there was one: a source that failed may have what no other has."""
        if self._first is not None:
            raise self._first


def _tell_next(failure: RedistError) -> None:
    """Tell of a failure before the next source is tried: while there are others, one without the archive is no news."""
    told = log.info if isinstance(failure, ArchiveWithdrawn) else log.warning
    told("%s; trying the next source", failure)


def _deciding(failures: Sequence[RedistError]) -> RedistError:
    """Return the failure that counts: the first; that a source has no such archive counts last."""
    return next((each for each in failures if not isinstance(each, ArchiveWithdrawn)), failures[0])


def from_first(
    urls: Iterable[str],
    take: Callable[[str], _Given],
    *,
    before_next: Callable[[], None] = lambda: None,
    decide: Callable[[Sequence[RedistError]], RedistError] = _deciding,
) -> _Given:
    """Return what ``take`` gives for the first of an archive's URLs that gives the promised bytes.

    Where none does, raises what ``decide`` makes of their failures (``ArchiveWithdrawn``, ``TransferError``,
    ``IntegrityError``), which come in the order of ``urls``. Any other error ends it at once.
    """
    failures: list[RedistError] = []
    for url in urls:
        if failures:
            _tell_next(failures[-1])
            before_next()
        try:
            return take(url)
        except (ArchiveWithdrawn, TransferError, IntegrityError) as error:
            failures.append(error)
    raise decide(failures)


def reported(failures: Sequence[RedistError], archive: PlannedArchive) -> RedistError:
    """Return the error for an archive that every source failed to give, one failure each, in their order.

    The deciding one, to which what was wanted is added where it is gone or forbidden (C41), and the manifest of the
    release where the bytes are not the promised ones (C07).
    """
    failure = _deciding(failures)
    told: RedistError = failure
    wanted = f"{archive.component} {archive.label} for {archive.platform}"
    if isinstance(failure, ArchiveWithdrawn):
        told = ArchiveWithdrawn(f"{failure.cause}: {wanted}", phase=failure.phase, where=failure.where)
    elif isinstance(failure, TransferError) and failure.status == HTTPStatus.FORBIDDEN:
        told = TransferError(
            f"{failure.cause}: {wanted}", phase=failure.phase, where=failure.where, status=failure.status
        )
    elif isinstance(failure, IntegrityError):
        told = type(failure)(
            f"{failure.cause}; its manifest{_dated(archive)} has sha256 {archive.manifest_sha256}",
            phase=failure.phase,
            where=failure.where,
            expected=failure.expected,
            actual=failure.actual,
        )
    if told is not failure:
        told.__cause__ = failure
    return told


def _dated(archive: PlannedArchive) -> str:
    """Say of when the manifest is: one that is mended in place keeps its name."""
    return f" of {archive.manifest_date}" if archive.manifest_date else ""
