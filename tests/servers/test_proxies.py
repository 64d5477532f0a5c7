"""C37 with real forward proxies that want a login: plain requests passed on, and TLS through CONNECT."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import pytest
from redist.faults import Stall
from servers.ground import fetched
from source.ground import cut_when_asked, get, holders_of, nothing_left
from source.tls import TlsFront

from cudnn_redist import TransferOptions
from cudnn_redist.errors import TransferError, TransientTransferError
from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redist import RedistServer
    from servers.ground import ForwardProxy, Site
    from source.tls import Certificates


@pytest.fixture
def transfer(certificates: Certificates) -> TransferOptions:
    return TransferOptions(retries=0, ca_file=certificates.authority)


@pytest.fixture(params=["http", "https"])
def folder(request: pytest.FixtureRequest, plain_site: Site, tls_site: Site) -> str:
    """The URL of a folder of manifests, over plain HTTP or TLS."""
    return (plain_site if request.param == "http" else tls_site).url + "cudnn/redist/"


def test_every_request_goes_through_it(
    *,
    forward_proxy: ForwardProxy,
    folder: str,
    transfer: TransferOptions,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(f"{folder.partition(':')[0]}_proxy", forward_proxy.url)

    assert get(folder, root=root, transfer=transfer).verify() == ()

    told = [record.getMessage() for record in caplog.records if record.name == "cudnn_redist"]
    requests = [line for line in told if line.startswith("GET ")]
    assert len(requests) == 2
    assert all(
        line.endswith(f"HTTP 200 (through the proxy of {folder.partition(':')[0]}_proxy)")
        for line in requests
    )
    for secret in (forward_proxy.login, forward_proxy.login.partition(":")[2]):
        assert not any(secret in line for line in told)
        assert holders_of(secret, root) == []


@pytest.mark.parametrize("login", ["", "proxyuser:wr0ngpass@"], ids=["none", "wrong"])
def test_without_the_right_login_the_variable_is_told(
    *,
    login: str,
    forward_proxy: ForwardProxy,
    folder: str,
    transfer: TransferOptions,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("all_proxy", f"http://{login}127.0.0.1:{forward_proxy.port}")
    with pytest.raises(TransferError) as caught:
        get(folder, root=root, transfer=transfer)

    # Of a wrong login tinyproxy says 401, as if it were the server.
    assert caught.value.status in ((407, 401) if login else (407,))
    assert caught.value.where == f"{folder}redistrib_9.27.0.json"
    assert "(through the proxy of all_proxy): the " in caught.value.cause
    assert "proxy wants a login" in caught.value.cause.replace(",", "")
    assert not isinstance(caught.value, TransientTransferError)
    assert "wr0ngpass" not in str(caught.value)
    assert nothing_left(root)


@pytest.fixture
def proxy_under_tls(
    tinyproxy: ForwardProxy, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    with TlsFront(tinyproxy.port, certificates.server) as front:
        monkeypatch.setenv("ALL_PROXY", front.url.replace("//", f"//{tinyproxy.login}@"))
        yield


@pytest.mark.usefixtures("proxy_under_tls")
def test_the_way_to_the_proxy_may_be_tls_too(folder: str, transfer: TransferOptions, root: Path) -> None:
    assert get(folder, root=root, transfer=transfer).verify() == ()


@pytest.mark.usefixtures("proxy_under_tls")
def test_a_proxy_of_an_unknown_authority_is_not_trusted(folder: str, root: Path) -> None:
    with pytest.raises(TransferError, match=r"not trusted .*\(through the proxy of ALL_PROXY\)") as caught:
        get(folder, root=root)

    assert not isinstance(caught.value, TransientTransferError)


def test_where_the_proxy_cannot_go_its_variable_is_told(
    forward_proxy: ForwardProxy, transfer: TransferOptions, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", forward_proxy.url)
    with pytest.raises(TransferError, match=r"\(through the proxy of https_proxy\)") as caught:
        get("https://127.0.0.1:1/redist/", root=root, transfer=transfer)

    assert caught.value.phase == "proxy"


def test_a_read_through_a_tunnel_ends_at_once_when_the_line_is_cut(
    forward_proxy: ForwardProxy,
    certificates: Certificates,
    redist_server: RedistServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", forward_proxy.url)
    redist_server.always(".json", Stall(10))
    options = TransferOptions(stall_timeout=60, ca_file=certificates.authority)
    with TlsFront(redist_server.port, certificates.server) as front, HttpSource(options) as source:
        line = source.line()
        cutter = cut_when_asked(redist_server, line)
        started = time.monotonic()
        url = f"{front.url}cudnn/redist/redistrib_9.27.0.json"
        with pytest.raises(TransferError), source.open_archive(url, line=line) as body:
            list(body)
        cutter.join()

    assert time.monotonic() - started < 20


def test_a_network_is_exempt(
    forward_proxy: ForwardProxy,
    folder: str,
    transfer: TransferOptions,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The proxy would refuse: it is given no login."""
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{forward_proxy.port}")
    monkeypatch.setenv("NO_PROXY", "10.0.0.0/8, 127.0.0.0/8")

    assert get(folder, root=root, transfer=transfer).verify() == ()


def test_the_command_tells_the_variable_and_not_the_login(
    forward_proxy: ForwardProxy, plain_site: Site, root: Path
) -> None:
    dead = fetched(plain_site.url, root, "--debug", HTTP_PROXY="http://me:hunter2@127.0.0.1:1")
    done = fetched(plain_site.url, root, "--debug", "--json", HTTP_PROXY=forward_proxy.url)

    assert (dead.code, done.code) == (4, 0)
    assert "Connection refused (through the proxy of HTTP_PROXY); " in dead.err.splitlines()[-1]
    assert "hunter2" not in dead.err
    assert forward_proxy.login not in done.err + done.out
