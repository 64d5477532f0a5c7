from __future__ import annotations

import gzip
import io
import random
from typing import TYPE_CHECKING

import pytest
import zstandard
from unpack.building import END, NAME, SAMPLE, TAR_KINDS, compressed, file, tar, tar_of, unpack_bytes, zip_of
from unpack.watch import leaving_nothing_running

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import HEAD_SIZE, Kind, UnpackOptions, kind_of
from cudnn_redist.unpack.streams import decoded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cudnn_redist.unpack.reader import Reader

OPTIONS = UnpackOptions(threads=2)
COMPRESSED = (Kind.XZ, Kind.ZST, Kind.GZ)
# Half of it does not compress, so that cuts and flips fall on data as well as on structure.
CONTENT = random.Random(9).randbytes(150_000) + bytes(150_000)


class Dribble:
    """A reader that gives one to three bytes at a time, as a slow line does."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)
        self._turn = 0

    def read(self, size: int, /) -> bytes:
        self._turn += 1
        return self._data.read(min(size, 1 + self._turn % 3))


class Broken:
    """A reader that fails after its data."""

    def __init__(self, data: bytes, error: Exception) -> None:
        self._data = io.BytesIO(data)
        self._error = error

    def read(self, size: int, /) -> bytes:
        data = self._data.read(size)
        if not data:
            raise self._error
        return data


def everything(raw: Reader, kind: Kind, *, step: int = 1 << 16, options: UnpackOptions = OPTIONS) -> bytes:
    with decoded(raw, kind, name=NAME, options=options) as stream:
        pieces = iter(lambda: stream.read(step), b"")
        return b"".join(pieces)


def decode(data: bytes, kind: Kind, **more: object) -> bytes:
    return everything(io.BytesIO(data), kind, **more)  # type: ignore[arg-type]


# What it is


@pytest.mark.parametrize("kind", TAR_KINDS, ids=lambda kind: kind.value)
def test_a_tar_is_known_by_its_content(kind: Kind) -> None:
    assert kind_of(tar_of(kind, SAMPLE)[:HEAD_SIZE], name=NAME) is kind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (zip_of(SAMPLE), Kind.ZIP),
        (zip_of([]), Kind.ZIP),
        (b"\x5a\x2a\x4d\x18\x04\0\0\0skip", Kind.ZST),
        (b"\xfd7zXZ\0", Kind.XZ),
        (tar([file("x")]).replace(b"ustar  ", b"\0" * 7), Kind.TAR),
        (tar([file("x")]).replace(b"content", b"CONTENT"), Kind.TAR),
        (b"#" + tar([file("x")])[1:], Kind.TAR),
    ],
    ids=["zip", "empty zip", "skippable zstd frame", "six bytes", "tar without magic", "tar", "damaged tar"],
)
def test_other_beginnings(head: bytes, kind: Kind) -> None:
    if kind is Kind.TAR and b"ustar" not in head[:HEAD_SIZE]:
        head = with_checksum(head)
    assert kind_of(head[:HEAD_SIZE], name=NAME) is kind


def with_checksum(block: bytes) -> bytes:
    blank = block[:148] + b" " * 8 + block[156:512]
    return block[:148] + f"{sum(blank):06o}\0 ".encode() + block[156:]


@pytest.mark.parametrize(
    ("head", "looks_like"),
    [
        (b"", "empty"),
        (bytes(512), "zeros"),
        (b"<!DOCTYPE html><title>Sign in</title>", "an HTML page"),
        (b"\n\n <HTML>", "an HTML page"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><Error>', "XML"),
        (b'{"error": "denied"}', "JSON"),
        (b"BZh91AY&SY", "bzip2"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"!<arch>\ndebian-binary", "a Debian package"),
        (b"\xed\xab\xee\xdb\3", "an RPM package"),
        (b"\x7fELF\2", "an ELF file"),
        (b"MZ\x90", "a Windows program"),
        (b"#!/bin/sh\n", "a script"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"Not Found\r\nTry again\n", "text: 'Not Found'"),
        (b"\xfd7zX", "unknown data that begins with fd 37 7a 58"),
        (b"\x00\x01\x02", "unknown data that begins with 00 01 02"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_archive_is_called_by_its_name(head: bytes, looks_like: str) -> None:
    with pytest.raises(ArchiveError) as caught:
        kind_of(head, name=NAME)
    assert caught.value.cause == f"this is no archive but {looks_like}"
    assert caught.value.where == NAME


def test_a_zip_is_no_stream() -> None:
    with pytest.raises(ValueError, match="no stream"):
        decode(zip_of(SAMPLE), Kind.ZIP)


# What is in it


@pytest.mark.parametrize("kind", TAR_KINDS, ids=lambda kind: kind.value)
@pytest.mark.parametrize("step", [1, 511, 1 << 20])
def test_content_comes_out_in_any_step(kind: Kind, step: int) -> None:
    data = CONTENT[-3_000:] if step == 1 else CONTENT
    assert decode(compressed(kind, data), kind, step=step) == data


@pytest.mark.parametrize("kind", TAR_KINDS, ids=lambda kind: kind.value)
def test_input_may_come_in_dribbles(kind: Kind) -> None:
    assert everything(Dribble(compressed(kind, CONTENT[-160_000:])), kind) == CONTENT[-160_000:]


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
def test_several_streams_are_one(kind: Kind) -> None:
    parts = (CONTENT[:100_000], b"", CONTENT[100_000:])
    assert decode(b"".join(compressed(kind, part) for part in parts), kind) == CONTENT


@pytest.mark.parametrize("kind", TAR_KINDS, ids=lambda kind: kind.value)
def test_what_the_raw_reader_raises_passes_untouched(kind: Kind) -> None:
    error = ConnectionResetError("the line is gone")
    with pytest.raises(ConnectionResetError) as caught:
        everything(Broken(compressed(kind, CONTENT)[:60_000], error), kind)
    assert caught.value is error


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
@pytest.mark.parametrize("percent", range(0, 100, 5))
def test_a_cut_is_always_noticed(kind: Kind, percent: int) -> None:
    data = compressed(kind, CONTENT)
    with pytest.raises(ArchiveError) as caught:
        decode(data[: len(data) * percent // 100], kind)
    assert caught.value.where == NAME


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
@pytest.mark.parametrize("missing", range(1, 20))
def test_a_cut_of_a_few_bytes_is_noticed(kind: Kind, missing: int) -> None:
    with pytest.raises(ArchiveError):
        decode(compressed(kind, b"short")[:-missing], kind)


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
@pytest.mark.parametrize("percent", [0, 1, 20, 40, 60, 99.9])
def test_a_flipped_byte_is_always_noticed(kind: Kind, percent: float) -> None:
    data = bytearray(compressed(kind, CONTENT[:150_000]))
    data[int(len(data) * percent / 100)] ^= 0x55
    with pytest.raises(ArchiveError):
        decode(bytes(data), kind)


ZST_BEGUN = b"\x28\xb5\x2f"
"""Three of the four bytes that begin a frame."""


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
@pytest.mark.parametrize("more", [b"garbage", b"\0\0\0\0garbage", b"x", ZST_BEGUN], ids=repr)
def test_bytes_after_the_end_are_refused(kind: Kind, more: bytes) -> None:
    with pytest.raises(ArchiveError):
        decode(compressed(kind, CONTENT) + more, kind)


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
def test_a_flipped_byte_in_an_archive_leaves_no_thread(kind: Kind, tmp_path: Path) -> None:
    data = bytearray(compressed(kind, tar([file("top/f", CONTENT)])))
    data[len(data) // 2] ^= 1
    with leaving_nothing_running(), pytest.raises(ArchiveError):
        unpack_bytes(bytes(data), tmp_path / "stage", kind)


# gzip


@pytest.mark.parametrize("zeros", [1, 7, 70_000])
def test_zeros_may_follow_a_gzip_member(zeros: int) -> None:
    member = gzip.compress(b"abc")
    assert decode(member + bytes(zeros), Kind.GZ) == b"abc"
    assert decode(member + bytes(zeros) + member, Kind.GZ) == b"abcabc"


def test_a_flood_of_empty_gzip_members_ends() -> None:
    assert decode(gzip.compress(b"") * 5_000 + gzip.compress(b"end"), Kind.GZ) == b"end"


# zstd


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("size", [0, 1, 300, 70_000, 300_000])
def test_every_form_of_zstd_frame(size: int, *, known_size: bool, checksum: bool) -> None:
    compressor = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=known_size)
    if known_size:
        frame = compressor.compress(CONTENT[-size:] if size else b"")
    else:
        stream = compressor.compressobj()
        frame = stream.compress(CONTENT[-size:] if size else b"") + stream.flush()
    assert decode(frame + frame, Kind.ZST) == (CONTENT[-size:] if size else b"") * 2
    with pytest.raises(ArchiveError, match="cut short"):
        decode(frame + frame[:-1], Kind.ZST)


def skippable(data: bytes) -> bytes:
    return b"\x53\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def test_skippable_zstd_frames_are_skipped() -> None:
    frame = compressed(Kind.ZST, CONTENT)
    data = skippable(b"") + frame + skippable(b"x" * 600_000) + frame + skippable(b"end")
    assert decode(data, Kind.ZST) == CONTENT * 2
    with pytest.raises(ArchiveError, match="cut short"):
        decode(data[:-1], Kind.ZST)


def test_a_zstd_window_beyond_the_limit_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    frame = stream.compress(CONTENT) + stream.flush()
    assert decode(frame, Kind.ZST) == CONTENT
    with pytest.raises(ArchiveError, match="needs a window of 134217728 bytes: at most 134217727"):
        decode(frame, Kind.ZST, options=UnpackOptions(memory_limit=(1 << 27) - 1))


@pytest.mark.parametrize(
    ("block", "cause"),
    [(0b111 | 5 << 3, "an impossible block"), (0b101 | (1 << 17) + 1 << 3, "an impossible block")],
    ids=["reserved type", "too large"],
)
def test_an_impossible_zstd_block_is_refused(block: int, cause: str) -> None:
    header = zstandard.FRAME_HEADER + b"\x00\x58"
    with pytest.raises(ArchiveError, match=cause):
        decode(header + block.to_bytes(3, "little") + bytes(200_000), Kind.ZST)


def test_a_zstd_frame_that_lacks_the_content_it_announces_is_refused() -> None:
    """One byte announced, none there, and the right checksum of nothing."""
    frame = zstandard.FRAME_HEADER + bytes.fromhex("24 01 010000 99e9d851")
    for data in (frame, compressed(Kind.ZST, CONTENT) + frame):
        with pytest.raises(ArchiveError, match="corruption"):
            decode(data, Kind.ZST)


def test_a_zstd_frame_whose_empty_last_block_ends_it_too_early_is_refused() -> None:
    """256 bytes announced, none there, no checksum: zstd itself compares only where it has room for all of them."""
    frame = zstandard.FRAME_HEADER + bytes.fromhex("40 03 0000 010000")
    for data, size in ((frame, 0), (compressed(Kind.ZST, CONTENT) + frame, len(CONTENT))):
        with (
            decoded(io.BytesIO(data), Kind.ZST, name=NAME, options=OPTIONS) as stream,
            pytest.raises(ArchiveError, match=f"{size} bytes, {size + 256} are told"),
        ):
            list(iter(lambda: stream.read(100), b""))


def test_a_zstd_bomb_comes_out_in_bounded_pieces() -> None:
    """Blocks of four bytes that each stand for 128 KiB (RFC 8878, section 3.1.1.2.2: RLE)."""
    block = ((1 << 17) << 3 | 1 << 1).to_bytes(3, "little") + b"x"
    bomb = zstandard.FRAME_HEADER + b"\x00\x58" + block * 1_000
    with decoded(io.BytesIO(bomb), Kind.ZST, name=NAME, options=OPTIONS) as stream:
        assert len(stream.read(1 << 16)) <= 1 << 16
        assert len(stream.read(1 << 20)) <= 1 << 20


# The whole way


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
def test_a_stream_of_no_tar_is_refused(kind: Kind, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="a damaged header"):
        unpack_bytes(compressed(kind, b"<html>" * 1_000), tmp_path / "stage", kind)


@pytest.mark.parametrize("kind", COMPRESSED, ids=lambda kind: kind.value)
@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: data + b"x"], ids=["cut", "more"])
def test_a_whole_tar_does_not_excuse_a_spoilt_stream(
    kind: Kind, spoil: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """The end marker comes long before the end of the compressed stream, which must be reached all the same."""
    data = compressed(kind, tar([file("top/f")]) + END * 200)
    unpack_bytes(data, tmp_path / "good", kind)
    with pytest.raises(ArchiveError):
        unpack_bytes(spoil(data), tmp_path / "spoilt", kind)
