"""C37: a proxy that refuses, that is spelled wrong, or that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import Raw, Status
from source.ground import QUICK, get, nothing_left

from cudnn_redist.errors import TransferError, TransientTransferError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedistServer]:
    with RedistServer(tmp_path_factory.mktemp("proxy")) as proxy:
        yield proxy


def refuse(proxy: RedistServer, status: int, reason: str) -> None:
    proxy.always("", Raw(f"HTTP/1.1 {status} {reason}\r\nContent-Length: 0\r\n\r\n".encode()))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_407_is_final_and_says_what_to_do(
    scheme: str, proxy: RedistServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", f"http://user:p%40ss%231@127.0.0.1:{proxy.port}")
    refuse(proxy, 407, "Proxy Authentication Required")
    with pytest.raises(TransferError, match="percent-encoded") as caught:
        get(f"{scheme}://mirror.example/redist/", root=tmp_path)

    assert (caught.value.phase, caught.value.status) == ("proxy", 407)
    assert not isinstance(caught.value, TransientTransferError)
    assert "p%40ss" not in str(caught.value)
    assert len(proxy.log) == 1
    assert "proxy-authorization" in proxy.log[0].headers
    assert nothing_left(tmp_path)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_503_of_the_proxy_is_tried_again(
    scheme: str, proxy: RedistServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{proxy.port}")
    refuse(proxy, 503, "Service Unavailable")
    with pytest.raises(TransientTransferError) as caught:
        get(f"{scheme}://mirror.example/redist/", root=tmp_path)

    assert caught.value.status == 503
    assert len(proxy.log) == 1 + QUICK.retries


@pytest.mark.parametrize("answer", ["403 Forbidden", "999 What", "teapot"])
def test_other_refusals_of_a_tunnel_are_final(
    answer: str, proxy: RedistServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
    proxy.always("", Status(403))
    if answer != "403 Forbidden":
        proxy.always("", Raw(f"HTTP/1.1 {answer}\r\n\r\n".encode()))
    with pytest.raises(TransferError):
        get("https://mirror.example/redist/", root=tmp_path)


@pytest.mark.parametrize(
    "proxy_url",
    ["socks5://h:1", "ftp://u:hunter2@h:1", "http://user:hunter2#1@h:1", "http://u:hunter2@h:port"],
)
def test_a_proxy_that_cannot_be_used_is_told_without_its_login(
    proxy_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", proxy_url)
    with pytest.raises(TransferError) as caught:
        get("https://mirror.example/redist/", root=tmp_path)

    assert caught.value.phase == "proxy"
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_proxy_passes_requests_on(
    redist_server: RedistServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", redist_server.url)

    get("http://mirror.example/cudnn/redist/?token=abc", root=tmp_path)

    assert all(
        request.target.startswith("http://mirror.example/") and request.target.endswith("?token=abc")
        for request in redist_server.log
    )


def test_a_host_may_be_asked_past_the_proxy(
    redist_server: RedistServer, proxy: RedistServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    get(f"{redist_server.url}cudnn/redist/", root=tmp_path)

    assert proxy.log == []
