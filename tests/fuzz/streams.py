"""The readers of gzip and Zstandard, against the gzip module and a Zstandard decoder that is given one frame."""

from __future__ import annotations

import gzip
import io
import random
import zlib

import zstandard
from fuzz.target import Subject, Target, leaking, told_well, when_refused

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import HEAD_SIZE, Kind, UnpackOptions, kind_of
from cudnn_redist.unpack.streams import decoded

__all__ = ["TARGET", "check", "decode", "mended"]

WINDOW = 1 << 20
_GZIP_HEADER = b"\x1f\x8b\x08\0"
_GZIP_HEADER_SIZE = 10
_ZSTD = zstandard.ZstdDecompressor(max_window_size=WINDOW)


def decode(data: bytes) -> bytes:
    """Decode in steps that depend on the data, so that a find stays one; other kinds have their own targets."""
    kind = kind_of(data[:HEAD_SIZE], name="file")
    if kind not in (Kind.GZ, Kind.ZST):
        raise ArchiveError("another kind", where="file")
    size = random.Random(zlib.crc32(data)).choice((1, 13, 1 << 20))
    with decoded(io.BytesIO(data), kind, name="file", options=UnpackOptions(memory_limit=WINDOW)) as reader:
        return b"".join(iter(lambda: reader.read(size), b""))


def check(data: bytes, decode: Subject = decode) -> None:
    """What is accepted is sound for the other decoder, which is the laxer one, and holds the same bytes."""
    try:
        found = decode(data)
    except ArchiveError as error:
        told_well(error)
        return
    if kind_of(data[:HEAD_SIZE], name="file") is Kind.GZ:
        assert found == gzip.decompress(data)
    else:
        assert found == b"".join(_frames(data))


def _frames(data: bytes) -> list[bytes]:
    """Return the content of each frame. Raises where one is no sound frame.

    The decoder is given one byte at a time: with a whole frame at hand it is stricter about a size that is told.
    """
    found = []
    while data:
        decoder = _ZSTD.decompressobj()
        content, used = b"", 0
        while not decoder.eof:
            assert used < len(data), "a cut frame was accepted"
            content += decoder.decompress(data[used : used + 1])
            used += 1
        found.append(content)
        data = data[used:]
    return found


def mended(data: bytes) -> bytes:
    """Make the checksum and the size right that stand behind the first gzip member, if its header is plain."""
    if not data.startswith(_GZIP_HEADER):
        return data
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = decoder.decompress(data[_GZIP_HEADER_SIZE:], 1 << 16)
    except zlib.error:
        return data
    rest = len(decoder.unused_data)
    if not decoder.eof or rest < 8:  # the trailer of RFC 1952, section 2.3.1
        return data
    trailer = zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return data[: len(data) - rest] + trailer + data[len(data) - rest + 8 :]


def seeds() -> list[bytes]:
    """Members and frames alone and together, with and without checksum and size, of blocks of every kind."""
    data = b"abc" * 30 + random.Random(1).randbytes(40) + bytes(50)
    member = gzip.compress(data, mtime=0)
    frames = [
        zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size).compress(content)
        for checksum, size, content in (
            (True, True, data),
            (False, True, bytes(300)),
            (True, False, data[90:]),
        )
    ]
    skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    return [member, member + member + bytes(5), gzip.compress(b""), *frames, skippable + b"".join(frames)]


TARGET = Target(
    name="streams",
    subject=decode,
    check=check,
    seeds=seeds,
    mended=mended,
    planted={
        "damage leaks zlib's error": leaking(decode, zlib.error),
        "damage leaks zstandard's error": leaking(decode, zstandard.ZstdError),
        "a cut stream is taken for a whole one": when_refused(decode, "cut short", lambda _: b""),
    },
    words=(_GZIP_HEADER, b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18", b"\x1f\x8b\x08\x1f", b"\x01\0\0"),
    longest=2048,
)
