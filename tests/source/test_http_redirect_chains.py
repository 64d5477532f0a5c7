"""Chains of redirects, and targets as odd servers write them (C32)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import Headers, Raw, Redirect, Stall, Status, Together
from source.ground import QUICK

from cudnn_redist.errors import TransferError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cudnn_redist.source.http import HttpSource

DATA = b"some bytes"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedistServer]:
    (tmp_path / "x.json").write_bytes(DATA)
    with RedistServer(tmp_path) as server:
        yield server


@pytest.mark.parametrize("steps", [1, 10, 11])
def test_ten_steps_are_gone_and_no_more(steps: int, server: RedistServer, source: HttpSource) -> None:
    for step in range(1, steps):
        server.always(f"/{step}", Redirect(f"/{step + 1}"))
    server.always(f"/{steps}", Redirect("/x.json"))

    if steps <= 10:
        assert source.read_manifest(f"{server.url}1") == DATA
    else:
        with pytest.raises(TransferError, match="more than 10 redirects"):
            source.read_manifest(f"{server.url}1")
    assert len(server.log) == min(steps, 10) + 1


def test_two_servers_that_send_us_back_and_forth_are_left(server: RedistServer, source: HttpSource) -> None:
    with RedistServer(server.directory) as other:
        server.always("", Redirect(other.url))
        other.always("", Redirect(server.url))
        with pytest.raises(TransferError, match="more than 10 redirects") as caught:
            source.read_manifest(f"{server.url}x.json")

        assert caught.value.where == f"{server.url}x.json"
        assert (len(server.log), len(other.log)) == (6, 5)


def test_nobody_waits_for_the_page_of_a_redirect(server: RedistServer, source: HttpSource) -> None:
    server.fail("old", Together(Redirect("/x.json"), Stall(10)))
    started = time.monotonic()

    assert source.read_manifest(f"{server.url}old") == DATA
    assert time.monotonic() - started < QUICK.stall_timeout


@pytest.mark.parametrize(
    "to",
    [
        "x.json#part",
        "./a/../x.json",
        "/x.json?a=b c",
        "//127.0.0.1:{port}/x.json",
        "HTTP://127.0.0.1:{port}/x.json",
        "  x.json",
        "/%78.json",
    ],
)
def test_a_target_is_read_as_browsers_do(to: str, server: RedistServer, source: HttpSource) -> None:
    server.always("old", Redirect(to.format(port=server.port)))

    assert source.read_manifest(f"{server.url}old") == DATA


@pytest.mark.parametrize(
    "location",
    [
        b"http://",
        b"//",
        b"http://%zz/",
        b"http://h\xff/",
        b"http://[::1",
        b"javascript:x",
        b"\x7f",
    ],
)
def test_a_target_that_is_none_is_an_error_of_transfer(
    location: bytes, server: RedistServer, source: HttpSource
) -> None:
    server.always(
        "old", Raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")
    )
    with pytest.raises(TransferError):
        source.read_manifest(f"{server.url}old")

    assert {request.path for request in server.log} == {"/old"}
    assert len(server.log) <= 11


@pytest.mark.parametrize("status", [300, 304, 305, 306])
def test_only_five_statuses_lead_elsewhere(status: int, server: RedistServer, source: HttpSource) -> None:
    server.always("old", Together(Status(status), Headers({"Location": "/x.json"})))
    with pytest.raises(TransferError, match=f"HTTP {status}"):
        source.read_manifest(f"{server.url}old")

    assert len(server.log) == 1
