"""The disk: is there room, asked before the first byte is fetched, and what it refuses, told as ours."""

from __future__ import annotations

import contextlib
import errno
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PrefixError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["disk_errors", "full_disk", "nearest_existing", "require_space"]


def require_space(needs: Iterable[tuple[Path, int]]) -> None:
    """Raise ``PrefixError`` unless each file system has room for what its paths need together (bytes)."""
    wanted: dict[int, tuple[Path, int]] = {}
    for path, size in needs:
        place = nearest_existing(path)
        device = place.stat().st_dev
        wanted[device] = (place, wanted.get(device, (place, 0))[1] + size)
    for place, size in wanted.values():
        free = shutil.disk_usage(place).free
        if size > free:
            raise PrefixError(
                f"needs about {size:,} bytes, {free:,} are free; nothing was fetched",
                phase="space",
                where=place,
            )


@contextlib.contextmanager
def full_disk(*, needed: int) -> Iterator[None]:
    """Add what is ``needed`` in all (bytes), and what is free, to the ``PrefixError`` of a full disk or quota."""
    try:
        yield
    except PrefixError as error:
        refused = error.__cause__
        if not isinstance(refused, OSError) or refused.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        free = shutil.disk_usage(nearest_existing(Path(error.where or ""))).free
        # Room enough, and refused all the same: other things than bytes are counted too.
        limit = "; the limit is a quota, or the number of files" if free >= needed else ""
        raise PrefixError(
            f"{error.cause}: needs about {needed:,} bytes in all, {free:,} are free with what was begun removed{limit}",
            phase=error.phase,
            where=error.where,
        ) from refused


@contextlib.contextmanager
def disk_errors(where: object, *, phase: str) -> Iterator[None]:
    """Turn what the operating system refuses into ``PrefixError``; the path it names goes before ``where``."""
    try:
        yield
    except OSError as error:
        cause = error.strerror or str(error)
        raise PrefixError(cause, phase=phase, where=error.filename or where) from error


def nearest_existing(path: Path) -> Path:
    """Return ``path``, or the nearest of its parents that is there."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path
