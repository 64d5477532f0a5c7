"""What ``XzReader`` returns and refuses, on files made by the ``xz`` tool and by hand."""

from __future__ import annotations

import io
import lzma
import random
import subprocess
import zlib

import pytest

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack.xz import XzReader

GIB = 1 << 30
MIB = 1 << 20
PAYLOAD = random.Random(27).randbytes(20_000) + b"cudnn " * 20_000 + random.Random(9).randbytes(30_000)

SIZED = ("-T2", "--block-size=16KiB")
UNSIZED = ("-T1", "--block-size=16KiB")


def xz(data: bytes, *options: str) -> bytes:
    return subprocess.run(["xz", "-c", *options], input=data, capture_output=True, check=True).stdout


def decoded(
    data: bytes, *, threads: int = 2, budget: int = 8 * MIB, memory_limit: int = GIB, size: int = MIB
) -> bytes:
    with XzReader(
        io.BytesIO(data), name="a.tar.xz", threads=threads, budget=budget, memory_limit=memory_limit
    ) as reader:
        return b"".join(iter(lambda: reader.read(size), b""))


def refusal(data: bytes, *, memory_limit: int = GIB) -> ArchiveError:
    with pytest.raises(ArchiveError) as caught:
        decoded(data, memory_limit=memory_limit)
    return caught.value


def integer(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def with_crc(body: bytes) -> bytes:
    return body + zlib.crc32(body).to_bytes(4, "little")


def block_and_record(data: bytes) -> tuple[bytes, bytes]:
    """Take the block and its index record out of a file of one stream with one block."""
    index_size = (int.from_bytes(data[-8:-4], "little") + 1) * 4
    block, index = data[12 : -12 - index_size], data[-12 - index_size : -12]
    end = 2
    for _ in range(2):
        while index[end] & 0x80:
            end += 1
        end += 1
    return block, index[2:end]


def stream_of(blocks: list[bytes], records: list[bytes], *, count: bytes | None = None) -> bytes:
    """Join blocks made with CRC64 checks to one stream."""
    flags = b"\0\x04"
    index = b"\0" + (integer(len(records)) if count is None else count) + b"".join(records)
    index = with_crc(index + bytes(-len(index) % 4))
    fields = (len(index) // 4 - 1).to_bytes(4, "little") + flags
    footer = zlib.crc32(fields).to_bytes(4, "little") + fields + b"YZ"
    return b"\xfd7zXZ\0" + with_crc(flags) + b"".join(blocks) + index + footer


def header_of(flags: int, fields: bytes) -> bytes:
    """Make a block header around its variable part."""
    body = bytes([0, flags]) + fields
    body += bytes(-len(body) % 4)
    return with_crc(bytes([len(body) // 4]) + body[1:])


LZMA2_64K = b"\x21\x01\x08"


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("budget", [1, 100_000, 8 * MIB], ids=["no-budget", "small-budget", "large-budget"])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("-T1",), id="one-block"),
        pytest.param(SIZED, id="sizes-in-headers"),
        pytest.param(UNSIZED, id="no-sizes-in-headers"),
        pytest.param(("-T2", "--block-size=1KiB", "--check=sha256"), id="many-small-blocks"),
    ],
)
def test_returns_what_was_compressed(options: tuple[str, ...], budget: int, threads: int) -> None:
    assert decoded(xz(PAYLOAD, *options), threads=threads, budget=budget) == PAYLOAD


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--check=none",), id="none"),
        pytest.param(("--check=crc32",), id="crc32"),
        pytest.param(("--check=crc64",), id="crc64"),
        pytest.param(("--check=sha256",), id="sha256"),
        pytest.param(("--x86", "--lzma2=dict=64KiB"), id="x86-filter"),
        pytest.param(("--delta=dist=4", "--x86", "--lzma2"), id="three-filters"),
        pytest.param(("-9e",), id="large-dictionary"),
    ],
)
def test_knows_every_check_and_filter(options: tuple[str, ...]) -> None:
    assert decoded(xz(PAYLOAD, *SIZED, *options)) == PAYLOAD


def test_reads_streams_padding_and_empty_streams_as_one() -> None:
    empty = xz(b"")
    data = empty + xz(b"one", *SIZED) + bytes(8) + xz(b"two", "--check=sha256") + empty + bytes(4)
    assert decoded(data) == b"onetwo"


@pytest.mark.parametrize("order", ["sized-first", "unsized-first"])
def test_reads_a_stream_that_mixes_blocks_with_and_without_sizes(order: str) -> None:
    parts = [(b"sized" * 999, SIZED), (b"plain" * 999, ("-T1",)), (b"again" * 999, SIZED)]
    if order == "unsized-first":
        parts = parts[1:]
    blocks, records = zip(*(block_and_record(xz(data, *options)) for data, options in parts), strict=True)
    assert decoded(stream_of(list(blocks), list(records))) == b"".join(data for data, _ in parts)


def test_reads_more_blocks_than_an_index_count_of_one_byte_holds() -> None:
    block, record = block_and_record(xz(b"x"))
    assert decoded(stream_of([block] * 300, [record] * 300)) == b"x" * 300


@pytest.mark.parametrize("size", [1, 512, 100_000])
def test_never_returns_more_than_was_asked_for(size: int) -> None:
    data = PAYLOAD[:3000]
    pieces = []
    with XzReader(io.BytesIO(xz(data)), name="a.tar.xz", threads=1, budget=MIB, memory_limit=GIB) as reader:
        while piece := reader.read(size):
            pieces.append(piece)
        assert reader.read(size) == b""
    assert max(map(len, pieces)) <= size
    assert b"".join(pieces) == data


@pytest.mark.parametrize("check", range(16))
def test_refuses_the_checks_that_xz_cannot_verify(check: int) -> None:
    data = bytearray(lzma.compress(b"", check=lzma.CHECK_NONE))
    data[6:12] = with_crc(bytes([0, check]))
    data[-12:-2] = (
        zlib.crc32(data[-8:-4] + bytes([0, check])).to_bytes(4, "little") + data[-8:-4] + bytes([0, check])
    )
    status = subprocess.run(
        ["xz", "-t", "--format=xz"], input=data, capture_output=True, check=False
    ).returncode
    if status == 0:
        assert decoded(bytes(data)) == b""
    else:
        assert f"check of type {check} is not supported" in refusal(bytes(data)).cause


ONE = xz(b"one" * 1000)
TWO = xz(b"two" * 1000)
BLOCK, RECORD = block_and_record(ONE)


def changed(data: bytes, offset: int, new: bytes) -> bytes:
    offset %= len(data)
    return data[:offset] + new + data[offset + len(new) :]


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        pytest.param(b"", "ends too early (xz stream 1, byte 0)", id="nothing"),
        pytest.param(b"\x1f\x8b" + bytes(30), "not the beginning of an xz stream", id="gzip"),
        pytest.param(bytes(4) + ONE, "not the beginning of an xz stream", id="padding-first"),
        pytest.param(ONE + b"garbage!", "ends too early (xz stream 2", id="short-garbage-behind"),
        pytest.param(ONE + b"garbage behind it", "not the beginning of an xz stream", id="garbage-behind"),
        pytest.param(
            ONE + bytes(3), "padding: its size is not a multiple of four (xz stream 1,", id="odd-padding"
        ),
        pytest.param(ONE + bytes(5) + TWO, "padding: its size", id="odd-padding-between"),
        pytest.param(changed(ONE, 8, b"\0\0"), "stream header: its CRC32", id="stream-header-crc"),
        pytest.param(
            ONE[:6] + with_crc(b"\1\4") + ONE[12:], "stream header: reserved flags", id="stream-header-flags"
        ),
        pytest.param(changed(ONE, 14, b"\xff"), "block header: its CRC32", id="block-header-crc"),
        pytest.param(changed(ONE, -1, b"?"), "footer: its magic", id="footer-magic"),
        pytest.param(changed(ONE, -12, b"\0\0\0\0"), "footer: its CRC32", id="footer-crc"),
        pytest.param(ONE[:-12] + xz(b"", "--check=none")[-12:], "does not agree", id="footer-of-another"),
        pytest.param(changed(ONE, -16, b"\0\0\0\0"), "index: its CRC32", id="index-crc"),
        pytest.param(stream_of([BLOCK], [RECORD], count=b"\2"), "describe the 1 blocks", id="index-count"),
        pytest.param(stream_of([BLOCK, BLOCK], [RECORD]), "describe the 2 blocks", id="index-lacks-one"),
        pytest.param(stream_of([BLOCK], [RECORD, RECORD]), "describe the 1 blocks", id="index-has-one-more"),
        pytest.param(
            stream_of([BLOCK], [RECORD], count=b"\x81\0"), "describe", id="index-count-not-shortest"
        ),
        pytest.param(changed(ONE, 24, b"\x03"), "no LZMA2 chunk begins like this", id="chunk"),
        pytest.param(changed(ONE, 40, b"?"), "liblzma refuses the block", id="data"),
        pytest.param(stream_of([BLOCK[:-1] + b"?"], [RECORD]), "liblzma refuses the block", id="check"),
    ],
)
def test_refuses_damage_and_says_where(data: bytes, cause: str) -> None:
    error = refusal(data)
    assert (error.phase, error.where) == ("unpack", "a.tar.xz")
    assert cause in error.cause
    assert "(xz stream " in error.cause


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        pytest.param(header_of(0x04, LZMA2_64K), "reserved flags", id="reserved"),
        pytest.param(header_of(0x00, b"\x21\x02\x08\x08"), "last filter is not LZMA2", id="properties"),
        pytest.param(header_of(0x00, b"\x03\x01\x00"), "last filter is not LZMA2", id="delta-alone"),
        pytest.param(header_of(0x00, b"\x21\x01\x29"), "larger than 4 GiB", id="dictionary"),
        pytest.param(header_of(0x00, b"\xa1\x00\x01\x08"), "integer is malformed", id="not-shortest"),
        pytest.param(header_of(0x40, b"\xff" * 10 + LZMA2_64K), "integer is malformed", id="too-long"),
        pytest.param(header_of(0x03, LZMA2_64K), "integer is malformed", id="filters-missing"),
        pytest.param(header_of(0x00, LZMA2_64K + b"\1"), "liblzma refuses", id="header-padding"),
        pytest.param(header_of(0x40, b"\0" + LZMA2_64K), "liblzma refuses", id="compressed-size-zero"),
        pytest.param(
            header_of(0x40, integer(2**60) + LZMA2_64K), "liblzma refuses", id="compressed-size-huge"
        ),
        pytest.param(
            header_of(0x80, integer(2**62) + LZMA2_64K), "liblzma refuses", id="uncompressed-size-huge"
        ),
        pytest.param(
            header_of(0xC0, integer(2**62) + integer(2**62) + LZMA2_64K),
            "liblzma refuses",
            id="both-sizes-huge",
        ),
        pytest.param(
            header_of(0x80, integer(2999) + LZMA2_64K), "liblzma refuses", id="uncompressed-size-small"
        ),
        pytest.param(
            header_of(0x80, integer(3001) + LZMA2_64K), "liblzma refuses", id="uncompressed-size-large"
        ),
    ],
)
def test_refuses_block_headers_that_lie(header: bytes, cause: str) -> None:
    error = refusal(stream_of([header + BLOCK[12:]], [RECORD]))
    assert cause in error.cause
    assert "block 1" in error.cause


def test_accepts_the_same_block_under_an_honest_header() -> None:
    header = header_of(0x80, integer(3000) + LZMA2_64K)
    honest, record = block_and_record(ONE)
    data_size = (
        next(value for value in range(len(honest)) if integer(value + 8) + integer(3000) == record) - 12
    )
    record = integer(len(header) + data_size + 8) + integer(3000)
    assert decoded(stream_of([header + honest[12:]], [record])) == b"one" * 1000


def test_refuses_a_dictionary_over_the_memory_limit_and_names_both() -> None:
    error = refusal(xz(b"x", "--lzma2=dict=64MiB"), memory_limit=32 * MIB)
    assert f"dictionary of {64 * MIB} bytes" in error.cause
    assert f"limit of {32 * MIB} bytes" in error.cause


def test_refuses_a_decoder_that_needs_little_more_than_the_memory_limit() -> None:
    assert "Memory usage limit" in refusal(xz(b"x", "--lzma2=dict=1MiB"), memory_limit=MIB).cause


def test_returns_everything_before_the_damage_and_then_fails_for_good() -> None:
    data = changed(xz(PAYLOAD, *SIZED), -1, b"?")
    with XzReader(io.BytesIO(data), name="a.tar.xz", threads=2, budget=MIB, memory_limit=GIB) as reader:
        got = bytearray()
        while len(got) < len(PAYLOAD):
            got += reader.read(MIB)
        for _ in range(2):
            with pytest.raises(ArchiveError, match="footer"):
                reader.read(1)
    assert got == PAYLOAD
