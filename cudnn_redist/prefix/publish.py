"""From a stage to a prefix: the record written inside, one rename, and the old one moved aside.

A stage lies beside its target, under a name of its own, so that publishing is a rename within one directory.
Killed at any instant, the target is either absent, the old prefix, or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PrefixError
from ..layout import ASIDE_PATTERN, RECORD_NAME, STAGE_PATTERN, aside_path, stage_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .record import Record

__all__ = ["Stage", "disk_errors", "nearest_existing", "remove_prefix", "remove_tree", "sweep", "write_file"]

# A scanner on Windows may hold a fresh file open for some seconds; a rename meanwhile is refused (C69).
_RENAME_PATIENCE = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_DAY = 24 * 3600.0


class Stage:
    """A directory beside ``target`` in which a prefix is made; a context manager that leaves nothing behind."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = stage_path(target, secrets.token_hex(6))
        self._ground = nearest_existing(target.parent)

    def __enter__(self) -> Stage:
        while True:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            # Another run that failed may remove the empty parents that both want.
            with contextlib.suppress(FileNotFoundError):
                self.path.mkdir()
                return self

    def __exit__(self, *exc: object) -> None:
        remove_tree(self.path)
        _remove_empty(self.target.parent, ground=self._ground)

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
            aside = _moved_aside(self._target)
            self._discard()
            self._kept = aside

    def __exit__(self, failed: object, *exc: object) -> None:
        if self._kept is None:
            return
        if failed is not None and not os.path.lexists(self._target):
            _rename(self._kept, self._target)
        else:
            self._discard()

    def _discard(self) -> None:
        if self._kept is not None:
            remove_tree(self._kept)


@contextlib.contextmanager
def disk_errors(where: object, *, phase: str) -> Iterator[None]:
    """Turn what the operating system refuses into ``PrefixError``; the path it names goes before ``where``."""
    try:
        yield
    except OSError as error:
        cause = error.strerror or str(error)
        raise PrefixError(cause, phase=phase, where=error.filename or where) from error


def remove_prefix(target: Path, *, root: Path | None = None) -> None:
    """Move ``target`` aside, so that it is gone at once, and then delete it, with what it leaves empty in ``root``."""
    with contextlib.suppress(FileNotFoundError):
        remove_tree(_moved_aside(target))
    if root is not None and root in target.parents:
        _remove_empty(target.parent, ground=root)


def _remove_empty(directory: Path, *, ground: Path) -> None:
    """Remove ``directory`` and its parents as long as they are empty, but not ``ground``."""
    while directory != ground and ground in directory.parents:
        try:
            directory.rmdir()
        except OSError:
            return
        directory = directory.parent


def nearest_existing(path: Path) -> Path:
    """Return ``path``, or the nearest of its parents that is there."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path


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


def sweep(directory: Path, *, older_than: float = _DAY) -> None:
    """Remove stages and prefixes moved aside that a killed run left in ``directory``.

    What was touched in the last ``older_than`` seconds, itself or anything in it, may be in use: a slow line fills
    a stage for days.
    """
    now = time.time()
    for pattern in (STAGE_PATTERN, ASIDE_PATTERN):
        for leftover in directory.glob(pattern):
            with contextlib.suppress(OSError):
                if now - _last_touched(leftover) > older_than:
                    remove_tree(leftover)


def write_file(path: Path, data: bytes) -> None:
    """Write a file that must not exist yet."""
    with path.open("xb") as file:
        file.write(data)


def _renamed(source: Path, target: Path) -> bool:
    """Rename, or return ``False`` because the target is there (an empty directory is no obstacle)."""
    if target.is_symlink() or target.is_file():
        return False
    try:
        _rename(source, target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR) or target.exists():
            return False
        raise
    return True


def _moved_aside(target: Path) -> Path:
    """Move ``target`` out of the way, marked as touched just now: its age is what saves it from ``sweep``."""
    aside = aside_path(target, secrets.token_hex(6))
    with contextlib.suppress(PermissionError):
        if not target.is_symlink():
            os.utime(target)
    _rename(target, aside)
    return aside


def _rename(source: Path, target: Path) -> None:
    for pause in (*_RENAME_PATIENCE, None):
        try:
            source.rename(target)
        except PermissionError:
            if os.name != "nt" or pause is None:
                raise
            time.sleep(pause)
        else:
            return


def _last_touched(path: Path) -> float:
    times = [path.lstat().st_mtime]
    for directory, names, files in os.walk(path):
        times.extend(Path(directory, name).lstat().st_mtime for name in (*names, *files))
    return max(times)


def _unlock(root: Path) -> None:
    """Give the owner every right on directories, and on files where read-only ones cannot be deleted (Windows)."""
    root.chmod(stat.S_IRWXU)
    for directory, names, files in os.walk(root):
        for name in (*names, *files) if os.name == "nt" else names:
            path = Path(directory, name)
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)


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
