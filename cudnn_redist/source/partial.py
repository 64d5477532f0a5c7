"""Archives not yet complete: files of a name of their own, taken over from runs that ended.

A partial is named ``<sha256>.<host>.<pid>.<token>.part`` while a process fills it and ``<sha256>.free.<token>.part``
once that process gave it up after a failure of transport. Whoever wants to resume claims it by renaming it to a
name of its own: of two that try, one finds it gone. No lock is needed, and none is trusted.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import shutil
import socket
import threading
import time
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Partial", "sweep_partials"]

_HOUR = 3600.0
_DAY = 24 * _HOUR
_UNSAFE_IN_HOST = re.compile(r"[^A-Za-z0-9-]")


class Partial:
    """One open partial: bytes at offsets, and the validator under which the server gave them."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle
        self._seeking = threading.Lock()
        self._kept = False

    @classmethod
    def claim(cls, directory: Path, sha256: str) -> Partial:
        """Take over a partial that nobody fills any more, or start an empty one (mode 0600)."""
        directory.mkdir(parents=True, exist_ok=True)
        own = directory / f"{sha256}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.part"
        for left in _left_behind(directory, sha256):
            with contextlib.suppress(OSError):
                left.rename(own)
                with contextlib.suppress(FileNotFoundError):
                    _note(left).rename(_note(own))
                return cls(own, os.open(own, os.O_RDWR | getattr(os, "O_BINARY", 0)))
        return cls(own, _created(own))

    def __enter__(self) -> Partial:
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self._handle)
        if not self._kept:
            self._path.unlink(missing_ok=True)
            _note(self._path).unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self._handle).st_size

    def write_at(self, data: bytes | memoryview, offset: int) -> None:
        """Write all of ``data`` at ``offset``."""
        view = memoryview(data)
        while view:
            written = self._write_some(view, offset)
            view, offset = view[written:], offset + written

    def read_at(self, size: int, offset: int) -> bytes:
        """Read up to ``size`` bytes at ``offset``, while another thread writes elsewhere in the file."""
        if hasattr(os, "pread"):
            return os.pread(self._handle, size, offset)
        with self._seeking:
            os.lseek(self._handle, offset, os.SEEK_SET)
            return os.read(self._handle, size)

    def truncate(self) -> None:
        """Forget every byte and the validator they came with."""
        os.truncate(self._handle, 0)
        _note(self._path).unlink(missing_ok=True)

    @property
    def validator(self) -> str | None:
        """The ETag or Last-Modified that the bytes came with, for ``If-Range`` (RFC 9110, section 13.1.5)."""
        try:
            noted = json.loads(_note(self._path).read_bytes())
        except (OSError, ValueError):
            return None
        found = noted.get("validator") if isinstance(noted, dict) else None
        return found if isinstance(found, str) else None

    @validator.setter
    def validator(self, value: str | None) -> None:
        note = json.dumps({"validator": value}).encode()
        with open(_note(self._path), "wb", opener=_private) as file:
            file.write(note)

    def open(self) -> BinaryIO:
        """Return a file object on this very file, at its start; its position is shared with no reader above."""
        handle = os.dup(self._handle)
        os.lseek(handle, 0, os.SEEK_SET)
        return os.fdopen(handle, "rb")

    def release(self) -> None:
        """Leave the bytes to the next run: a failure of transport is the one reason to keep them."""
        sha256 = self._path.name.partition(".")[0]
        free = self._path.with_name(f"{sha256}.free.{secrets.token_hex(4)}.part")
        if self.size == 0:
            return
        with contextlib.suppress(FileNotFoundError):
            _note(self._path).rename(_note(free))
        self._path.rename(free)
        self._kept = True

    def store_at(self, path: Path) -> None:
        """Give the complete file its final name, by a copy where that is on another file system."""
        try:
            self._path.replace(path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
            try:
                shutil.copyfile(self._path, beside)
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)

    def _write_some(self, data: memoryview, offset: int) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self._handle, data, offset)
        with self._seeking:
            os.lseek(self._handle, offset, os.SEEK_SET)
            return os.write(self._handle, data)


def sweep_partials(directory: Path, *, older_than: float = _DAY) -> None:
    """Remove partials that nobody touched for ``older_than`` seconds."""
    now = time.time()
    for path in directory.glob("*.part*"):
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime > older_than:
                path.unlink()


def _left_behind(directory: Path, sha256: str) -> Iterator[Path]:
    """Yield partials of this archive whose process is gone, the largest first."""
    sizes = {}
    for path in directory.glob(f"{sha256}.*.part"):
        with contextlib.suppress(OSError):
            if _abandoned(path):
                sizes[path] = path.lstat().st_size
    yield from sorted(sizes, key=lambda path: sizes[path], reverse=True)


def _abandoned(path: Path) -> bool:
    _, host, pid, *_ = path.name.split(".")
    if host == "free" or time.time() - path.lstat().st_mtime > _HOUR:
        return True
    if host != _host() or not pid.isdecimal() or os.name == "nt":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _host() -> str:
    return _UNSAFE_IN_HOST.sub("-", socket.gethostname())[:64] or "host"


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _created(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
