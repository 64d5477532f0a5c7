"""Is there room? Asked before the first byte is fetched, and told when it runs out all the same."""

from __future__ import annotations

import contextlib
import errno
import shutil
from typing import TYPE_CHECKING

from ..errors import PrefixError
from .publish import nearest_existing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["full_disk", "require_space"]


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
def full_disk(path: Path, *, needed: int) -> Iterator[None]:
    """Turn a disk or quota that is full into a ``PrefixError`` that says what is ``needed`` in all (bytes) and free."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        free = shutil.disk_usage(nearest_existing(path)).free
        raise PrefixError(
            f"{error.strerror}: needs about {needed:,} bytes in all, {free:,} are free with what was begun removed",
            phase="space",
            where=path,
        ) from error
