"""``XzReader`` against the judge of the format: it accepts exactly what ``xz -t --format=xz`` accepts."""

from __future__ import annotations

import io
import lzma
import random
import subprocess
from functools import cache
from typing import TYPE_CHECKING

import pytest
from fuzz.damage import ANYWHERE, NEAR_THE_ENDS, Damage
from fuzz.xz import mended
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack.liblzma import fastest
from cudnn_redist.unpack.xz import XzReader

if TYPE_CHECKING:
    from cudnn_redist.unpack.liblzma import NewDecompressor

# Small, so that damage hits every kind of field often; part of it does not compress and gives stored chunks.
PAYLOAD = b"abc" * 100 + random.Random(1).randbytes(100) + bytes(200)
STREAMS = (
    (b"", ("--check=crc64",)),
    (PAYLOAD, ("--check=none",)),
    (PAYLOAD, ("--check=crc32", "-T2", "--block-size=200")),
    (PAYLOAD, ("--check=crc32", "-T1", "--block-size=200")),
    (PAYLOAD, ("--check=crc64", "-T2", "--block-size=300")),
    (PAYLOAD, ("--check=sha256", "-T1")),
    (PAYLOAD, ("--check=sha256", "-T2", "--block-size=150")),
    (PAYLOAD, ("--check=crc32", "--delta=dist=2", "--x86", "--lzma2=dict=4KiB")),
    (b"x", ("--check=crc32", "-9")),
)
# The standard library's, and that of the extra ``fast`` where it is installed.
every_decompressor = pytest.mark.parametrize(
    "decompressor", dict.fromkeys((lzma.LZMADecompressor, fastest())), ids=lambda found: found.__module__
)
# Without a limit, as the tool has none either.
NO_LIMIT = 1 << 62


@cache
def stream(number: int) -> bytes:
    data, options = STREAMS[number]
    return subprocess.run(["xz", "-c", *options], input=data, capture_output=True, check=True).stdout


def verdict_of_xz(data: bytes) -> bytes | None:
    """Return what ``xz`` makes of the file, or ``None`` if it refuses it."""
    ran = subprocess.run(["xz", "-dc", "--format=xz", "-T1"], input=data, capture_output=True, check=False)
    return ran.stdout if ran.returncode == 0 else None


def our_verdict(
    data: bytes, decompressor: NewDecompressor, *, threads: int = 1, budget: int = 1 << 23
) -> bytes | None:
    try:
        with XzReader(
            io.BytesIO(data),
            name="file",
            threads=threads,
            budget=budget,
            memory_limit=NO_LIMIT,
            decompressor=decompressor,
        ) as reader:
            return b"".join(iter(lambda: reader.read(1 << 20), b""))
    except ArchiveError:
        return None


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Streams with padding around them, for the most part legal."""
    data = b""
    for number in draw(st.lists(st.integers(0, len(STREAMS) - 1), min_size=1, max_size=3)):
        data += stream(number) + bytes(draw(st.sampled_from((0, 0, 0, 4, 8, 1, 2, 3))))
    return data


CONDITIONS = {"threads": st.sampled_from((1, 2, 8)), "budget": st.sampled_from((1, 1 << 16, 1 << 23))}


@every_decompressor
@settings(max_examples=150, deadline=None)
@given(data=files(), **CONDITIONS)
def test_agrees_on_streams_and_padding(
    decompressor: NewDecompressor, data: bytes, threads: int, budget: int
) -> None:
    assert our_verdict(data, decompressor, threads=threads, budget=budget) == verdict_of_xz(data)


@every_decompressor
@settings(max_examples=400, deadline=None)
@given(data=files(), damages=st.lists(ANYWHERE, min_size=1, max_size=2), **CONDITIONS)
def test_agrees_on_damaged_files(
    decompressor: NewDecompressor, data: bytes, damages: list[Damage], threads: int, budget: int
) -> None:
    for damage in damages:
        data = damage.to(data) or b"\0"
    assert our_verdict(data, decompressor, threads=threads, budget=budget) == verdict_of_xz(data)


@every_decompressor
@settings(max_examples=600, deadline=None)
@given(number=st.integers(0, len(STREAMS) - 1), damage=NEAR_THE_ENDS)
def test_agrees_on_damaged_fields_with_right_crcs(
    decompressor: NewDecompressor, number: int, damage: Damage
) -> None:
    data = mended(damage.to(stream(number)))
    assert our_verdict(data, decompressor) == verdict_of_xz(data)


@every_decompressor
def test_agrees_on_every_truncation(decompressor: NewDecompressor) -> None:
    data = stream(2) + stream(0) + bytes(4)
    for end in range(len(data)):
        assert our_verdict(data[:end], decompressor, threads=2) == verdict_of_xz(data[:end]), end
