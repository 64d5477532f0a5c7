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
import stat
import threading
import time
from typing import TYPE_CHECKING, BinaryIO

from ..locations import redacted
from ..owners import left_behind, own_mark
from ..renames import rename, replace
from .headers import is_sendable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

__all__ = ["Partial", "abandoned_partials", "discard_partials", "landed_size", "sweep_partials"]

_DAY = 24 * 3600.0
_NAME = re.compile(r"([0-9a-f]{64})\..+\.[0-9a-f]{8}\.part")
_BINARY = getattr(os, "O_BINARY", 0)


class Partial:
    """One open partial: bytes at offsets, and the validator under which the server gave them.

    A context manager: at its end the file goes, or, after ``release``, stays for the next run.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle
        self._seeking = threading.Lock()
        self._open = True
        self._kept = False

    @classmethod
    def claim(cls, directory: Path, sha256: str) -> Partial:
        """Take over a partial that nobody fills any more, or start an empty one (mode 0600)."""
        directory.mkdir(parents=True, exist_ok=True)
        for left in _left_behind(directory, sha256):
            own = _own_path(directory, sha256)
            with contextlib.suppress(OSError):
                rename(left, own)
                with contextlib.suppress(FileNotFoundError):
                    rename(_note(left), _note(own))
                return cls(own, os.open(own, os.O_RDWR | _BINARY))
        own = _own_path(directory, sha256)
        return cls(own, os.open(own, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600))

    def __enter__(self) -> Partial:
        return self

    def __exit__(self, *exc: object) -> None:
        # Closed first: Windows neither renames nor removes an open file.
        self._close()
        if self._kept:
            self._set_free()
        else:
            self._path.unlink(missing_ok=True)
            _note(self._path).unlink(missing_ok=True)

    @property
    def path(self) -> Path:
        """Where it lies, for errors; it is never opened by that again."""
        return self._path

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
        os.ftruncate(self._handle, 0)
        _note(self._path).unlink(missing_ok=True)

    def note(self, url: str, validator: str | None) -> None:
        """Remember the ETag or Last-Modified that the bytes came with, and from where; no login, no token."""
        note = json.dumps({"url": redacted(url), "validator": validator}).encode()
        with open(_note(self._path), "wb", opener=_private) as file:
            file.write(note)

    def validator_at(self, url: str) -> str | None:
        """Return what ``If-Range`` may say to ``url``; what another server said means nothing to it."""
        try:
            noted = json.loads(_note(self._path).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(noted, dict) or noted.get("url") != redacted(url):
            return None
        found = noted.get("validator")
        return found if isinstance(found, str) and is_sendable(found) else None

    def open(self) -> BinaryIO:
        """Return a file object on this very file, at its start; its position is shared with no reader above."""
        handle = os.dup(self._handle)
        os.lseek(handle, 0, os.SEEK_SET)
        return os.fdopen(handle, "rb")

    def release(self) -> None:
        """Leave the bytes to the next run: a failure of transport is the one reason to keep them."""
        self._kept = self.size > 0

    def store_at(self, path: Path) -> None:
        """Give the complete file its final name, by a copy where that is on another file system."""
        self._close()
        beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        try:
            beside.touch(exist_ok=False)
            # A store may be shared: its files get the mode that the umask leaves.
            self._path.chmod(beside.stat().st_mode & 0o777)
            try:
                replace(self._path, path)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                shutil.copyfile(self._path, beside)
                replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._handle)

    def _set_free(self) -> None:
        sha256 = self._path.name.partition(".")[0]
        free = self._path.with_name(f"{sha256}.free.{secrets.token_hex(4)}.part")
        # That the bytes cannot be handed on must not hide why they are incomplete.
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileNotFoundError):
                rename(_note(self._path), _note(free))
            rename(self._path, free)

    def _write_some(self, data: memoryview, offset: int) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self._handle, data, offset)
        with self._seeking:
            os.lseek(self._handle, offset, os.SEEK_SET)
            return os.write(self._handle, data)


def abandoned_partials(directory: Path, *, but: Collection[str] = ()) -> Iterator[Path]:
    """Yield the partials, and their notes, that no process fills; not of the archives whose sha256 is among ``but``."""
    for path in sorted(directory.glob("*.part")):
        named = _NAME.fullmatch(path.name)
        with contextlib.suppress(FileNotFoundError):
            if named and named[1] not in but and _abandoned(path):
                yield path
                if _note(path).exists():
                    yield _note(path)


def landed_size(directory: Path, sha256: str) -> int:
    """Return how many bytes of an archive the next ``claim`` finds on the disk."""
    with contextlib.suppress(OSError, StopIteration):
        return next(_left_behind(directory, sha256)).stat().st_size
    return 0


def discard_partials(directory: Path, sha256: str) -> None:
    """Remove what earlier runs left of an archive that is there now, or is nowhere any more."""
    for path in _left_behind(directory, sha256):
        with contextlib.suppress(OSError):
            path.unlink()
            _note(path).unlink(missing_ok=True)


def sweep_partials(directory: Path, *, older_than: float = _DAY) -> None:
    """Remove partials that nobody touched for ``older_than`` seconds, and the notes of those that are gone."""
    now = time.time()
    for path in directory.glob("*.part"):
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime > older_than:
                path.unlink()
    for note in directory.glob("*.part.json"):
        with contextlib.suppress(OSError):
            if not note.with_suffix("").exists() and now - note.lstat().st_mtime > older_than:
                note.unlink()


def _left_behind(directory: Path, sha256: str) -> Iterator[Path]:
    """Yield partials of this archive whose process is gone, the largest first."""
    sizes = {}
    for path in directory.glob(f"{sha256}.*.part"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and os.access(path, os.R_OK | os.W_OK) and _abandoned(path):
                sizes[path] = found.st_size
    yield from sorted(sizes, key=lambda path: sizes[path], reverse=True)


def _abandoned(path: Path) -> bool:
    _, *owner, _, _ = path.name.split(".")
    return owner == ["free"] or left_behind(path.name, touched=path.lstat().st_mtime)


def _own_path(directory: Path, sha256: str) -> Path:
    return directory / f"{sha256}.{own_mark()}.part"


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
