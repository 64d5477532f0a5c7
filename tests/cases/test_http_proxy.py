"""C37: a proxy that wants a login, and proxy variables that cannot be used."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL
from redist import RedistServer
from redist.faults import Raw
from source.ground import holders_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cases.ground import Fetch

SECRETS = ("p@ss#1", "p%40ss%231", base64.b64encode(b"me:p@ss#1").decode())


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[RedistServer]:
    """A proxy that answers 407, whatever it is asked."""
    folder = tmp_path / "proxy"
    folder.mkdir()
    with RedistServer(folder) as proxy:
        refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
        proxy.always("", Raw(refusal))
        yield proxy


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_C37_a_407_is_final_and_the_login_is_not_shown(
    proxy: RedistServer, fetch: Fetch, scheme: str
) -> None:
    env = {f"{scheme.upper()}_PROXY": f"http://me:p%40ss%231@127.0.0.1:{proxy.port}"}
    words = ("--source", f"{scheme}://mirror.example/redist/")
    told = fetch.refused(4, LABEL, *words, env=env)
    assert told.startswith(f"proxy: {scheme}://mirror.example/redist/{'' if scheme == 'https' else 'redist'}")
    assert "407" in told
    assert "special characters in it must be percent-encoded" in told
    assert len(proxy.log) == 1
    assert base64.b64decode(proxy.log[0].headers["proxy-authorization"].split()[1]) == b"me:p@ss#1"

    loud = fetch(LABEL, *words, "--debug", env=env)
    for secret in SECRETS:
        assert secret not in loud.err
        assert holders_of(secret, fetch.root) == []


def test_C37_an_encoded_login_reaches_a_proxy_that_takes_it(
    redist_server: RedistServer, fetch: Fetch
) -> None:
    env = {"HTTP_PROXY": f"http://me:p%40ss%231@127.0.0.1:{redist_server.port}"}
    fetch.installed(LABEL, "--source", "http://mirror.example/cudnn/redist/", env=env)
    for request in redist_server.log:
        assert request.target.startswith("http://mirror.example/")
        assert base64.b64decode(request.headers["proxy-authorization"].split()[1]) == b"me:p@ss#1"


@pytest.mark.parametrize(
    ("scheme", "value", "told"),
    [
        ("http", "http://me:s3cr@t#1@127.0.0.1:{port}", "percent-encoded"),
        ("https", "http://me:s3cr@t#1@127.0.0.1:{port}", "percent-encoded"),
        ("http", "http://me:s3cr/t?1@127.0.0.1:{port}", "percent-encoded"),
        ("https", "http://me:s3cr#t@127.0.0.1:port", "percent-encoded"),
        ("http", "http://me:s3cr#t@", "percent-encoded"),
        ("https", "socks5://me:s3cr@h:1", "socks5"),
        ("http", "socks4://me:s3cr@h:1", "socks4"),
        ("https", "ftp://me:s3cr@h:1", "ftp"),
    ],
)
def test_C37_a_proxy_that_cannot_be_used_is_told_without_its_login(
    proxy: RedistServer, fetch: Fetch, scheme: str, value: str, told: str
) -> None:
    env = {f"{scheme.upper()}_PROXY": value.format(port=proxy.port)}
    reason = fetch.refused(4, LABEL, "--source", f"{scheme}://mirror.example/redist/", env=env)
    assert reason.startswith("proxy: ")
    assert f"{scheme.upper()}_PROXY" in reason
    assert told in reason
    assert "s3cr" not in reason
    assert proxy.log == []
    assert not fetch.root.exists()
