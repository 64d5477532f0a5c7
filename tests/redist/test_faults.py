from __future__ import annotations

import gzip
import hashlib
import time
from typing import TYPE_CHECKING

import pytest

from redist import RedistServer
from redist.faults import (
    Before,
    Changed,
    Chunked,
    Cut,
    Delay,
    Encoded,
    Extra,
    Fault,
    Flipped,
    Headers,
    IgnoreRange,
    MultipartRange,
    NoContentRange,
    NoLength,
    Normal,
    Page,
    Raw,
    Redirect,
    RefuseRange,
    Reset,
    Stall,
    Status,
    Together,
    Trickle,
    Truncated,
    WrongLength,
    WrongRange,
)
from redist.raw_client import Seen, ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATA = hashlib.sha512(b"some noise").digest() * 100
SIZE = len(DATA)
NAME = "a.tar.xz"
FROM_100 = {"Range": "bytes=100-", "Connection": "close"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedistServer]:
    (tmp_path / NAME).write_bytes(DATA)
    with RedistServer(tmp_path) as server:
        yield server


def meet(
    server: RedistServer, fault: Fault, headers: dict[str, str] | None = None, *, patience: float = 60
) -> Seen:
    server.fail(NAME, fault)
    return ask(server.url + NAME, headers, patience=patience)


@pytest.mark.parametrize(
    ("fault", "end"), [(Cut(1000), "fin"), (Reset(1000), "rst"), (Stall(1000), "silence"), (Cut(0), "fin")]
)
def test_the_sending_ends_early_in_three_ways(server: RedistServer, fault: Cut, end: str) -> None:
    seen = meet(server, fault, patience=1 if end == "silence" else 60)
    assert (seen.status, seen.body, seen.end) == (200, DATA[: fault.after], end)
    assert seen.headers["content-length"] == str(SIZE)
    assert server.log[0].sent == fault.after


def test_a_cut_counts_from_where_a_range_begins(server: RedistServer) -> None:
    assert meet(server, Cut(50), FROM_100).body == DATA[100:150]


def test_trickle(server: RedistServer) -> None:
    seen = meet(server, Trickle(rate=SIZE / 0.3))
    assert seen.body == DATA
    assert seen.seconds > 0.25


def test_a_trickle_stops_when_the_server_does(server: RedistServer) -> None:
    server.fail(NAME, Trickle(rate=1))
    assert ask(server.url + NAME, patience=0.3).end == "silence"
    started = time.monotonic()
    server.close()
    # The whole would take two hours.
    assert time.monotonic() - started < 60


def test_delay(server: RedistServer) -> None:
    seen = meet(server, Delay(0.2))
    assert (seen.body, seen.status) == (DATA, 200)
    assert seen.waited >= 0.2


@pytest.mark.parametrize("data", [b"", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_raw(server: RedistServer, data: bytes) -> None:
    server.fail(NAME, Raw(b"HTTP/1.1 200 OK\r\n\r\n" + data) if data else Raw())
    seen = ask(server.url + NAME)
    assert (seen.body, seen.end) == (data, "fin")
    assert server.log[0].status == 0


def test_status_has_a_page_or_a_body_of_ones_own(server: RedistServer) -> None:
    seen = meet(server, Status(404))
    assert (seen.status, seen.headers["content-type"]) == (404, "text/html")
    assert b"<html>" in seen.body
    seen = meet(server, Status(503, headers={"Retry-After": "1"}, body=b"busy"))
    assert (seen.status, seen.headers["retry-after"], seen.body) == (503, "1", b"busy")


def test_a_status_also_answers_what_is_no_get(server: RedistServer) -> None:
    server.always("", Status(407, headers={"Proxy-Authenticate": "Basic"}))
    seen = ask(server.url, {}, method="CONNECT", target="example.org:443")
    assert (seen.status, seen.end) == (407, "fin")
    assert server.log[0].path == "example.org:443"


def test_page(server: RedistServer) -> None:
    seen = meet(server, Page("TLS handshake failed", "text/plain"))
    assert (seen.status, seen.headers["content-type"], seen.body) == (
        200,
        "text/plain",
        b"TLS handshake failed",
    )


def test_redirect(server: RedistServer) -> None:
    seen = meet(server, Redirect(to="../elsewhere", code=301))
    assert (seen.status, seen.headers["location"]) == (301, "../elsewhere")
    assert seen.body


def test_headers(server: RedistServer) -> None:
    seen = meet(server, Headers({"Age": "86400"}, without=("etag", "Last-Modified")))
    assert (seen.status, seen.headers["age"], seen.body) == (200, "86400", DATA)
    assert not {"etag", "last-modified"} & set(seen.headers)


@pytest.mark.parametrize("by", [5, -5])
def test_wrong_length(server: RedistServer, by: int) -> None:
    seen = meet(server, WrongLength(by))
    assert seen.headers["content-length"] == str(SIZE + by)
    assert (seen.body, seen.end) == (DATA, "fin")


@pytest.mark.parametrize("after", [None, 1000])
def test_no_length(server: RedistServer, after: int | None) -> None:
    seen = meet(server, NoLength(after))
    assert not {"content-length", "transfer-encoding"} & set(seen.headers)
    assert (seen.body, seen.end) == (DATA[:after], "fin")


@pytest.mark.parametrize(
    ("fault", "body"),
    [
        (Chunked(), b"1900\r\n" + DATA + b"\r\n0\r\n\r\n"),
        (Chunked(16), b"10\r\n" + DATA[:16] + b"\r\n0\r\n\r\n"),
        (Chunked(16, cut=True), b"10\r\n" + DATA[:16] + b"\r\n"),
    ],
    ids=["right", "ended-early", "cut"],
)
def test_chunked(server: RedistServer, fault: Fault, body: bytes) -> None:
    seen = meet(server, fault)
    assert seen.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in seen.headers
    assert (seen.body, seen.end) == (body, "fin")


def test_encoded_lies_or_does_not(server: RedistServer) -> None:
    seen = meet(server, Encoded("x-gzip"))
    assert (seen.headers["content-encoding"], seen.body) == ("x-gzip", DATA)
    seen = meet(server, Encoded(truly=True))
    assert (seen.headers["content-encoding"], gzip.decompress(seen.body)) == ("gzip", DATA)
    assert seen.headers["content-length"] == str(len(seen.body))


@pytest.mark.parametrize(
    ("fault", "status", "content_range", "body"),
    [
        (IgnoreRange(), 200, None, DATA),
        (RefuseRange(), 416, f"bytes */{SIZE}", None),
        (WrongRange(start_by=-50), 206, f"bytes 50-{SIZE - 1}/{SIZE}", DATA[100:]),
        (WrongRange(start_by=-50, bytes_too=True), 206, f"bytes 50-{SIZE - 1}/{SIZE}", DATA[50:]),
        (WrongRange(total_by=7), 206, f"bytes 100-{SIZE - 1}/{SIZE + 7}", DATA[100:]),
        (NoContentRange(), 206, None, DATA[100:]),
    ],
    ids=["ignored", "refused", "other-start", "other-bytes", "other-total", "unsaid"],
)
def test_ranges_go_wrong(
    server: RedistServer, fault: Fault, status: int, content_range: str | None, body: bytes | None
) -> None:
    seen = meet(server, fault, FROM_100)
    assert seen.status == status
    assert seen.headers.get("content-range") == content_range
    assert body is None or seen.body == body


@pytest.mark.parametrize("fault", [RefuseRange(), WrongRange(start_by=5), MultipartRange()])
def test_range_faults_leave_other_requests_alone(server: RedistServer, fault: Fault) -> None:
    seen = meet(server, fault)
    assert (seen.status, seen.body) == (200, DATA)


def test_multipart_range(server: RedistServer) -> None:
    seen = meet(server, MultipartRange(), FROM_100)
    assert seen.headers["content-type"] == "multipart/byteranges; boundary=part"
    assert "content-range" not in seen.headers
    head, _, rest = seen.body.partition(b"\r\n\r\n")
    assert f"Content-Range: bytes 100-{SIZE - 1}/{SIZE}".encode() in head
    assert rest == DATA[100:] + b"\r\n--part--\r\n"


def test_changed_bytes_have_another_etag_and_honour_if_range_or_not(server: RedistServer) -> None:
    old = ask(server.url + NAME).headers["etag"]
    resume = FROM_100 | {"If-Range": old}
    other = DATA[::-1]
    honest = meet(server, Changed(other), resume)
    assert (honest.status, honest.body) == (200, other)
    deaf = meet(server, Changed(other, etag='"b"', deaf=True), resume)
    assert (deaf.status, deaf.body, deaf.headers["etag"]) == (206, other[100:], '"b"')


def test_flipped_turns_one_byte_and_tells_nobody(server: RedistServer) -> None:
    good = ask(server.url + NAME)
    bad = meet(server, Flipped(at=200))
    assert bad.headers["etag"] == good.headers["etag"]
    assert [index for index in range(SIZE) if bad.body[index] != DATA[index]] == [200]
    assert meet(server, Flipped(at=200), FROM_100).body == bad.body[100:]


@pytest.mark.parametrize(
    ("fault", "body"), [(Truncated(60), DATA[:60]), (Truncated(0), b""), (Extra(b"more"), DATA + b"more")]
)
def test_other_sizes_are_announced_consistently(server: RedistServer, fault: Fault, body: bytes) -> None:
    seen = meet(server, fault)
    assert (seen.status, seen.body, seen.headers["content-length"]) == (200, body, str(len(body)))


def test_together_joins_faults(server: RedistServer) -> None:
    seen = meet(server, Together(Truncated(60), Headers({"Age": "9"}), Cut(20)))
    assert (seen.headers["age"], seen.headers["content-length"], seen.body) == ("9", "60", DATA[:20])


def test_before_runs_at_the_request(server: RedistServer) -> None:
    seen = meet(server, Before(lambda: (server.directory / NAME).write_bytes(b"fresh")))
    assert seen.body == b"fresh"


def test_faults_are_taken_in_turn_and_then_all_is_well(server: RedistServer) -> None:
    server.fail(NAME, Status(503), Normal(), Status(500))
    assert [ask(server.url + NAME).status for _ in range(5)] == [503, 200, 500, 200, 200]


def test_a_fault_may_last_behind_a_queue_until_healed(server: RedistServer) -> None:
    server.always(NAME, Status(503))
    server.fail(NAME, Status(429))
    assert [ask(server.url + NAME).status for _ in range(3)] == [429, 503, 503]
    server.heal()
    assert ask(server.url + NAME).status == 200


def test_the_longest_suffix_decides(server: RedistServer) -> None:
    server.always("", Status(500))
    server.always(NAME, Status(503))
    assert ask(server.url + NAME).status == 503
    assert ask(server.url + "other").status == 500
