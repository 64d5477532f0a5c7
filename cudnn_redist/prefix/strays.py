"""Small files that a run killed in the wrong moment leaves, with no process in their names: only their age tells."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from ..layout import STRAY_PATTERNS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["sweep_files", "sweep_strays"]

_DAY = 24 * 3600.0


def sweep_strays(root: Path) -> None:
    """Remove the lock files, and the manifests that were being kept, that lie under ``root`` for more than a day."""
    for pattern in STRAY_PATTERNS:
        # Whoever had the last turn removes the directory, also while it is listed.
        with contextlib.suppress(FileNotFoundError):
            sweep_files(root.glob(pattern))


def sweep_files(files: Iterable[Path]) -> None:
    """Remove those of ``files`` that nobody touched for a day."""
    now = time.time()
    for path in files:
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime > _DAY:
                path.unlink()
