"""What to do next about an error, where its cause does not say so by itself. Pure."""

from __future__ import annotations

import errno
from http import HTTPStatus
from typing import TYPE_CHECKING

from ..errors import (
    ArchiveError,
    ArchiveWithdrawn,
    DigestMismatch,
    LockError,
    ManifestChanged,
    ManifestError,
    NotInstalled,
    OfflineError,
    PrefixError,
    SizeMismatch,
    TransferError,
    TransientTransferError,
)

if TYPE_CHECKING:
    from ..errors import RedistError

__all__ = ["told"]

_MAY_NOT_WRITE = (errno.EACCES, errno.EPERM, errno.EROFS)
_ELSEWHERE = "give another --source, or tell who runs this one"
_STEPS: tuple[tuple[type[RedistError] | tuple[type[RedistError], ...], str], ...] = (
    (ArchiveWithdrawn, "`list` shows other releases, and another --source may have this one"),
    (TransientTransferError, "try again later, or give another --source"),
    (OfflineError, "leave --offline out, or give a directory or a bundle that has it as --source"),
    (TransferError, _ELSEWHERE),
    ((SizeMismatch, DigestMismatch), "nothing of it is kept: try again later, or give another --source"),
    (ManifestChanged, "if the change is meant, that is the sha256 to give"),
    (LockError, "restore the file, or make it anew with `lock`"),
    (ManifestError, _ELSEWHERE),
    (ArchiveError, f"nothing of it is kept: {_ELSEWHERE}"),
)
"""The first class that an error has counts; those that list what there is, or are about words given, need no step."""


def told(error: RedistError) -> str:
    """Return an error as the command tells it: phase, URL or path, cause, and the next step where there is one."""
    step = _next_step(error)
    return f"{error}; {step}" if step else str(error)


def _next_step(error: RedistError) -> str:
    match error:
        case (
            ArchiveError(phase="adopt")
            | TransferError(phase="proxy")
            | TransferError(status=HTTPStatus.UNAUTHORIZED)
        ):
            return ""
        case TransientTransferError(phase="download", landed=landed) if landed:
            return "what has arrived is kept, and the same command goes on from there"
        case NotInstalled(available=()):
            return "`list --installed` shows what is"
        case PrefixError(
            phase="plan" | "unpack" | "download" | "publish", __cause__=OSError(errno=number)
        ) if number in _MAY_NOT_WRITE:
            return "give a place that may be written to, by --root or --dest"
    return next((step for kind, step in _STEPS if isinstance(error, kind)), "")
