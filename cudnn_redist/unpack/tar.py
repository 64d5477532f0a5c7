"""A tar stream into a tree, with proof that the stream reached its end.

``tarfile`` reads the headers (ustar, pax, GNU and old forms) and nothing else: its iteration takes a damaged
header in the middle for the end, and its extraction has a policy of its own. The format is POSIX.1-2017, pax,
"ustar Interchange Format" and "pax Header Block".
"""

from __future__ import annotations

import tarfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

from ..errors import ArchiveError
from .behind import Behind
from .files import PIECE
from .names import Unsafe, judging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .files import NewFile
    from .members import Tree
    from .reader import Reader

__all__ = ["read_tar"]

_BLOCK = tarfile.BLOCKSIZE
# Headers of one member together, extended ones included. A pax header holds two names and some numbers;
# tarfile would take as much memory as its size field says and search it in quadratic time.
_LONGEST_HEADER = 1 << 14
_MOST_HEADER_READS = 32
_MOST_GLOBAL_FIELDS = 256
# Writers fill up the last record: 10 KiB, or what a tape drive likes. More is a stream that never ends.
_MOST_PADDING = 16 << 20


def read_tar(stream: Reader, tree: Tree, *, name: str, progress: Callable[[int], None] | None = None) -> None:
    """Write every member of a tar stream through ``tree``, whose ``finish`` is left to the caller.

    ``progress`` is called with the bytes of content written so far. Raises ``ArchiveError`` for a damaged,
    cut or continued stream and for a member that must not be written; ``OSError`` from the disk and whatever
    the stream raises pass through.
    """
    tape = _Tape(stream, name)
    headers = _Headers(tape)
    written = 0
    with _thread("unpack-write") as writer, _thread("unpack-hash") as hasher:
        while header := headers.next():
            with judging(header.name, name):
                file = _add(header, tree)
            if file is not None:
                with file, Behind(writer, file.append) as append, Behind(hasher, file.hash) as add:
                    for piece in tape.content(header.size):
                        append(piece)
                        add(piece)
                        written += len(piece)
                        if progress is not None:
                            progress(written)
            tape.skip_to(headers.offset)
    _check_end(tape)


def _thread(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix=name)


def _add(header: tarfile.TarInfo, tree: Tree) -> NewFile | None:
    """Enter a member into the tree; return the file to write, if it is one."""
    if header.size < 0:
        raise Unsafe("has a negative size")
    if header.issparse():
        raise Unsafe("is a sparse file, which is not supported")
    if header.isreg():
        return tree.add_file(header.name, mode=header.mode, mtime=header.mtime, size=header.size)
    if header.isdir():
        tree.add_directory(header.name, mtime=header.mtime)
    elif header.issym():
        tree.add_link(header.name, header.linkname, mtime=header.mtime)
    elif header.islnk():
        tree.add_hard_link(header.name, header.linkname)
    else:
        what = "a device or a fifo" if header.isdev() else f"of the unknown type {header.type!r}"
        raise Unsafe(f"is {what}")
    return None


def _check_end(tape: _Tape) -> None:
    """Read the second block of the end marker, and the zeros up to the end of the stream."""
    if tape.read(_BLOCK).count(0) != _BLOCK:
        raise tape.damaged("data follows the end marker")
    for piece in tape.rest(_MOST_PADDING):
        if piece.count(0) != len(piece):
            raise tape.damaged("data follows the end marker")


class _Headers:
    """What ``TarInfo.fromtarfile`` uses of a ``TarFile``; it leaves in ``offset`` where the next header begins."""

    encoding = "utf-8"
    errors = "surrogateescape"

    def __init__(self, tape: _Tape) -> None:
        self.fileobj = tape
        self.offset = 0
        self.pax_headers: dict[str, str] = {}

    def next(self) -> tarfile.TarInfo | None:
        """Return the next member's header, ``None`` at the end marker."""
        tape = self.fileobj
        tape.begin_header()
        try:
            header = tarfile.TarInfo.fromtarfile(cast("tarfile.TarFile", self))
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # typeshed lacks it
            return None
        except (tarfile.HeaderError, ValueError) as error:
            # ValueError: numbers and texts inside extended headers.
            raise tape.damaged(f"a damaged header ({error})") from error
        if len(self.pax_headers) > _MOST_GLOBAL_FIELDS:
            raise tape.damaged("too many global header fields")
        return header


class _Tape:
    """A stream that only runs forward and knows where it is; every end but the proven one is an error."""

    def __init__(self, stream: Reader, name: str) -> None:
        self._stream = stream
        self._name = name
        self._position = 0
        self._header_start = 0
        self._header_reads = 0

    def tell(self) -> int:
        return self._position

    def begin_header(self) -> None:
        """Begin to count what one member's headers take."""
        self._header_start = self._position
        self._header_reads = 0

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes of a header."""
        self._header_reads += 1
        length = self._position + size - self._header_start
        if size < 0 or length > _LONGEST_HEADER or self._header_reads > _MOST_HEADER_READS:
            raise self.damaged("an oversized header")
        return b"".join(self.content(size))

    def content(self, size: int) -> Iterator[bytes]:
        """Yield exactly ``size`` bytes, in pieces as they come."""
        while size > 0:
            piece = self._stream.read(min(size, PIECE))
            if not piece:
                raise self.damaged("the tar data is cut short")
            size -= len(piece)
            self._position += len(piece)
            yield piece

    def skip_to(self, offset: int) -> None:
        """Pass over the padding before the next header."""
        for _ in self.content(offset - self._position):
            pass

    def rest(self, most: int) -> Iterator[bytes]:
        """Yield what is left up to the end of the stream, at most ``most`` bytes."""
        end = self._position + most
        while piece := self._stream.read(PIECE):
            self._position += len(piece)
            if self._position > end:
                raise self.damaged(f"more than {most} bytes follow the end marker")
            yield piece

    def damaged(self, cause: str) -> ArchiveError:
        return ArchiveError(f"{cause}, at byte {self._position} of the tar data", where=self._name)
