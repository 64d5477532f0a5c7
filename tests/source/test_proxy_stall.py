"""A proxy that goes silent is left as promptly as a server: in time, or as soon as somebody gives up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import Delay, Stall
from source.ground import HASTY, cut_when_asked

from cudnn_redist import TransferOptions
from cudnn_redist.errors import TransferError, TransientTransferError
from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedistServer]:
    """A proxy that takes a request and says nothing for long."""
    with RedistServer(tmp_path) as proxy:
        proxy.always("", Delay(60))
        monkeypatch.setenv("all_proxy", proxy.url)
        yield proxy


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_silent_proxy_is_left_after_the_usual_tries(scheme: str, proxy: RedistServer) -> None:
    with HttpSource(HASTY) as source, pytest.raises(TransientTransferError) as caught:
        source.read_manifest(f"{scheme}://mirror.example/x.json")

    assert "Timeout" in caught.value.cause
    assert caught.value.cause.endswith("(through the proxy of all_proxy)")
    assert len(proxy.log) == 1 + HASTY.retries


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_waiting_for_a_proxy_ends_at_once_when_the_line_is_cut(scheme: str, proxy: RedistServer) -> None:
    with HttpSource(TransferOptions(stall_timeout=60)) as source:
        line = source.line()
        cutter = cut_when_asked(proxy, line)
        started = time.monotonic()
        with pytest.raises(TransferError), source.open_archive(f"{scheme}://mirror.example/x", line=line):
            pass
        cutter.join()

    assert time.monotonic() - started < 20
    assert len(proxy.log) == 1


def test_a_body_that_stalls_behind_a_proxy_is_cut_too(proxy: RedistServer) -> None:
    (proxy.directory / "x").write_bytes(bytes(1000))
    proxy.always("", Stall(10))
    with HttpSource(TransferOptions(stall_timeout=60)) as source:
        line = source.line()
        cutter = cut_when_asked(proxy, line)
        started = time.monotonic()
        with pytest.raises(TransferError), source.open_archive("http://mirror.example/x", line=line) as body:
            list(body)
        cutter.join()

    assert time.monotonic() - started < 20
