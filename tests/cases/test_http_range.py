"""Cases of the kind "http" in which a partial is there: every wrong answer to a request for the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from cases.ground import ARCHIVE, LABEL, ranges
from cli.ground import partials
from redist.faults import (
    Changed,
    Chunked,
    Cut,
    Fault,
    Flipped,
    Headers,
    IgnoreRange,
    MultipartRange,
    NoContentRange,
    NoLength,
    RefuseRange,
    Status,
    Together,
    WrongRange,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cases.ground import Fetch
    from redist import RedistServer, RedistTree
    from redist.exchange import Reply

REST = "bytes=1000-"


@dataclass(frozen=True)
class Piece(Fault):
    """206 with fewer bytes than were asked for, truly told (RFC 9110, section 15.3.7)."""

    size: int

    def reply(self, reply: Reply, /) -> Reply:
        if reply.status != 206:
            return reply
        start, total = reply.body.start, reply.headers["Content-Range"].rpartition("/")[2]
        told = {"Content-Range": f"bytes {start}-{start + self.size - 1}/{total}"}
        return replace(reply, body=reply.body.first(self.size)).with_headers(told)


def interrupted(server: RedistServer, fetch: Fetch, fault: Fault) -> Path:
    """Let a run end after ``fault``, and return the partial that it leaves."""
    server.fail(ARCHIVE, fault)
    fetch.refused(4, LABEL, "--retries", "0", resumable=True)
    (partial,) = partials(fetch.root)
    return partial


ANSWERS = {
    "206 with the rest": (Fault(), []),
    "206 with the rest in chunks": (Chunked(), []),
    "206 with the rest until the end": (NoLength(), []),
    "206 with a piece of it": (Piece(500), ["bytes=1500-"]),
    "206 cut": (Cut(500), ["bytes=1500-"]),
    "200 and everything": (IgnoreRange(), []),
    "200 and everything in chunks": (Together(IgnoreRange(), Chunked()), []),
    "200 and everything, cut early": (Together(IgnoreRange(), Cut(500)), ["bytes=500-"]),
    "206 from earlier on": (WrongRange(start_by=-100, bytes_too=True), [None]),
    "206 from later on": (WrongRange(start_by=100, bytes_too=True), [None]),
    "206 that says another start": (WrongRange(start_by=7), [None]),
    "206 of another total": (WrongRange(total_by=5), [None]),
    "206 with other bytes": (Flipped(1500), [None]),
    "206 without Content-Range": (NoContentRange(), [None]),
    "206 with a senseless Content-Range": (Headers({"Content-Range": "lines 1-2/3"}), [None]),
    "206 of nothing": (Status(206, body=b""), [None]),
    "206 multipart": (MultipartRange(), [None]),
    "416": (RefuseRange(), [None]),
    "416 without a total": (Status(416), [None]),
}


@pytest.mark.parametrize(("answer", "later"), ANSWERS.values(), ids=ANSWERS)
def test_C26_whatever_answers_a_range_the_archive_is_whole(
    redist_server: RedistServer, fetch: Fetch, answer: Fault, later: list[str | None]
) -> None:
    redist_server.fail(ARCHIVE, Cut(1000), answer)
    fetch.installed()
    assert ranges(redist_server) == [None, REST, *later]


COMPLETE: dict[str, tuple[Callable[[bytes], bytes], list[str | None]]] = {
    "right": (lambda whole: whole, []),
    "wrong in its last byte": (lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]), [None]),
    "too long": (lambda whole: whole + b"surplus", [None]),
}


@pytest.mark.parametrize(("spoil", "later"), COMPLETE.values(), ids=COMPLETE)
def test_C26_a_complete_partial_is_judged_before_anything_is_asked(
    *,
    redist_server: RedistServer,
    redist_tree: RedistTree,
    fetch: Fetch,
    spoil: Callable[[bytes], bytes],
    later: list[str | None],
) -> None:
    partial = interrupted(redist_server, fetch, Cut(1000))
    partial.write_bytes(spoil(redist_tree.archive_path(LABEL).read_bytes()))
    fetch.installed()
    assert ranges(redist_server) == [None, *later]


def test_C26_where_no_size_is_promised_a_416_may_mean_that_all_is_there(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch
) -> None:
    redist_tree.edit_manifest(LABEL, lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].pop("size"))
    partial = interrupted(redist_server, fetch, Cut(1000))
    partial.write_bytes(redist_tree.archive_path(LABEL).read_bytes())
    fetch.installed()
    assert [request.status for request in redist_server.requests(ARCHIVE)] == [200, 416]


VALIDATORS = {
    "an ETag": (Headers({"ETag": '"a"'}), '"a"'),
    "a date": (
        Headers({"Last-Modified": "Tue, 29 Sep 2026 16:00:00 GMT"}, without=("ETag",)),
        "Tue, 29 Sep 2026 16:00:00 GMT",
    ),
    "a date, the ETag being weak": (
        Headers({"ETag": 'W/"a"', "Last-Modified": "Tue, 29 Sep 2026 16:00:00 GMT"}),
        "Tue, 29 Sep 2026 16:00:00 GMT",
    ),
    "nothing": (Headers(without=("ETag", "Last-Modified")), None),
}


@pytest.mark.parametrize(("headers", "validator"), VALIDATORS.values(), ids=VALIDATORS)
def test_C29_the_partial_remembers_its_validator_and_the_promised_digest(
    *,
    redist_server: RedistServer,
    redist_tree: RedistTree,
    fetch: Fetch,
    headers: Fault,
    validator: str | None,
) -> None:
    partial = interrupted(redist_server, fetch, Together(headers, Cut(1000)))
    sha256 = redist_tree.manifest(LABEL)["cudnn"]["linux-x86_64"]["cuda13"]["sha256"]
    assert partial.name.startswith(f"{sha256}.")
    assert json.loads(partial.with_name(f"{partial.name}.json").read_bytes())["validator"] == validator
    fetch.installed()
    assert redist_server.requests(ARCHIVE)[1].headers.get("if-range") == validator


@pytest.fixture
def others(redist_tree: RedistTree) -> bytes:
    """As many bytes as the archive has, but others."""
    return bytes(redist_tree.archive_path(LABEL).stat().st_size)


@pytest.mark.parametrize(
    ("etag", "deaf", "asked"),
    [
        ('"b"', True, [None, REST, None]),
        ('"a"', True, [None, REST, None]),
        ('"b"', False, [None, REST, None]),
    ],
    ids=["deaf to If-Range", "deaf, and the ETag did not change", "heeds If-Range"],
)
def test_C29_the_tail_of_another_file_is_never_glued_on(
    *,
    redist_server: RedistServer,
    fetch: Fetch,
    others: bytes,
    etag: str,
    deaf: bool,
    asked: list[str | None],
) -> None:
    interrupted(redist_server, fetch, Together(Headers({"ETag": '"a"'}), Cut(1000)))
    redist_server.fail(ARCHIVE, Changed(others, etag=etag, deaf=deaf))
    fetch.installed()
    assert ranges(redist_server) == asked
    assert redist_server.requests(ARCHIVE)[1].headers["if-range"] == '"a"'


def test_C29_a_digest_that_stays_wrong_is_told_after_exactly_one_clean_start(
    redist_server: RedistServer, fetch: Fetch, others: bytes
) -> None:
    interrupted(redist_server, fetch, Together(Headers({"ETag": '"a"'}), Cut(1000)))
    redist_server.always(ARCHIVE, Changed(others, etag='"a"', deaf=True))
    assert "sha256 is " in fetch.refused(5)
    assert ranges(redist_server) == [None, REST, None]
