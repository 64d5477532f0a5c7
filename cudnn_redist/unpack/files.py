"""One regular file on its way to the disk: created exclusively, hashed as it is written."""

from __future__ import annotations

import hashlib
import math
import os
from functools import partial
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = ["PIECE", "NewFile", "PassedOver", "is_case_folded", "repeat_file", "restore_mtime"]

PIECE = 1 << 20
"""Bytes in one step of decoding, hashing and writing: large enough to drown the interpreter's share."""

# More in one call makes Linux take larger runs of memory for its cache, which a virtual machine has to beg of its
# host: 926 MB took 1.4 s of system time in calls of 1 MiB, and 0.5 s in these.
_WRITE = 1 << 17
_OWNER_READ_WRITE = 0o600
# The year 2242. A time the file system cannot hold must not stop an installation.
_LATEST_MTIME = 1 << 33


class NewFile:
    """A regular file that does not exist yet; entering creates it, leaving closes it and sets its time.

    Permissions are 0666, or 0777 if ``executable``, under the umask, and the owner may always read and write;
    no other bit of the archive's mode is ever used. ``size`` and ``sha256`` are of the bytes written,
    the latter once all are.
    Whatever the disk objects to is an ``OSError``; a name that exists is one (``FileExistsError``).
    """

    def __init__(self, path: Path, *, executable: bool, mtime: float) -> None:
        self.path = path
        self.executable = executable
        self.mtime = mtime
        self.size = 0
        self.sha256: str | None = None

    def __enter__(self) -> Self:
        self._digest = hashlib.sha256()
        permissions = 0o777 if self.executable else 0o666
        # O_EXCL, which "x" stands for, also refuses to create through a link (open(2)).
        self._file = open(self.path, "xb", buffering=0, opener=partial(os.open, mode=permissions))
        granted = os.fstat(self._file.fileno()).st_mode
        if granted & _OWNER_READ_WRITE != _OWNER_READ_WRITE:
            os.fchmod(self._file.fileno(), granted & 0o777 | _OWNER_READ_WRITE)
        return self

    def write(self, piece: bytes) -> None:
        """Append a piece and hash it."""
        self.hash(piece)
        self.append(piece)

    def hash(self, piece: bytes) -> None:
        """Hash a piece; all that are appended must be, in their order, if by another thread."""
        self._digest.update(piece)

    def append(self, piece: bytes) -> None:
        """Append a piece, to be hashed apart."""
        self.size += len(piece)
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest[:_WRITE]) :]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None:
            self.sha256 = self._digest.hexdigest()
            restore_mtime(self.path, self.mtime)


class PassedOver(NewFile):
    """A file that is judged as every other and never written: ``path`` is only what it would have had."""

    def __enter__(self) -> Self:
        self._digest = hashlib.sha256()
        return self

    def append(self, piece: bytes) -> None:
        """Count a piece."""
        self.size += len(piece)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.sha256 = self._digest.hexdigest()


def repeat_file(original: NewFile, path: Path) -> None:
    """Give a finished file a second name: a hard link, or a copy where the file system has none."""
    try:
        os.link(original.path, path)
    except OSError:
        # Too many links, or none at all, is known under many numbers; a real fault stops the copy too.
        copy = NewFile(path, executable=original.executable, mtime=original.mtime)
        with original.path.open("rb") as source, copy:
            while piece := source.read(PIECE):
                copy.write(piece)


def restore_mtime(path: Path, mtime: float, *, follow_symlinks: bool = True) -> None:
    """Set the time of last modification, in seconds since 1970; what no clock shows becomes what one does."""
    seconds = 0.0 if math.isnan(mtime) else min(max(mtime, 0.0), float(_LATEST_MTIME))
    # Apart, since a float has no room for both.
    whole = int(seconds)
    nanoseconds = whole * 1_000_000_000 + int((seconds - whole) * 1_000_000_000)
    os.utime(path, ns=(nanoseconds, nanoseconds), follow_symlinks=follow_symlinks)


def is_case_folded(directory: Path) -> bool:
    """Return whether the file system finds a file by another spelling of its name."""
    probe = directory / ".Case-Probe"
    probe.touch(exist_ok=False)
    try:
        return (directory / ".cASE-pROBE").exists()
    finally:
        probe.unlink()
