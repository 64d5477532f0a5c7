"""Is there room? Asked before the first byte is fetched."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ..errors import PrefixError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["require_space"]


def require_space(needs: Iterable[tuple[Path, int]]) -> None:
    """Raise ``PrefixError`` unless each file system has room for what its paths need together (bytes)."""
    wanted: dict[int, tuple[Path, int]] = {}
    for path, size in needs:
        place = _existing(path)
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


def _existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path
