"""An encoding that nobody asked for is undone in small pieces, or passes; what it hides is never taken on trust."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from redist.faults import Headers, Status
from source.ground import QUICK, redist

from cudnn_redist.errors import ManifestError, TransferError, TransientTransferError
from cudnn_redist.source.base import MANIFEST_LIMIT
from cudnn_redist.source.encodings import undone
from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from redist import RedistServer, RedistTree

NAME = "redistrib_9.27.0.json"
DATA = b'{"cudnn": {}}' * 1000


def decoded(data: bytes, encoding: str, *, size: int = 100) -> bytes:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(undone(pieces, encoding, phase="manifest", where="x"))


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", gzip.compress(DATA)),
        ("GZIP", gzip.compress(DATA)),
        (" x-gzip ", gzip.compress(DATA)),
        ("gzip", gzip.compress(DATA) + b"surplus"),
        ("deflate", zlib.compress(DATA)),
        ("identity", DATA),
        ("", DATA),
        ("utf-8", DATA),
        ("br", DATA),
    ],
    ids=["gzip", "GZIP", "x-gzip", "surplus", "deflate", "identity", "none", "utf-8", "br"],
)
@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_what_comes_is_what_was_meant(encoding: str, data: bytes, size: int) -> None:
    assert decoded(data, encoding, size=size) == DATA


@pytest.mark.parametrize("data", [DATA, gzip.compress(DATA)[:9] + b"\xff" * 99], ids=["plain", "damaged"])
def test_what_it_is_not_is_an_error_of_transfer(data: bytes) -> None:
    with pytest.raises(TransferError, match="not gzip, though it is sent as that") as caught:
        decoded(data, "gzip")

    assert type(caught.value) is TransferError


@pytest.mark.parametrize("size", [0, 5, 40, -1])
def test_what_ends_too_early_may_be_tried_again(size: int) -> None:
    with pytest.raises(TransientTransferError, match="ended within its gzip"):
        decoded(gzip.compress(DATA)[:size], "gzip")


@given(data=st.binary(max_size=300), size=st.integers(1, 50))
def test_any_bytes_are_an_error_or_come_through(data: bytes, size: int) -> None:
    assert decoded(gzip.compress(data), "gzip", size=size) == data


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(bytes(64 << 20))),
        ("deflate", zlib.compress(bytes(64 << 20))),
        ("zstd", zstandard.compress(bytes(256 << 20))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(64 << 20)))),
    ],
    ids=["gzip", "deflate", "zstd", "twice"],
)
def test_a_bomb_costs_no_more_than_the_limit(encoding: str, bomb: bytes, redist_server: RedistServer) -> None:
    redist_server.always(NAME, Status(200, {"Content-Encoding": encoding}, bomb))
    tracemalloc.start()
    try:
        with HttpSource(QUICK) as source:
            size = len(_read_or_refused(source, redist(redist_server) + NAME))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size <= len(bomb)
    assert peak < 4 * MANIFEST_LIMIT


def _read_or_refused(source: HttpSource, url: str) -> bytes:
    try:
        return source.read_manifest(url)
    except ManifestError:
        return b""


def test_the_last_of_several_names_is_no_name_of_ours(
    redist_tree: RedistTree, redist_server: RedistServer
) -> None:
    redist_server.always(NAME, Headers({"Content-Encoding": "identity, identity"}))
    with HttpSource(QUICK) as source:
        data = source.read_manifest(redist(redist_server) + NAME)

    assert data == redist_tree.manifest_path("9.27.0").read_bytes()
