"""Cases of the kind "archive": xz that ends too early, is damaged, or is made of several streams and blocks."""

from __future__ import annotations

import lzma
import random
from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL
from redist import File
from redist.archives import pack, xz

if TYPE_CHECKING:
    from collections.abc import Callable

    from cases.ground import Fetch
    from redist import RedistTree

MEMBERS = 40


@pytest.fixture(scope="module")
def forty_members() -> bytes:
    """Noise, which no xz makes smaller: any cut is in the middle of somebody's content."""
    noise = random.Random(51)
    content = {f"src/{number}": File(noise.randbytes(5000)) for number in range(MEMBERS)}
    return pack("tar.xz", "top", content)


def refused_as_damaged(fetch: Fetch, tree: RedistTree, data: bytes) -> None:
    """The manifest promises just these bytes: that the archive is damaged is all that is wrong."""
    tree.replace_archive(data, LABEL, update_manifest=True)
    told = fetch.refused(6)
    assert told.startswith("unpack: ")


@pytest.mark.parametrize("percent", range(5, 100, 5))
def test_C51_a_truncated_xz_leaves_nothing(
    fetch: Fetch, redist_tree: RedistTree, forty_members: bytes, percent: int
) -> None:
    refused_as_damaged(fetch, redist_tree, forty_members[: len(forty_members) * percent // 100])


@pytest.mark.parametrize("percent", [20, 50, 80, 99])
def test_C51_a_flipped_byte_in_an_xz_leaves_nothing(
    fetch: Fetch, redist_tree: RedistTree, forty_members: bytes, percent: int
) -> None:
    flipped = bytearray(forty_members)
    flipped[len(flipped) * percent // 100] ^= 0xFF
    refused_as_damaged(fetch, redist_tree, bytes(flipped))


def test_C51_a_tar_that_ends_in_the_middle_of_a_whole_xz_leaves_nothing(
    fetch: Fetch, redist_tree: RedistTree, forty_members: bytes
) -> None:
    tar = lzma.decompress(forty_members)
    refused_as_damaged(fetch, redist_tree, xz(tar[: len(tar) // 2]))


def two_streams(tar: bytes) -> bytes:
    half = len(tar) // 2
    return lzma.compress(tar[:half]) + lzma.compress(tar[half:])


def an_empty_stream_at_the_end(tar: bytes) -> bytes:
    return lzma.compress(tar) + lzma.compress(b"")


def many_blocks(tar: bytes) -> bytes:
    return xz(tar, block_bytes=16 * 1024)


@pytest.mark.parametrize("compressed", [two_streams, an_empty_stream_at_the_end, many_blocks])
def test_C52_every_stream_and_every_block_of_an_xz_is_read(
    fetch: Fetch, redist_tree: RedistTree, forty_members: bytes, compressed: Callable[[bytes], bytes]
) -> None:
    redist_tree.replace_archive(forty_members, LABEL, update_manifest=True)
    plain = fetch.installed()
    data = compressed(lzma.decompress(forty_members))
    redist_tree.replace_archive(data, LABEL, update_manifest=True)
    again = fetch.installed(LABEL, "--force")
    assert again.record.archive_sha256 != plain.record.archive_sha256
    assert again.record.tree == plain.record.tree
    assert len([entry for entry in again.record.entries if entry.kind == "file"]) == MEMBERS
