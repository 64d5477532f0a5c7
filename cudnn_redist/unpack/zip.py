"""A zip into a tree, several members at a time (zlib lets other threads run)."""

from __future__ import annotations

import threading
import zlib
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from .capacity import default_threads
from .files import PIECE
from .names import Unsafe, judging
from .zip_entries import SharedFile, ZipEntry, read_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from .files import NewFile
    from .members import Tree

__all__ = ["read_zip"]

_INPUT = 1 << 18
_LONGEST_TARGET = 4096
_MISPLACED_END = "is damaged: the deflated data does not end where it should"


def read_zip(
    file: BinaryIO,
    tree: Tree,
    *,
    name: str,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write every member of a zip through ``tree``, whose ``finish`` is left to the caller.

    ``progress`` is called with the bytes of content written so far, by several threads, one at a time. Raises
    ``ArchiveError`` for a damaged zip and for a member that must not be written; ``OSError`` passes through.
    """
    shared = SharedFile(file)
    files = []
    for entry in read_entries(shared, name=name):
        new = _add(entry, shared, tree, name)
        if new is not None:
            files.append((entry, new))
    # The largest first, lest it be the last one that runs, alone.
    files.sort(key=lambda pair: pair[0].packed, reverse=True)
    _Writing(shared, name, progress).run(files, threads or default_threads())


def _add(entry: ZipEntry, file: SharedFile, tree: Tree, name: str) -> NewFile | None:
    """Enter a member into the tree; return the file to write, if it is one."""
    if entry.kind == "file":
        return tree.add_file(entry.name, mode=entry.mode, mtime=entry.mtime, size=entry.size)
    if entry.kind == "directory":
        with judging(entry.name, name):
            # There is none to write, but its end and its CRC are told, and another reader checks them.
            for _ in _content(entry, file):
                pass
        tree.add_directory(entry.name, mtime=entry.mtime)
        return None
    with judging(entry.name, name):
        if entry.size > _LONGEST_TARGET:
            raise Unsafe(f"is a link of {entry.size} bytes")
        try:
            target = b"".join(_content(entry, file)).decode()
        except UnicodeDecodeError as error:
            raise Unsafe("is a link to a name that is not UTF-8") from error
    tree.add_link(entry.name, target, mtime=entry.mtime)
    return None


class _Writing:
    """Many members being written at once; the first that fails stops the others."""

    def __init__(self, file: SharedFile, name: str, progress: Callable[[int], None] | None) -> None:
        self._file = file
        self._name = name
        self._progress = progress
        self._lock = threading.Lock()
        self._written = 0
        self._stopped = threading.Event()

    def run(self, files: list[tuple[ZipEntry, NewFile]], threads: int) -> None:
        with ThreadPoolExecutor(threads, thread_name_prefix="unpack-zip") as pool:
            writing = [pool.submit(self._write, entry, new) for entry, new in files]
            try:
                wait(writing, return_when=FIRST_EXCEPTION)
            finally:
                self._stopped.set()
                pool.shutdown(cancel_futures=True)
        for one in writing:
            if not one.cancelled():
                one.result()

    def _write(self, entry: ZipEntry, new: NewFile) -> None:
        with judging(entry.name, self._name), new:
            for piece in _content(entry, self._file):
                if self._stopped.is_set():
                    return
                new.write(piece)
                self._tell(len(piece))

    def _tell(self, more: int) -> None:
        if self._progress is not None:
            with self._lock:
                self._written += more
                self._progress(self._written)


def _content(entry: ZipEntry, file: SharedFile) -> Iterator[bytes]:
    """Yield a member's content in pieces. Raises ``Unsafe`` where it is not what the directory says."""
    pieces = _inflated(entry, file) if entry.deflated else _stored(entry, file)
    size = crc = 0
    for piece in pieces:
        size += len(piece)
        if size > entry.size:
            break
        crc = zlib.crc32(piece, crc)
        yield piece
    if size != entry.size:
        raise Unsafe(f"unpacks to {'more' if size > entry.size else 'less'} than {entry.size} bytes")
    if crc != entry.crc:
        raise Unsafe(f"has the CRC {crc:08x}, and {entry.crc:08x} in the directory")


def _stored(entry: ZipEntry, file: SharedFile) -> Iterator[bytes]:
    """Yield the packed bytes, fewer if the file ends before them."""
    at, end = entry.start, entry.start + entry.packed
    while at < end and (piece := file.read_at(at, min(_INPUT, end - at))):
        at += len(piece)
        yield piece


def _inflated(entry: ZipEntry, file: SharedFile) -> Iterator[bytes]:
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    for packed in _stored(entry, file):
        if decoder.eof:
            raise Unsafe(_MISPLACED_END)
        yield from _pieces(decoder, packed)
    if not decoder.eof or decoder.unused_data:
        raise Unsafe(_MISPLACED_END)


def _pieces(decoder: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """Yield what ``packed`` adds, a bounded piece at a time."""
    more = True
    while more:
        try:
            piece = decoder.decompress(packed, PIECE)
        except zlib.error as error:
            raise Unsafe(f"is damaged: {error}") from error
        yield piece
        packed = decoder.unconsumed_tail
        # A full piece may have left more inside the decoder, even when all input is used.
        more = len(piece) == PIECE and not decoder.eof
