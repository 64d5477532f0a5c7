"""Prefixes that go: moved aside, so that they are gone at once, and then deleted; and what killed runs left."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..layout import ASIDE_PATTERN, STAGE_PATTERN, aside_path
from ..owners import left_behind, own_mark

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["moved_aside", "remove_empty", "remove_prefix", "remove_tree", "rename", "sweep"]

# A scanner on Windows may hold a fresh file open for some seconds; a rename meanwhile is refused (C69).
_RENAME_PATIENCE = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


def remove_prefix(target: Path, *, root: Path | None = None) -> None:
    """Move ``target`` aside, so that it is gone at once, and then delete it, with what it leaves empty in ``root``."""
    with contextlib.suppress(FileNotFoundError):
        remove_tree(moved_aside(target))
    if root is not None and root in target.parents:
        remove_empty(target.parent, ground=root)


def remove_empty(directory: Path, *, ground: Path) -> None:
    """Remove ``directory`` and its parents as long as they are empty, but not ``ground``."""
    while directory != ground and ground in directory.parents:
        try:
            directory.rmdir()
        except OSError:
            return
        directory = directory.parent


def remove_tree(path: Path) -> None:
    """Delete a directory tree, a file or a link that may be read-only or already gone; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        _unlock(path)
        shutil.rmtree(path)


def sweep(directories: Iterable[Path]) -> None:
    """Remove stages and prefixes moved aside that killed runs left in ``directories``."""
    for directory in directories:
        for pattern in (STAGE_PATTERN, ASIDE_PATTERN):
            for leftover in directory.glob(pattern):
                with contextlib.suppress(OSError):
                    if left_behind(leftover.name, touched=leftover.lstat().st_mtime):
                        remove_tree(leftover)


def moved_aside(target: Path) -> Path:
    """Move ``target`` out of the way, marked as ours and touched just now: that is what saves it from ``sweep``."""
    aside = aside_path(target, own_mark())
    with contextlib.suppress(PermissionError):
        if not target.is_symlink():
            os.utime(target)
    rename(target, aside)
    return aside


def rename(source: Path, target: Path) -> None:
    """Rename, with some patience where Windows refuses it for a moment."""
    for pause in (*_RENAME_PATIENCE, None):
        try:
            source.rename(target)
        except PermissionError:
            if os.name != "nt" or pause is None:
                raise
            time.sleep(pause)
        else:
            return


def _unlock(root: Path) -> None:
    """Give the owner every right on directories, and on files where read-only ones cannot be deleted (Windows)."""
    root.chmod(stat.S_IRWXU)
    for directory, names, files in os.walk(root):
        for name in (*names, *files) if os.name == "nt" else names:
            path = Path(directory, name)
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)
