"""From a stage to a prefix: the record written inside, one rename, and the old one moved aside.

A stage lies beside its target, under a name of its own, so that publishing is a rename within one directory.
Killed at any instant, the target is either absent, the old prefix, or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..layout import RECORD_NAME, stage_path
from ..owners import own_mark
from ..renames import rename
from .removing import moved_aside, remove_empty, remove_tree
from .space import nearest_existing

if TYPE_CHECKING:
    from collections.abc import Callable

    from .record import Record

__all__ = ["Stage", "write_file"]

_TRIES = 100
_TOUCH_AGAIN = 60.0


class Stage:
    """A directory beside ``target`` in which a prefix is made; a context manager that leaves nothing behind."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = stage_path(target, own_mark())
        self._ground = nearest_existing(target.parent)
        self._touched = time.monotonic()

    def __enter__(self) -> Stage:
        try:
            self._make()
        except BaseException:
            # Ctrl-C may come between the making and the block, too.
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        remove_tree(self.path)
        remove_empty(self.target.parent, ground=self._ground)

    def _make(self) -> None:
        # Another run that failed may remove the empty parents that both want.
        for _ in range(_TRIES):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                self._begin()
                return
        self._begin()

    def _begin(self) -> None:
        try:
            self.path.mkdir()
        except OSError as error:
            # Of the two only the target is a name that the user knows.
            error.filename = str(self.target)
            raise

    def touch(self) -> None:
        """Show other hosts that this stage is in use: with a slow line nothing may be written to it for long."""
        if time.monotonic() - self._touched > _TOUCH_AGAIN:
            self._touched = time.monotonic()
            os.utime(self.path)

    def clear(self) -> None:
        """Empty the stage, to unpack again from the start."""
        remove_tree(self.path)
        self.path.mkdir()

    def publish(
        self, root: Path, record: Record, *, replace: Callable[[], bool], durable: bool = False
    ) -> bool:
        """Write ``record`` into ``root`` (a directory inside this stage) and rename that to the target.

        Where the target exists already (another process was faster, or it is to be replaced), ``replace`` is asked
        whether it goes; ``False`` is returned when it stays.
        """
        write_file(root / RECORD_NAME, record.to_bytes())
        if durable:
            _sync_tree(root)
        with _Aside(self.target) as aside:
            while not _renamed(root, self.target):
                if not replace():
                    return False
                aside.take()
        if durable:
            _sync(self.target.parent)
        return True


class _Aside:
    """Keeps what stood at ``target`` until its successor is there, and puts it back if none comes."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._kept: Path | None = None

    def __enter__(self) -> _Aside:
        return self

    def take(self) -> None:
        """Move the target aside; that it is already gone is as good."""
        with contextlib.suppress(FileNotFoundError):
            aside = moved_aside(self._target)
            self._discard()
            self._kept = aside

    def __exit__(self, failed: object, *exc: object) -> None:
        if self._kept is None:
            return
        if failed is not None and not os.path.lexists(self._target):
            rename(self._kept, self._target)
        else:
            self._discard()

    def _discard(self) -> None:
        if self._kept is not None:
            remove_tree(self._kept)


def write_file(path: Path, data: bytes) -> None:
    """Write a file that must not exist yet."""
    with path.open("xb") as file:
        file.write(data)


def _renamed(source: Path, target: Path) -> bool:
    """Rename, or return ``False`` because the target is there (an empty directory is no obstacle)."""
    if target.is_symlink() or target.is_file():
        return False
    try:
        rename(source, target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR) or target.exists():
            return False
        raise
    return True


def _sync_tree(root: Path) -> None:
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            if not path.is_symlink():
                _sync(path)
        _sync(Path(directory))


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        # Windows opens no directory as a file; it journals the names in one by itself.
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
