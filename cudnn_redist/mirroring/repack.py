"""One archive -> the same tree as a ``.tar.zst``, which unpacks in a fraction of the time.

The tar inside a compressed tar is kept to the last byte; of a zip, which holds none, one is made: members in order of
path, permissions 0755 or 0644, times as the zip has them, no owner. Either way the archive is unpacked once, under the
policy that every installation follows, so that nothing is repacked that could not be installed, and the digest of the
tree is known.

The result depends on the input, the level and the version of the zstd library alone. With workers, zstd cuts its
input into jobs by the level and not by their number or the sizes of the pieces it is fed, and every thread count here
is a count of workers: 0, its other mode, would give other bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import zstandard

from ..prefix.record import tree_digest
from ..recording import entry_of
from ..unpack import Member
from ..unpack.capacity import default_threads
from ..unpack.members import Tree
from ..unpack.options import UnpackOptions
from ..unpack.streams import HEAD_SIZE, Kind, decoded, kind_of
from ..unpack.tar import read_tar
from ..unpack.zip import read_zip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..unpack import Unpacked
    from ..unpack.reader import Reader

__all__ = ["DEFAULT_LEVEL", "LEVELS", "Repacked", "repacked"]

DEFAULT_LEVEL: Final = 10
LEVELS: Final = range(1, 20)
"""The levels of zstd that need no more memory than a decoder is allowed by default."""

_EXECUTABLE, _PLAIN = 0o755, 0o644
_TYPES: Final = {"file": tarfile.REGTYPE, "directory": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repacked:
    """A repacked archive: its digest and size in bytes, and the digest of the tree that is in it."""

    sha256: str
    size: int
    tree: str


def repacked(
    source: Path, target: Path, *, level: int = DEFAULT_LEVEL, threads: int | None = None
) -> Repacked:
    """Write the content of ``source``, an archive of any kind that can be unpacked, to ``target`` as a ``.tar.zst``.

    ``threads`` compress and decode (all cores), and change nothing in the bytes. A directory beside ``target`` holds
    the unpacked tree meanwhile. Raises ``ArchiveError`` for an archive that is damaged or unsafe, and ``OSError`` from
    the disk; then ``target`` may be half-written.
    """
    threads = threads or default_threads()
    with source.open("rb") as file, _scratch(target) as scratch, target.open("wb") as out:
        written = _Digested(out)
        compressor = zstandard.ZstdCompressor(level=level, threads=threads, write_checksum=True)
        with compressor.stream_writer(cast("BinaryIO", written), closefd=False) as packed:
            unpacked = _through(file, cast("BinaryIO", packed), scratch, name=source.name, threads=threads)
    tree = tree_digest(map(entry_of, unpacked.members))
    return Repacked(sha256=written.digest.hexdigest(), size=written.size, tree=tree)


def _through(file: BinaryIO, packed: BinaryIO, scratch: Path, *, name: str, threads: int) -> Unpacked:
    """Unpack ``file`` into ``scratch``, and write its tar to ``packed``."""
    options = UnpackOptions(threads=threads)
    kind = kind_of(file.read(HEAD_SIZE), name=name)
    file.seek(0)
    tree = Tree(scratch, name=name, options=options)
    if kind is Kind.ZIP:
        read_zip(file, tree, name=name, threads=threads)
        unpacked = tree.finish()
        _write_tar(unpacked, scratch, packed)
        return unpacked
    with decoded(file, kind, name=name, options=options) as stream:
        read_tar(_Tee(stream, packed), tree, name=name)
    return tree.finish()


def _write_tar(unpacked: Unpacked, scratch: Path, packed: BinaryIO) -> None:
    """Write a tree as a tar, below its top folder; a directory is as old as the newest file, for zips rarely say."""
    top = unpacked.root.relative_to(scratch)
    newest = max(_mtime(unpacked.root / each.path) for each in unpacked.members if each.kind == "file")
    with tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for member in (Member(path=".", kind="directory"), *unpacked.members):
            path = unpacked.root / member.path
            if path == scratch:
                continue
            header = tarfile.TarInfo((top / member.path).as_posix())
            header.mtime = newest if member.kind == "directory" else _mtime(path)
            header.mode = _EXECUTABLE if member.executable or member.kind != "file" else _PLAIN
            header.type = _TYPES[member.kind]
            header.linkname = member.target or ""
            if member.kind == "file":
                header.size = member.size
                with path.open("rb") as content:
                    tar.addfile(header, content)
            else:
                tar.addfile(header)


def _mtime(path: Path) -> int:
    return int(path.lstat().st_mtime)


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """Make an empty directory beside ``target``, and remove it with all that is in it."""
    directory = target.with_name(f"{target.name}.tree")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class _Tee:
    """A stream of which everything that is read goes into ``copy`` too."""

    def __init__(self, stream: Reader, copy: BinaryIO) -> None:
        self._stream = stream
        self._copy = copy

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        self._copy.write(data)
        return data


class _Digested:
    """A file that is written to, with the digest and the size of what was."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()
