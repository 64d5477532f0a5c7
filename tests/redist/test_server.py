from __future__ import annotations

import base64
import hashlib
import http.client
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from redist import RedistServer
from redist.faults import Stall
from redist.raw_client import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATA = bytes(range(256)) * 40
NAME = "some file.tar.xz"
QUOTED = "some%20file.tar.xz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / NAME).write_bytes(DATA)
    (tmp_path / "redistrib_9.9.0.json").write_text("{}")
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[RedistServer]:
    with RedistServer(folder) as server:
        yield server


@pytest.fixture
def url(server: RedistServer) -> str:
    return f"{server.url}below/{QUOTED}"


def test_a_file_comes_whole_and_with_its_validators(url: str) -> None:
    seen = ask(url)
    assert (seen.status, seen.body, seen.end) == (200, DATA, "fin")
    assert seen.headers["content-length"] == str(len(DATA))
    assert seen.headers["etag"] == f'"{hashlib.sha256(DATA).hexdigest()[:32]}"'
    assert seen.headers["accept-ranges"] == "bytes"
    assert seen.headers["last-modified"].endswith("GMT")


def test_head_has_the_headers_of_get_and_no_body(url: str) -> None:
    seen = ask(url, method="HEAD")
    assert (seen.status, seen.body) == (200, b"")
    assert seen.headers["content-length"] == str(len(DATA))


@pytest.mark.parametrize(
    ("value", "status", "content_range", "body"),
    [
        ("bytes=100-", 206, f"bytes 100-{len(DATA) - 1}/{len(DATA)}", DATA[100:]),
        ("bytes=100-199", 206, f"bytes 100-199/{len(DATA)}", DATA[100:200]),
        ("bytes=100-999999", 206, f"bytes 100-{len(DATA) - 1}/{len(DATA)}", DATA[100:]),
        ("bytes=-5", 206, f"bytes {len(DATA) - 5}-{len(DATA) - 1}/{len(DATA)}", DATA[-5:]),
        ("bytes=0-", 206, f"bytes 0-{len(DATA) - 1}/{len(DATA)}", DATA),
        (f"bytes={len(DATA)}-", 416, f"bytes */{len(DATA)}", None),
        ("bytes=9-2", 200, None, DATA),
        ("bytes=0-1,5-6", 200, None, DATA),
        ("lines=1-", 200, None, DATA),
    ],
)
def test_ranges(url: str, value: str, status: int, content_range: str | None, body: bytes | None) -> None:
    seen = ask(url, {"Range": value, "Connection": "close"})
    assert seen.status == status
    assert seen.headers.get("content-range") == content_range
    assert body is None or seen.body == body


@pytest.mark.parametrize(("validator", "status"), [("etag", 206), ("last-modified", 206), (None, 200)])
def test_if_range_compares_the_validator(url: str, validator: str | None, status: int) -> None:
    known = ask(url).headers[validator] if validator else '"another"'
    assert ask(url, {"Range": "bytes=5-", "If-Range": known, "Connection": "close"}).status == status


def test_an_unchanged_file_is_not_sent_again(url: str) -> None:
    headers = ask(url).headers
    for name, validator in (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified")):
        seen = ask(url, {name: headers[validator], "Connection": "close"})
        assert (seen.status, seen.body) == (304, b"")
    assert ask(url, {"If-None-Match": '"another"', "Connection": "close"}).status == 200


def test_a_changed_file_has_another_etag(url: str, folder: Path) -> None:
    before = ask(url).headers["etag"]
    (folder / "below" / NAME).write_bytes(DATA[::-1])
    assert ask(url).headers["etag"] != before


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/nothing", 404),
        ("/below/../redistrib_9.9.0.json", 200),
        ("/../../../etc/passwd", 404),
        ("/below/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/below", 301),
        ("http://elsewhere.example/redistrib_9.9.0.json", 200),
    ],
    ids=["missing", "dots", "climbing", "climbing-encoded", "no-slash", "as-a-proxy"],
)
def test_targets(server: RedistServer, target: str, status: int) -> None:
    assert ask(server.url, target=target).status == status


def test_other_methods_are_refused(url: str) -> None:
    assert ask(url, {}, method="PUT").status == 405


def test_a_connection_serves_several_requests(server: RedistServer) -> None:
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for _ in range(3):
        client.request("GET", f"/below/{QUOTED}")
        assert client.getresponse().read() == DATA
    client.close()
    assert [request.connection for request in server.log] == [1, 1, 1]


def test_the_log_tells_what_happened(server: RedistServer, url: str) -> None:
    ask(url, {"Range": "bytes=100-149", "User-Agent": "me", "Connection": "close"})
    ask(server.url + "nothing")
    (request,) = server.requests(NAME)
    assert (request.method, request.path, request.target) == ("GET", f"/below/{NAME}", f"/below/{QUOTED}")
    assert (request.status, request.sent, request.range) == (206, 50, "bytes=100-149")
    assert request.headers["user-agent"] == "me"
    assert [line.status for line in server.log] == [206, 404]


def test_the_log_is_complete_once_the_client_has_the_last_byte(server: RedistServer) -> None:
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for number in range(200):
        client.request("GET", f"/below/{QUOTED}")
        client.getresponse().read()
        assert server.log[number].sent == len(DATA)
    client.close()


def test_one_can_wait_for_a_request(server: RedistServer, url: str) -> None:
    server.fail(NAME, Stall(500))
    client = threading.Thread(target=ask, args=(url,))
    client.start()
    assert server.wait_for(NAME, sent=500).sent == 500
    server.close()
    client.join(60)
    assert not client.is_alive()
    with pytest.raises(TimeoutError, match="1 of 2 requests"):
        server.wait_for(NAME, count=2, timeout=0.05)


def test_what_those_who_are_gone_asked_for_is_in_the_log_once_it_has_settled(
    server: RedistServer, url: str
) -> None:
    server.rate = 1000
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(f"GET {url} HTTP/1.1\r\n\r\n".encode())
    server.settle()
    sent = [request.sent for request in server.requests(NAME)]
    assert len(sent) == 20
    time.sleep(0.2)
    assert [request.sent for request in server.requests(NAME)] == sent


def test_basic_authentication(server: RedistServer, url: str) -> None:
    server.auth = ("me", "p@ss:1")
    assert ask(url).headers["www-authenticate"].startswith("Basic")
    token = base64.b64encode(b"me:p@ss:1").decode()
    assert ask(url, {"Authorization": f"Basic {token}", "Connection": "close"}).status == 200
    assert [request.status for request in server.log] == [401, 200]


def test_a_rate_limits_the_whole_server(server: RedistServer, url: str) -> None:
    server.rate = len(DATA) / 0.3
    seen = ask(url)
    assert seen.body == DATA
    assert seen.seconds > 0.25


def test_tls_spoken_to_it_is_hung_up_on(server: RedistServer) -> None:
    seen = ask(server.url, method="\x16\x03\x01")
    assert (seen.status, seen.end) == (0, "fin")


def test_close_ends_idle_connections_at_once_and_start_listens_on_the_same_port(
    server: RedistServer, url: str
) -> None:
    before = set(threading.enumerate())
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    client.request("GET", f"/below/{QUOTED}")
    client.getresponse().read()
    conversing = set(threading.enumerate()) - before
    server.close()
    assert not any(thread.is_alive() for thread in conversing)
    with pytest.raises(ConnectionRefusedError):
        ask(url)
    client.close()
    server.start()
    assert ask(url).status == 200
