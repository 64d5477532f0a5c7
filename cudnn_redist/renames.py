"""Renames, with some patience where Windows refuses one for a moment (C69).

A scanner opens what was just written, and while it looks, the file or a directory around it cannot be renamed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["rename", "replace"]

_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
# ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION:
# https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-
_HELD_OPEN = frozenset({5, 32})


def rename(source: Path, target: Path) -> None:
    """Rename as ``Path.rename`` does; ``PermissionError`` where Windows still refuses after some three seconds."""
    _patiently(source.rename, target)


def replace(source: Path, target: Path) -> None:
    """Rename as ``Path.replace`` does, taking the place of a file that is there; patient as ``rename`` is."""
    _patiently(source.replace, target)


def _patiently(move: Callable[[Path], object], target: Path) -> None:
    for pause in _PAUSES:
        try:
            move(target)
        except PermissionError as error:
            # Other systems have no such number: what they refuse, they refuse for good.
            if getattr(error, "winerror", None) not in _HELD_OPEN:
                raise
            time.sleep(pause)
        else:
            return
    move(target)
