"""Which of several failures to report when no source gave an archive, and what to say with it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ArchiveWithdrawn, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .errors import RedistError
    from .planner import PlannedArchive

__all__ = ["deciding", "reported"]


def deciding(failures: Sequence[RedistError]) -> RedistError:
    """Return the failure that counts: the first, but that a source has no such archive is the least of the reasons."""
    return next((each for each in failures if not isinstance(each, ArchiveWithdrawn)), failures[0])


def reported(failures: Sequence[RedistError], archive: PlannedArchive) -> RedistError:
    """Return the error for an archive that every source failed to give, one failure each, in their order.

    The deciding one, to which what was wanted is added where it is gone (C41), and the manifest that made the promise
    where the bytes break it (C07).
    """
    failure = deciding(failures)
    told: RedistError = failure
    if isinstance(failure, ArchiveWithdrawn):
        wanted = f"{archive.component} {archive.label} for {archive.platform}"
        told = ArchiveWithdrawn(f"{failure.cause}: {wanted}", phase=failure.phase, where=failure.where)
    elif isinstance(failure, IntegrityError):
        told = type(failure)(
            f"{failure.cause}; promised by the manifest{_dated(archive)} with sha256 {archive.manifest_sha256}",
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
