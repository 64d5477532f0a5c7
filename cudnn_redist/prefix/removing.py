"""Prefixes that go: moved aside, so that they are gone at once, and then deleted; and what killed runs left.

What lies in a lower layer of an overlay (a container's image) cannot be moved: the kernel refuses to rename such a
directory with EXDEV (https://docs.kernel.org/filesystems/overlayfs.html, "Renaming directories"). It is copied, or
only deleted, and its record goes first: without one it is no installation, whenever the deleting ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from ..layout import ASIDE_PATTERN, LEAVING_PATTERN, RECORD_NAME, STAGE_PATTERN, aside_path, leaving_path
from ..owners import left_behind, own_mark
from ..renames import rename

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["moved_aside", "remove_empty", "remove_prefix", "remove_tree", "sweep"]


def remove_prefix(target: Path, *, root: Path | None = None) -> None:
    """Move ``target`` aside, so that it is gone at once, and then delete it, with what it leaves empty in ``root``."""
    with contextlib.suppress(FileNotFoundError):
        aside = aside_path(target, own_mark())
        if _moved(target, aside):
            remove_tree(aside)
        else:
            _remove_in_place(target)
    if root is not None and root in target.parents:
        remove_empty(target.parent, ground=root)


def remove_empty(directory: Path, *, ground: Path) -> None:
    """Remove ``directory`` and its parents as long as they are empty, but not ``ground``."""
    while directory != ground and ground in directory.parents:
        try:
            directory.rmdir()
        except FileNotFoundError:
            # Never made, or removed by another run: those above it may be empty all the same.
            pass
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
        for leftover in _leftovers(directory):
            with contextlib.suppress(OSError):
                if left_behind(leftover.name, touched=leftover.lstat().st_mtime):
                    _remove_at_once(leftover)


def _leftovers(directory: Path) -> list[Path]:
    """List stages and prefixes moved aside; a run that failed may remove the directory meanwhile."""
    try:
        return [path for pattern in (STAGE_PATTERN, ASIDE_PATTERN) for path in directory.glob(pattern)]
    except FileNotFoundError:
        return []


def _remove_at_once(leftover: Path) -> None:
    """Take the name away first: were its process alive after all, it could not publish what is half removed."""
    aside = aside_path(leftover, own_mark())
    remove_tree(aside if _moved(leftover, aside) else leftover)


def moved_aside(target: Path) -> Path:
    """Move ``target`` out of the way, or copy it and delete it where nothing can move it; return where it is."""
    aside = aside_path(target, own_mark())
    if not _moved(target, aside):
        _copy_aside(target, aside)
    return aside


def _moved(target: Path, aside: Path) -> bool:
    """Rename ``target``, touched just now: that is what saves it from ``sweep``; ``False`` where nothing can."""
    with contextlib.suppress(PermissionError):
        if not target.is_symlink():
            os.utime(target)
    try:
        rename(target, aside)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        return False
    return True


def _copy_aside(target: Path, aside: Path) -> None:
    """Copy ``target``, and delete it only when the copy is whole; what fails on the way leaves it as it was."""
    try:
        _copy_what_is_missing(target, aside)
    except BaseException:
        remove_tree(aside)
        raise
    try:
        _remove_in_place(target)
    except BaseException:
        # Where this fails too, the copy stays.
        _copy_what_is_missing(aside, target)
        for leaving in target.glob(LEAVING_PATTERN):
            leaving.unlink()
        remove_tree(aside)
        raise


def _remove_in_place(target: Path) -> None:
    """Delete a directory that cannot be moved: its record goes in one step, what marks it as ours goes last."""
    target.chmod(target.stat().st_mode & 0o7777 | stat.S_IRWXU)
    leaving = leaving_path(target, own_mark())
    with contextlib.suppress(FileNotFoundError):
        rename(target / RECORD_NAME, leaving)
    for child in target.iterdir():
        if child != leaving:
            remove_tree(child)
    remove_tree(target)


def _copy_what_is_missing(source: Path, target: Path) -> None:
    """Copy a tree, links as links, with modes and times, over what is there of it; the record last."""
    target.mkdir(exist_ok=True)
    for child in sorted(source.iterdir(), key=lambda child: child.name == RECORD_NAME):
        copy = target / child.name
        if child.is_dir() and not child.is_symlink():
            _copy_what_is_missing(child, copy)
        elif not os.path.lexists(copy):
            shutil.copy2(child, copy, follow_symlinks=False)
    shutil.copystat(source, target)


def _unlock(root: Path) -> None:
    """Give the owner every right on directories, and on files where read-only ones cannot be deleted (Windows)."""
    root.chmod(stat.S_IRWXU)
    for directory, names, files in os.walk(root):
        for name in (*names, *files) if os.name == "nt" else names:
            path = Path(directory, name)
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)
