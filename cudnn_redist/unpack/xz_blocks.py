"""An .xz file cut into its blocks as it arrives; everything between the blocks is verified here.

A block is handed on as the bytes of a whole one-block stream: a stream header, the block as it came, and an
index and footer made for it. Whoever decodes that with liblzma has the block's header, check, sizes and
padding verified by it. The sizes in the index that is made come from stepping over the block's LZMA2
chunks, so blocks with sizes in their headers, blocks without, and streams that mix both are one case.
"Section" means the same as in ``xz_format``.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .xz_format import (
    CHECK_SIZES,
    STREAM_FOOTER_SIZE,
    STREAM_HEADER_SIZE,
    BlockHeader,
    Lzma2Scanner,
    XzFormatError,
    encode_integer,
    one_block_ending,
    padding_after,
    parse_block_header,
    parse_stream_footer,
    parse_stream_header,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .reader import Reader

__all__ = ["XzBlock", "XzBlocks"]

_READ_SIZE: Final = 256 << 10
_PADDING_STEP: Final = 4 << 10


@dataclass(frozen=True, kw_only=True, slots=True)
class XzBlock:
    """One block, while it arrives: ``parts`` must be used up before the next block can be asked for."""

    place: str
    header: BlockHeader
    parts: Iterator[bytes | memoryview]


class XzBlocks:
    """Iterates over the blocks of every stream in ``raw``, once.

    Ends if ``raw`` ends where an .xz file may end. Raises :class:`XzFormatError` where the file is damaged
    or cut off (``place`` then says where), and whatever ``raw`` raises.
    """

    def __init__(self, raw: Reader) -> None:
        self._input = _Input(raw)
        self._stream = 1
        self._block = 0

    @property
    def place(self) -> str:
        """Where in the file this is now, for an error message."""
        block = f"block {self._block}, " if self._block else ""
        return f"stream {self._stream}, {block}byte {self._input.offset}"

    def __iter__(self) -> Iterator[XzBlock]:
        more = True
        while more:
            yield from self._one_stream()
            more = _skip_stream_padding(self._input)
            self._stream += 1

    def _one_stream(self) -> Iterator[XzBlock]:
        stream_header = self._input.take(STREAM_HEADER_SIZE)
        check = parse_stream_header(stream_header)
        index = _Index()
        # Section 3.1.1: where a block header would have its size, a null byte begins the index.
        while size_byte := self._input.take(1)[0]:
            self._block += 1
            place = self.place
            block_header = bytes([size_byte]) + self._input.take(size_byte * 4 + 3)
            yield XzBlock(
                place=place,
                header=parse_block_header(block_header),
                parts=self._parts(stream_header, block_header, check, index),
            )
        self._block = 0
        index_size = index.verify(self._input)
        if parse_stream_footer(self._input.take(STREAM_FOOTER_SIZE)) != (check, index_size):
            raise XzFormatError("stream footer: it does not agree with the stream's header and index")

    def _parts(
        self, stream_header: bytes, block_header: bytes, check: int, index: _Index
    ) -> Iterator[bytes | memoryview]:
        yield stream_header + block_header
        scanner = Lzma2Scanner()
        while not scanner.ended:
            at_hand = self._input.at_hand()
            used = scanner.scan(at_hand)
            self._input.skip(used)
            yield at_hand[:used]
        unpadded = len(block_header) + scanner.compressed + CHECK_SIZES[check]
        padding_and_check = self._input.take(padding_after(scanner.compressed) + CHECK_SIZES[check])
        index.add(unpadded, scanner.uncompressed)
        yield padding_and_check + one_block_ending(check, unpadded, scanner.uncompressed)


class _Input:
    """The bytes of ``raw`` in the pieces in which they came, and how many of them are behind us."""

    def __init__(self, raw: Reader) -> None:
        self._raw = raw
        self._piece = memoryview(b"")
        self.offset = 0

    def peek(self) -> memoryview:
        """Return the bytes at hand, reading only if there are none; empty only at the end."""
        if not self._piece:
            self._piece = memoryview(self._raw.read(_READ_SIZE))
        return self._piece

    def at_hand(self) -> memoryview:
        """Return the bytes at hand, at least one."""
        piece = self.peek()
        if not piece:
            raise XzFormatError("the file ends too early")
        return piece

    def skip(self, count: int) -> None:
        self._piece = self._piece[count:]
        self.offset += count

    def take(self, count: int) -> bytes:
        """Return exactly ``count`` bytes; meant for few."""
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Iterator[memoryview]:
        """Return the next ``count`` bytes in pieces."""
        while count:
            piece = self.at_hand()[:count]
            self.skip(len(piece))
            count -= len(piece)
            yield piece


class _Index:
    """What the index of a stream must be, kept in constant memory as section 4.3 advises."""

    def __init__(self) -> None:
        self._count = 0
        self._records_size = 0
        self._records = hashlib.sha256()

    def add(self, unpadded: int, uncompressed: int) -> None:
        record = encode_integer(unpadded) + encode_integer(uncompressed)
        self._count += 1
        self._records_size += len(record)
        self._records.update(record)

    def verify(self, source: _Input) -> int:
        """Read the index, whose first byte is already taken, and return its size in bytes.

        Integers have one legal form, so the index that fits the blocks is known to the last bit.
        """
        count = source.take(len(encode_integer(self._count)))
        crc = zlib.crc32(b"\0" + count)
        records = hashlib.sha256()
        for piece in source.pieces(self._records_size):
            records.update(piece)
            crc = zlib.crc32(piece, crc)
        size = 1 + len(count) + self._records_size
        padding = source.take(padding_after(size))
        crc = zlib.crc32(padding, crc)
        if count != encode_integer(self._count) or records.digest() != self._records.digest() or any(padding):
            raise XzFormatError(f"index: it does not describe the {self._count} blocks that came before it")
        if source.take(4) != crc.to_bytes(4, "little"):
            raise XzFormatError("index: its CRC32 does not match")
        return size + len(padding) + 4


def _skip_stream_padding(source: _Input) -> bool:
    """Step over null bytes; return whether something follows them (section 2.2)."""
    start = source.offset
    # In small steps, lest a file of empty streams has the same bytes copied again and again.
    while piece := source.peek()[:_PADDING_STEP]:
        nulls = len(piece) - len(bytes(piece).lstrip(b"\0"))
        source.skip(nulls)
        if nulls < len(piece):
            break
    if (source.offset - start) % 4:
        raise XzFormatError("stream padding: its size is not a multiple of four")
    return bool(piece)
