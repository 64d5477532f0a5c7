from __future__ import annotations

import gzip
import logging
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest
import respx
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
    Redirect,
    Reset,
    Stall,
    Status,
    Trickle,
)
from source.ground import QUICK, TAR, archives, get, nothing_left, redist

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
    from collections.abc import Iterator
    from pathlib import Path

    from redist import RedistTree
    from redist.faults import Fault

NAME = "redistrib_9.27.0.json"


@pytest.fixture
def source() -> Iterator[HttpSource]:
    with HttpSource(QUICK) as source:
        yield source


@pytest.fixture
def file_server(tmp_path: Path) -> Iterator[RedistServer]:
    """A server of one file of a thousand bytes."""
    (tmp_path / "x").write_bytes(bytes(range(250)) * 4)
    with RedistServer(tmp_path) as server:
        yield server


def read(source: HttpSource, url: str, *, offset: int = 0, validator: str | None = None) -> bytes:
    with source.open_archive(url, line=source.line(), offset=offset, validator=validator) as body:
        return b"".join(body)


# What httpx raises becomes ours, whatever it is and whenever it comes.


def exceptions_of(base: type[httpx.HTTPError]) -> list[type[httpx.HTTPError]]:
    below = [found for child in base.__subclasses__() for found in exceptions_of(child)]
    return [base, *below]


TRANSPORT = exceptions_of(httpx.TransportError)
PERMANENT = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.ProxyError)
GENERAL = (httpx.TransportError, httpx.ProtocolError)


class Breaking(httpx.SyncByteStream):
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        yield b"first"
        raise self._error


def is_permanent(kind: type[httpx.HTTPError]) -> bool:
    return kind in GENERAL or issubclass(kind, PERMANENT)


@pytest.mark.parametrize("kind", TRANSPORT, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("moment", ["request", "iteration"])
def test_every_transport_error_is_translated(kind: type[httpx.TransportError], moment: str) -> None:
    url = "http://mirror.example/x?token=secret"
    error = kind("the reason")
    effect = error if moment == "request" else httpx.Response(200, stream=Breaking(error))
    with respx.mock(using="httpx") as router, HttpSource(QUICK) as source:
        router.get(url).mock(side_effect=[effect])
        with pytest.raises(TransferError, match="the reason") as caught:
            read(source, url)

    assert isinstance(caught.value, TransientTransferError) is not is_permanent(kind)
    assert caught.value.__cause__ is error
    assert caught.value.where == "http://mirror.example/x"


@pytest.mark.parametrize(
    "kind", [httpx.DecodingError, httpx.TooManyRedirects, httpx.InvalidURL, UnicodeError]
)
def test_other_errors_of_the_library_are_not_transient(kind: type[Exception]) -> None:
    with respx.mock(using="httpx") as router, HttpSource(QUICK) as source:
        router.get("http://mirror.example/x").mock(side_effect=[kind("why")])
        with pytest.raises(TransferError, match="why") as caught:
            read(source, "http://mirror.example/x")

    assert type(caught.value) is TransferError


@pytest.mark.parametrize("host", ["a..b", f"{'a' * 64}.example", "xn--a", "a b", "\u00e9\u0301..x"])
def test_a_host_that_cannot_be_one_is_no_bug(host: str, source: HttpSource) -> None:
    with pytest.raises(TransferError):
        source.read_manifest(f"http://{host}/{NAME}")


# Reading manifests and indexes.


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
    with pytest.raises(TransferError, match="DecodingError"):
        source.read_manifest(redist(redist_server) + NAME)


@pytest.mark.parametrize(
    "fault", [Cut(100), Reset(100), Stall(100), Raw(), Status(503), Status(429)], ids=repr
)
def test_a_manifest_is_asked_for_again(
    fault: Fault, redist_tree: RedistTree, redist_server: RedistServer, source: HttpSource
) -> None:
    redist_server.fail(NAME, fault, fault)

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


def test_an_index_that_fails_is_an_error(redist_server: RedistServer, source: HttpSource) -> None:
    redist_server.always("/redist/", Status(400))
    with pytest.raises(TransferError, match="400"):
        source.read_labels(redist(redist_server))


# C41: how long to wait, and when not to.


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


# Ranges.


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


# C32: redirects.


def test_a_redirect_to_another_port_keeps_the_range(file_server: RedistServer, source: HttpSource) -> None:
    with RedistServer(file_server.directory) as other:
        file_server.always("x", Redirect(other.url + "x", 307))

        assert read(source, file_server.url + "x", offset=990) == bytes(range(240, 250))
        assert other.log[0].range == "bytes=990-"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_relative_redirect(
    code: int, file_server: RedistServer, source: HttpSource, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cudnn_redist")
    file_server.fail("moved", Redirect("../x", code))

    assert len(read(source, file_server.url + "a/moved?token=secret")) == 1000
    assert f"{file_server.url}x" in caplog.text
    assert "secret" not in caplog.text


def test_a_loop_ends(file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Redirect("x"))
    with pytest.raises(TransferError, match="more than 10 redirects"):
        read(source, file_server.url + "x")

    assert len(file_server.log) == 11


@pytest.mark.parametrize(
    "to",
    [
        "ftp://u:secret@h/x",
        "file:///etc/passwd",
        "mailto:x@y",
        "http://[bad",
        "http://h:port/",
        "http://h:99999/",
    ],
)
def test_a_redirect_to_nowhere_is_refused(to: str, file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Redirect(to))
    with pytest.raises(TransferError) as caught:
        read(source, file_server.url + "x")

    assert "secret" not in str(caught.value)
    assert len(file_server.log) == 1


def test_a_redirect_without_a_target_is_no_success(file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Status(302))
    with pytest.raises(TransferError, match="HTTP 302"):
        read(source, file_server.url + "x")


def test_the_body_of_a_redirect_is_never_kept(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(TAR, Redirect("x.tar.xz"))
    with pytest.raises(TransferError):
        get(redist(redist_server), root=tmp_path)

    assert nothing_left(tmp_path)


# Logins.


def authorized(server: RedistServer) -> list[bool]:
    return ["authorization" in request.headers for request in server.log]


@pytest.mark.parametrize("how", ["url", "netrc"])
def test_a_login_goes_to_its_host_and_port_only(
    how: str, redist_server: RedistServer, tmp_path: Path, clean_environment: Path
) -> None:
    login, netrc = "", clean_environment / ".netrc"
    if how == "url":
        login = "me:s3cret%23@"
    else:
        netrc.write_text("machine 127.0.0.1 login me password s3cret#\n")
    redist_server.auth = ("me", "s3cret#")
    with RedistServer(redist_server.directory) as cdn:
        redist_server.always(TAR, Redirect(f"{cdn.url}cudnn/redist/"))
        path = get_path(redist_server)
        redist_server.always(TAR, Redirect(cdn.url + path))
        options = TransferOptions(retries=0, netrc=netrc)

        get(redist(redist_server, login), root=tmp_path, transfer=options)

        assert authorized(redist_server) == [True, True]
        assert authorized(cdn) == [False]


def get_path(server: RedistServer) -> str:
    (found,) = server.directory.rglob("*linux-x86_64-9.27.0.42_cuda13*.tar.xz")
    return found.relative_to(server.directory).as_posix()


def test_a_redirect_back_home_has_the_login_again(file_server: RedistServer, source: HttpSource) -> None:
    file_server.auth = ("me", "pw")
    with RedistServer(file_server.directory) as other:
        file_server.fail("a/x", Redirect(other.url + "b/x"))
        other.always("b/x", Redirect(file_server.url + "x"))

        read(source, file_server.url.replace("//", "//me:pw@") + "a/x")

    assert authorized(file_server) == [True, True]
    assert authorized(other) == [False]


def test_a_wrong_login_is_told_without_it(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.auth = ("me", "right")
    with pytest.raises(TransferError, match="HTTP 401") as caught:
        get(redist(redist_server, "me:wr0ng@"), root=tmp_path)

    assert caught.value.status == 401
    assert "wr0ng" not in str(caught.value)


def test_the_librarys_own_log_has_no_token(
    redist_server: RedistServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    get(redist(redist_server, "me:s3cret@") + "?token=t0ken", root=tmp_path)

    assert "HTTP Request: GET" in caplog.text
    assert "s3cret" not in caplog.text
    assert "t0ken" not in caplog.text


# C33, C30, C24: what the body is, whatever the headers say.


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


# Ending a request from another thread.


@pytest.mark.parametrize("fault", [Stall(10), Delay(20), Trickle(1)], ids=repr)
def test_a_line_that_is_cut_ends_at_once(fault: Fault, file_server: RedistServer) -> None:
    file_server.always("x", fault)
    with ExitStack() as stack:
        source = stack.enter_context(HttpSource(TransferOptions(stall_timeout=20)))
        line = source.line()
        timer = threading.Timer(0.2, line.cut)
        timer.start()
        started = time.monotonic()
        with pytest.raises(TransferError), source.open_archive(file_server.url + "x", line=line) as body:
            list(body)
        timer.join()

    assert time.monotonic() - started < 2


def test_a_line_that_was_cut_waits_for_nothing_any_more(file_server: RedistServer) -> None:
    file_server.always("x", Delay(20))
    with HttpSource(TransferOptions(stall_timeout=20)) as source:
        line = source.line()
        line.cut()
        started = time.monotonic()
        with pytest.raises(TransferError), source.open_archive(file_server.url + "x", line=line):
            pass

    assert time.monotonic() - started < 2


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

    assert read(source, redist_server.url + get_path(redist_server))[0] == 0xFD ^ 0xFF
