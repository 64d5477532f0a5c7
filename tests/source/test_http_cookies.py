"""Cookies go back to nobody, and none is a bug."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import Headers, Raw, Redirect, Together
from source.ground import QUICK, get, holders_of, redist

from cudnn_redist.errors import TransferError
from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree

NAME = "redistrib_9.27.0.json"


def cookies(server: RedistServer) -> list[str | None]:
    return [request.headers.get("cookie") for request in server.log]


def test_nobody_gets_a_cookie(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always("", Headers({"Set-Cookie": "session=s3cret; Path=/; Domain=127.0.0.1"}))
    with RedistServer(redist_server.directory) as other:
        redist_server.fail(NAME, Redirect(f"{redist(other)}{NAME}"))

        assert get(redist(redist_server), root=tmp_path).verify() == ()
        assert cookies(redist_server) == [None, None]
        assert cookies(other) == [None]
    assert holders_of("s3cret", tmp_path) == []


def test_a_server_that_insists_on_its_cookie_is_left(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(NAME, Together(Redirect(NAME), Headers({"Set-Cookie": "seen=1"})))
    with pytest.raises(TransferError, match="more than 10 redirects"):
        get(redist(redist_server), root=tmp_path)

    assert set(cookies(redist_server)) == {None}


@pytest.mark.parametrize(
    "cookie",
    [
        b"",
        b"=",
        b";;;",
        b"a",
        b"a=b; Max-Age=99999999999999999999999999",
        b'a=b; Max-Age=soon; Version=x; Port="1,x"',
        b"a=b; Expires=Wed, 99 Foo 9999 99:99:99 GMT",
        b"a=b; Domain=.; Path=//",
        b'a="unterminated',
        b"\xff\xfe=\x80; Domain=\xff",
        b"a=" + b"x" * 8000,
    ],
    ids=range(11),
)
def test_no_cookie_is_a_bug(cookie: bytes, redist_tree: RedistTree, redist_server: RedistServer) -> None:
    data = redist_tree.manifest_path("9.27.0").read_bytes()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(data)
    redist_server.always(NAME, Raw(head + b"Set-Cookie: " + cookie + b"\r\n\r\n" + data))
    with HttpSource(QUICK) as source:
        for _ in range(2):
            assert source.read_manifest(redist(redist_server) + NAME) == data
