"""The forms of an .xz file: bytes to values and back. Pure, and as strict as liblzma.

"Section" means a section of "The .xz File Format" 1.1.0 (tukaani.org/xz/xz-file-format.txt). The inner form
of LZMA2 is outside that page; it is the one that XZ Embedded reads (xz_dec_lzma2.c).
"""

from __future__ import annotations

import lzma
import zlib
from dataclasses import dataclass
from typing import Final

__all__ = [
    "CHECK_SIZES",
    "STREAM_FOOTER_SIZE",
    "STREAM_HEADER_SIZE",
    "BlockHeader",
    "Lzma2Scanner",
    "XzFormatError",
    "encode_integer",
    "one_block_ending",
    "padding_after",
    "parse_block_header",
    "parse_stream_footer",
    "parse_stream_header",
]

STREAM_HEADER_SIZE: Final = 12
STREAM_FOOTER_SIZE: Final = 12
CHECK_SIZES: Final = {lzma.CHECK_NONE: 0, lzma.CHECK_CRC32: 4, lzma.CHECK_CRC64: 8, lzma.CHECK_SHA256: 32}

_HEADER_MAGIC: Final = b"\xfd7zXZ\0"
_FOOTER_MAGIC: Final = b"YZ"
_LZMA2_ID: Final = 0x21
_HIGHEST_DICTIONARY: Final = 40
_FILTER_COUNT: Final = 0x03
_RESERVED_BLOCK_FLAGS: Final = 0x3C
_HAS_COMPRESSED_SIZE: Final = 0x40
_HAS_UNCOMPRESSED_SIZE: Final = 0x80
_LONGEST_INTEGER: Final = 9


class XzFormatError(ValueError):
    """The bytes are not what the format says; the text tells which rule they break, not where."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockHeader:
    """What must be known of a block before it is decoded, in bytes; ``None`` where its header has no size."""

    uncompressed: int | None
    dictionary: int

    @property
    def memory(self) -> int:
        """How much of the dictionary the decoder can come to use."""
        return self.dictionary if self.uncompressed is None else min(self.dictionary, self.uncompressed)


def _crc32(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def padding_after(size: int) -> int:
    """Return how many null bytes bring ``size`` to a multiple of four (sections 3.3 and 4.4)."""
    return -size % 4


def encode_integer(value: int) -> bytes:
    """Return the shortest, and so the only legal, form of a variable-length integer (section 1.2)."""
    encoded = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - the lowest number that needs a second byte
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _decode_integer(data: bytes, start: int) -> tuple[int, int]:
    """Return the integer at ``start`` and the offset behind it; it must end inside ``data`` (section 1.2)."""
    value = 0
    for index, byte in enumerate(data[start : start + _LONGEST_INTEGER]):
        value |= (byte & 0x7F) << (7 * index)
        if not byte & 0x80:
            if byte == 0 and index > 0:
                break
            return value, start + index + 1
    raise XzFormatError("block header: an integer is malformed")


def parse_stream_header(data: bytes) -> int:
    """Return the check id of a stream from its 12 header bytes (section 2.1.1).

    A check that liblzma cannot compute is refused: ``xz -t`` warns about it, with exit status 2, and data
    that nobody checked must not be installed.
    """
    magic, flags, crc = data[:6], data[6:8], data[8:]
    if magic != _HEADER_MAGIC:
        raise XzFormatError("not the beginning of an xz stream")
    if crc != _crc32(flags):
        raise XzFormatError("stream header: its CRC32 does not match")
    if flags[0] or flags[1] & 0xF0:
        raise XzFormatError("stream header: reserved flags are set")
    check = flags[1]
    if check not in CHECK_SIZES or not lzma.is_check_supported(check):
        raise XzFormatError(f"stream header: the integrity check of type {check} is not supported")
    return check


def parse_stream_footer(data: bytes) -> tuple[int, int]:
    """Return the check id and the size of the index in bytes from the 12 footer bytes (section 2.1.2)."""
    crc, fields, flags, magic = data[:4], data[4:10], data[8:10], data[10:]
    if magic != _FOOTER_MAGIC:
        raise XzFormatError("stream footer: its magic bytes are missing")
    if crc != _crc32(fields):
        raise XzFormatError("stream footer: its CRC32 does not match")
    return int.from_bytes(flags, "big"), (int.from_bytes(fields[:4], "little") + 1) * 4


def parse_block_header(data: bytes) -> BlockHeader:
    """Return what a whole block header says (section 3.1).

    The compressed size, the filters before LZMA2 and the header padding are not looked at: liblzma judges
    them when it decodes the block.
    """
    body, crc = data[:-4], data[-4:]
    if crc != _crc32(body):
        raise XzFormatError("block header: its CRC32 does not match")
    flags, at = body[1], 2
    if flags & _RESERVED_BLOCK_FLAGS:
        raise XzFormatError("block header: reserved flags are set")
    if flags & _HAS_COMPRESSED_SIZE:
        _, at = _decode_integer(body, at)
    uncompressed = None
    if flags & _HAS_UNCOMPRESSED_SIZE:
        uncompressed, at = _decode_integer(body, at)
    filter_id, properties = 0, b""
    for _ in range((flags & _FILTER_COUNT) + 1):
        filter_id, at = _decode_integer(body, at)
        length, at = _decode_integer(body, at)
        properties, at = body[at : at + length], at + length
    if filter_id != _LZMA2_ID or len(properties) != 1:
        raise XzFormatError("block header: the last filter is not LZMA2")
    return BlockHeader(uncompressed=uncompressed, dictionary=_dictionary_size(properties[0]))


def _dictionary_size(bits: int) -> int:
    """Return the dictionary's bytes: one bit of mantissa, five of exponent (section 5.3.1)."""
    if bits > _HIGHEST_DICTIONARY:
        raise XzFormatError("block header: the dictionary is larger than 4 GiB")
    return min((2 | bits & 1) << (bits // 2 + 11), 0xFFFF_FFFF)


def one_block_ending(check: int, unpadded: int, uncompressed: int) -> bytes:
    """Return the index and footer of a stream that holds one block of these sizes (sections 4 and 2.1.2)."""
    index = b"\0\x01" + encode_integer(unpadded) + encode_integer(uncompressed)
    index += bytes(padding_after(len(index)))
    index += _crc32(index)
    fields = (len(index) // 4 - 1).to_bytes(4, "little") + check.to_bytes(2, "big")
    return index + _crc32(fields) + fields + _FOOTER_MAGIC


class Lzma2Scanner:
    """Finds the end of LZMA2 data by stepping over its chunks, without decoding them.

    A chunk begins with a control byte. 0 ends the data; 1 and 2 begin stored bytes, 128 and more LZMA
    bytes. Two bytes of uncompressed size follow; an LZMA chunk has two more of compressed size and, from
    192 on, one of properties. ``compressed`` and ``uncompressed`` count what was stepped over so far.
    """

    def __init__(self) -> None:
        self.compressed = 0
        self.uncompressed = 0
        self.ended = False
        self._header = bytearray()
        self._skip = 0

    def scan(self, data: memoryview) -> int:
        """Take the next bytes; return how many belong to the data: all, unless it ended."""
        at = 0
        while at < len(data) and not self.ended:
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
            else:
                step = 1
                self._header.append(data[at])
                self._close_header()
            at += step
        self.compressed += at
        return at

    def _close_header(self) -> None:
        header = self._header
        control = header[0]
        if len(header) < self._header_size(control):
            return
        if control == 0:
            self.ended = True
        else:
            size = int.from_bytes(header[1:3], "big") + 1
            is_lzma = control & 0x80
            self.uncompressed += size + ((control & 0x1F) << 16) if is_lzma else size
            self._skip = int.from_bytes(header[3:5], "big") + 1 if is_lzma else size
        header.clear()

    @staticmethod
    def _header_size(control: int) -> int:
        if control >= 0x80:  # noqa: PLR2004 - the bit that marks an LZMA chunk
            return 6 if control >= 0xC0 else 5  # noqa: PLR2004 - from here on, new properties
        if control > 2:  # noqa: PLR2004 - see the class docstring
            raise XzFormatError("compressed data is corrupt: no LZMA2 chunk begins like this")
        return 3 if control else 1
