"""Manifests, indexes and archives over HTTP: one request each, unless the line or the server fails."""

from __future__ import annotations

import gzip
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import (
    Cut,
    Delay,
    Encoded,
    Flipped,
    Headers,
    NoLength,
    Page,
    Raw,
    Reset,
    Stall,
    Status,
    Together,
    Trickle,
)
from source.ground import (
    QUICK,
    TAR,
    archive_path,
    archives,
    cut_when_asked,
    get,
    nothing_left,
    patience_with,
    read,
    redist,
)

from cudnn_redist import labels
from cudnn_redist.errors import (
    ArchiveWithdrawn,
    LabelNotFound,
    ManifestError,
    TransferError,
    TransientTransferError,
)
from cudnn_redist.source.base import MANIFEST_LIMIT, NoIndex, RangeRefused, TransferOptions
from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree
    from redist.faults import Fault

NAME = "redistrib_9.27.0.json"


def test_a_manifest_comes_as_it_is(
    redist_tree: RedistTree, redist_server: RedistServer, source: HttpSource
) -> None:
    data = source.read_manifest(redist(redist_server) + NAME)

    assert data == redist_tree.manifest_path("9.27.0").read_bytes()
    (request,) = redist_server.log
    assert request.headers["accept-encoding"] == "identity"
    assert "cache-control" not in request.headers


def test_a_fresh_manifest_is_asked_past_every_cache(redist_server: RedistServer, source: HttpSource) -> None:
    source.read_manifest(redist(redist_server) + NAME, fresh=True)

    assert redist_server.log[0].headers["cache-control"] == "no-cache"


def test_a_manifest_may_be_encoded(redist_server: RedistServer, source: HttpSource) -> None:
    plain = source.read_manifest(redist(redist_server) + NAME)
    redist_server.always(NAME, Encoded("gzip", truly=True))

    assert source.read_manifest(redist(redist_server) + NAME) == plain


def test_a_manifest_under_a_false_label_is_an_error_of_transfer(
    redist_server: RedistServer, source: HttpSource
) -> None:
    redist_server.always(NAME, Encoded("gzip"))
    with pytest.raises(TransferError, match="not gzip, though it is sent as that"):
        source.read_manifest(redist(redist_server) + NAME)


@pytest.mark.parametrize(
    "fault", [Cut(100), Reset(100), Stall(100), Raw(), Status(503), Status(429)], ids=repr
)
def test_a_manifest_is_asked_for_again(
    fault: Fault, redist_tree: RedistTree, redist_server: RedistServer
) -> None:
    redist_server.fail(NAME, fault, fault)

    with HttpSource(patience_with(fault)) as source:
        data = source.read_manifest(redist(redist_server) + NAME)

    assert data == redist_tree.manifest_path("9.27.0").read_bytes()
    assert len(redist_server.log) == 3


def test_patience_with_a_manifest_ends(redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.always(NAME, Status(503))
    with pytest.raises(TransientTransferError) as caught:
        source.read_manifest(redist(redist_server) + NAME)

    assert caught.value.status == 503
    assert len(redist_server.log) == 1 + QUICK.retries


@pytest.mark.parametrize("status", [404, 410])
def test_a_missing_manifest_is_asked_for_once(
    status: int, redist_server: RedistServer, source: HttpSource
) -> None:
    redist_server.always(NAME, Status(status))
    with pytest.raises(LabelNotFound) as caught:
        source.read_manifest(redist(redist_server) + NAME)

    assert caught.value.where == redist(redist_server) + NAME
    assert len(redist_server.log) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 304, 300, 501])
def test_other_refusals_are_final(status: int, redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.always(NAME, Status(status))
    with pytest.raises(TransferError, match=f"HTTP {status}") as caught:
        source.read_manifest(redist(redist_server) + NAME)

    assert type(caught.value) is TransferError
    assert caught.value.status == status
    assert len(redist_server.log) == 1


@pytest.mark.parametrize("truly", [False, True], ids=["plain", "bomb"])
def test_an_endless_manifest_is_refused(*, truly: bool, tmp_path: Path, source: HttpSource) -> None:
    data = b" " * (MANIFEST_LIMIT + 1)
    (tmp_path / NAME).write_bytes(gzip.compress(data) if truly else data)
    with RedistServer(tmp_path) as server:
        if truly:
            server.always(NAME, Encoded("gzip"))
        with pytest.raises(ManifestError, match="more than"):
            source.read_manifest(server.url + NAME)


@pytest.mark.parametrize("index", ["forbidden", "missing"])
def test_a_server_may_show_no_index(index: str, redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.index = index
    with pytest.raises(NoIndex):
        source.read_labels(redist(redist_server))


def test_an_index_that_wants_a_login_is_no_missing_index(redist_server: RedistServer) -> None:
    redist_server.always("/redist/", Status(401))
    with pytest.raises(TransferError, match=r"HTTP 401 .*wants a login") as caught:
        labels(sources=[redist(redist_server)], transfer=QUICK)

    assert (caught.value.exit_code, caught.value.status) == (4, 401)


UNFINISHED_NAME = gzip.compress(b"")[:3] + b"\x08" + bytes(6) + b"n" * 5000


@pytest.mark.parametrize("name", [NAME, ""], ids=["manifest", "index"])
@pytest.mark.parametrize(
    "fault",
    [Trickle(500), Together(Status(200, {"Content-Encoding": "gzip"}, UNFINISHED_NAME), Trickle(500))],
    ids=["plain", "decodes to nothing"],
)
def test_a_server_that_drips_is_left(fault: Fault, name: str, redist_server: RedistServer) -> None:
    redist_server.always(name or "/redist/", fault)
    options = TransferOptions(retries=1, retry_delay=0.01, min_speed=100_000, speed_window=0.2)
    with HttpSource(options) as source:
        read = source.read_manifest if name else source.read_labels
        with pytest.raises(TransientTransferError, match="too slow: ") as caught:
            read(redist(redist_server) + name)

    assert caught.value.where == redist(redist_server) + name
    assert len(redist_server.log) == 2


def test_an_index_that_fails_is_an_error(redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.always("/redist/", Status(400))
    with pytest.raises(TransferError, match="400"):
        source.read_labels(redist(redist_server))


def test_retry_after_is_respected(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.fail(TAR, Status(503, headers={"Retry-After": "1"}))
    started = time.monotonic()

    get(redist(redist_server), root=tmp_path)

    assert time.monotonic() - started >= 1
    assert [request.status for request in archives(redist_server)] == [503, 200]


def test_a_wish_to_wait_for_hours_is_reported(redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.always(NAME, Status(429, headers={"Retry-After": "7200"}))
    with pytest.raises(TransientTransferError) as caught:
        source.read_manifest(redist(redist_server) + NAME)

    assert caught.value.retry_after == 7200
    assert len(redist_server.log) == 1


def test_the_rest_is_asked_for_under_its_validator(file_server: RedistServer, source: HttpSource) -> None:
    with source.open_archive(file_server.url + "x", line=source.line()) as body:
        validator = body.validator
    url = file_server.url + "x"

    assert read(source, url, offset=990, validator=validator) == bytes(range(240, 250))
    request = file_server.log[-1]
    assert (request.range, request.headers["if-range"]) == ("bytes=990-", validator)


def test_a_whole_answer_to_a_range_says_where_it_begins(
    file_server: RedistServer, source: HttpSource
) -> None:
    with source.open_archive(file_server.url + "x", line=source.line(), offset=10, validator='"old"') as body:
        assert (body.start, body.total) == (0, 1000)


@pytest.mark.parametrize(("offset", "total"), [(1000, 1000), (2000, 1000)])
def test_no_byte_there_tells_the_total(
    offset: int, total: int, file_server: RedistServer, source: HttpSource
) -> None:
    with pytest.raises(RangeRefused) as caught:
        read(source, file_server.url + "x", offset=offset)

    assert caught.value.total == total


def test_a_416_to_a_plain_request_is_a_refusal(file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Status(416))
    with pytest.raises(TransferError, match="416"):
        read(source, file_server.url + "x")


def test_an_answer_without_length_has_no_total(file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", NoLength())
    with source.open_archive(file_server.url + "x", line=source.line()) as body:
        assert body.total is None


def test_a_page_for_a_manifest_is_not_json(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(NAME, Page())
    with pytest.raises(ManifestError, match="not JSON but a page"):
        get(redist(redist_server), root=tmp_path)


@pytest.mark.parametrize(
    "fault",
    [
        Encoded("gzip"),
        Encoded("x-gzip"),
        Encoded("xz"),
        Encoded("identity"),
        Headers({"Content-Encoding": "br"}),
    ],
    ids=repr,
)
def test_an_archive_is_never_decoded(fault: Fault, redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(TAR, fault)

    assert get(redist(redist_server), root=tmp_path).verify() == ()
    assert archives(redist_server)[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("fault", [Stall(10), Delay(60), Trickle(1)], ids=repr)
def test_a_line_that_is_cut_ends_at_once(fault: Fault, file_server: RedistServer) -> None:
    file_server.always("x", fault)
    with ExitStack() as stack:
        source = stack.enter_context(HttpSource(TransferOptions(stall_timeout=60)))
        line = source.line()
        cutter = cut_when_asked(file_server, line)
        started = time.monotonic()
        with pytest.raises(TransferError), source.open_archive(file_server.url + "x", line=line) as body:
            list(body)
        cutter.join()

    assert time.monotonic() - started < 20


def test_a_line_that_was_cut_waits_for_nothing_any_more(file_server: RedistServer) -> None:
    file_server.always("x", Delay(60))
    with HttpSource(TransferOptions(stall_timeout=60)) as source:
        line = source.line()
        line.cut()
        started = time.monotonic()
        with pytest.raises(TransferError), source.open_archive(file_server.url + "x", line=line):
            pass

    assert time.monotonic() - started < 20


def test_connections_are_used_again(redist_server: RedistServer, tmp_path: Path) -> None:
    get(redist(redist_server), root=tmp_path, platform="linux-x86_64")

    assert len({request.connection for request in redist_server.requests(".json")}) == 1


def test_a_withdrawn_archive_is_asked_for_once(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(TAR, Status(404))
    with pytest.raises(ArchiveWithdrawn, match=r"cudnn 9\.27\.0 for linux-x86_64") as caught:
        get(redist(redist_server), root=tmp_path)

    assert caught.value.exit_code == 3
    assert str(caught.value.where).startswith(redist(redist_server))
    assert len(archives(redist_server)) == 1
    assert nothing_left(tmp_path)


def test_a_flipped_byte_is_no_error_of_transfer(redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.always(TAR, Flipped(0))

    assert read(source, redist_server.url + archive_path(redist_server))[0] == 0xFD ^ 0xFF
