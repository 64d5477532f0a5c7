"""The xz splitter and the decoding of its blocks, against liblzma reading the same file from end to end."""

from __future__ import annotations

import io
import lzma
import random
import zlib

from fuzz.target import Subject, Target, leaking, told_well, when_refused

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack.xz import XzReader

__all__ = ["TARGET", "check", "decode", "mended", "verdict_of_liblzma"]

MEMORY_LIMIT = 1 << 24
_CHECKS = (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256)
_HEADER = _FOOTER = 12


class _Trickle:
    """A reader that gives ``step`` bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._file = io.BytesIO(data)
        self._step = step

    def read(self, size: int, /) -> bytes:
        return self._file.read(min(size, self._step))


def decode(data: bytes) -> bytes:
    """Decode with threads, budget and steps that depend on the data, so that a find stays one."""
    knobs = random.Random(zlib.crc32(data))
    with XzReader(
        _Trickle(data, knobs.choice((1, 7, 100, 1 << 16))),
        name="file",
        threads=knobs.choice((1, 2, 3)),
        budget=knobs.choice((1, 1 << 16, 1 << 23)),
        memory_limit=MEMORY_LIMIT,
    ) as reader:
        size = knobs.choice((13, 1 << 20))
        return b"".join(iter(lambda: reader.read(size), b""))


def check(data: bytes, decode: Subject = decode) -> None:
    """What is accepted, and the bytes that come out, are the same as with liblzma alone."""
    try:
        found = decode(data)
    except ArchiveError as error:
        told_well(error)
        found = None
    assert found == verdict_of_liblzma(data)


def verdict_of_liblzma(data: bytes) -> bytes | None:
    """Return what all streams hold together, ``None`` where the file is refused (as ``xz -t`` does, too)."""
    found = b""
    while True:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_LIMIT)
        try:
            found += decoder.decompress(data)
        except (lzma.LZMAError, EOFError):
            return None
        # Without a check that it can compute, liblzma's decoder goes on; the xz program warns, and we refuse.
        if not decoder.eof or decoder.check not in _CHECKS:
            return None
        rest = decoder.unused_data.lstrip(b"\0")
        if (len(decoder.unused_data) - len(rest)) % 4:
            return None
        if not rest:
            return found
        data = rest


def mended(data: bytes) -> bytes:
    """Make the CRC32s of the first two headers and of the last index and footer right again."""
    fixed = bytearray(data)

    def mend(start: int, end: int, at: int) -> None:
        if 0 <= start < end <= len(fixed) and 0 <= at <= len(fixed) - 4:
            fixed[at : at + 4] = zlib.crc32(fixed[start:end]).to_bytes(4, "little")

    mend(6, 8, 8)
    if len(fixed) > _HEADER:
        end_of_block_header = _HEADER + fixed[_HEADER] * 4
        mend(_HEADER, end_of_block_header, end_of_block_header)
    footer = len(fixed) - _FOOTER
    if footer > 0:
        index = footer - (int.from_bytes(fixed[footer + 4 : footer + 8], "little") + 1) * 4
        mend(index, footer - 4, footer - 4)
        mend(footer + 4, footer + 10, footer)
    return bytes(fixed)


def seeds() -> list[bytes]:
    """Every check, LZMA and stored chunks, a filter before LZMA2, no block, several streams with padding."""
    data = b"abc" * 30 + random.Random(1).randbytes(40) + bytes(50)
    small = {"id": lzma.FILTER_LZMA2, "dict_size": 4096}
    filters = (
        [small],
        [{"id": lzma.FILTER_DELTA, "dist": 2}, small],
        [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_DELTA}, small],
    )
    streams = [lzma.compress(data, check=check, filters=filters[0]) for check in _CHECKS]
    streams += [lzma.compress(data, filters=chain) for chain in filters[1:]]
    streams += [lzma.compress(b"", check=lzma.CHECK_CRC32), lzma.compress(b"x", preset=0)]
    return [*streams, streams[0] + bytes(4) + streams[6] + streams[1] + bytes(8)]


TARGET = Target(
    name="xz",
    subject=decode,
    check=check,
    seeds=seeds,
    mended=mended,
    planted={
        "damage that liblzma finds leaks its error": leaking(decode, lzma.LZMAError),
        "padding may have any size": when_refused(decode, "a multiple of four", lambda _: b""),
        "the index may say anything": when_refused(decode, "it does not describe", lambda _: b""),
    },
    words=(
        b"\xfd7zXZ\0\0\4",
        b"YZ",
        b"\0\0\0\0",
        b"\x21\1\0",
        b"\3\1\0",
        b"\4\0",
        b"\xe0\0",
        b"\1\0\0",
        b"\x80\1",
    ),
    longest=2048,
)
