"""Resuming, retrying and giving up: what the server's log and the partial say of one download."""

from __future__ import annotations

import hashlib
import random
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import (
    Changed,
    Chunked,
    Cut,
    Delay,
    Extra,
    Fault,
    Headers,
    IgnoreRange,
    MultipartRange,
    NoContentRange,
    NoLength,
    Page,
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
from source.ground import HASTY, QUICK, patience_with

from cudnn_redist import TransferOptions
from cudnn_redist.digest import Expected, Judge
from cudnn_redist.errors import ArchiveWithdrawn, SizeMismatch, TransferError, TransientTransferError
from cudnn_redist.source.download import Download, Rewound, Stopped
from cudnn_redist.source.follow import Follower
from cudnn_redist.source.http import HttpSource
from cudnn_redist.source.partial import Partial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SIZE = 1_000_000
DATA = random.Random(7).randbytes(SIZE)
SHA = hashlib.sha256(DATA).hexdigest()
NAME = "x.tar.xz"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedistServer]:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / NAME).write_bytes(DATA)
    with RedistServer(tmp_path / "tree") as server:
        yield server


@pytest.fixture
def partial(tmp_path: Path) -> Iterator[Partial]:
    with Partial.claim(tmp_path / "partial", SHA) as partial:
        yield partial


def download(
    server: RedistServer,
    source: HttpSource,
    partial: Partial,
    *,
    size: int | None = SIZE,
    options: TransferOptions = QUICK,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Download:
    expected = Expected(sha256=SHA, size=size)
    return Download(partial, server.url + NAME, expected, source=source, options=options, on_bytes=on_bytes)


def whole(partial: Partial) -> bool:
    return partial.read_at(SIZE + 1, 0) == DATA


def ranges(server: RedistServer) -> list[str | None]:
    return [request.range for request in server.log]


def begun(partial: Partial, server: RedistServer, size: int, validator: str | None = None) -> None:
    """Let the partial hold the first bytes, as an earlier run left them."""
    partial.write_at(DATA[:size], 0)
    if validator is not None:
        partial.note(server.url + NAME, validator)


def etag(server: RedistServer, source: HttpSource) -> str | None:
    with source.open_archive(server.url + NAME, line=source.line()) as body:
        return body.validator


@pytest.mark.parametrize(
    "fault",
    [
        Cut(300_000),
        Reset(300_000),
        Stall(300_000),
        NoLength(300_000),
        Chunked(300_000),
        Chunked(300_000, cut=True),
    ],
    ids=repr,
)
def test_what_is_interrupted_goes_on_where_it_was(
    fault: Fault, server: RedistServer, partial: Partial
) -> None:
    with HttpSource(patience_with(fault)) as source:
        validator = etag(server, source)
        server.fail(NAME, fault, fault)
        download(server, source, partial).run()

    assert whole(partial)
    first, *later = server.log[1:]
    assert first.range is None
    if not isinstance(fault, Reset):
        # A reset takes back what the client has not read yet, which may be everything.
        assert all(request.range and request.headers["if-range"] == validator for request in later)
        assert sum(request.sent for request in server.log[1:]) == SIZE


def test_without_a_strong_etag_the_date_is_the_validator(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    server.always(NAME, Headers({"ETag": 'W/"weak"'}))
    server.fail(NAME, Together(Headers({"ETag": 'W/"weak"'}), Cut(300_000)))

    download(server, source, partial).run()

    assert server.log[1].headers["if-range"].endswith("GMT")
    assert whole(partial)


def test_a_rest_that_names_no_version_leaves_the_one_of_the_beginning(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    validator = etag(server, source)
    nameless = Together(Headers(without=("ETag", "Last-Modified")), Cut(300_000))
    server.fail(NAME, Cut(300_000), nameless)

    download(server, source, partial).run()

    assert whole(partial)
    assert [request.headers.get("if-range") for request in server.log[1:]] == [None, validator, validator]


def test_twenty_cuts_cost_less_than_a_tenth(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    noise = random.Random(20)
    for _ in range(20):
        server.fail(NAME, Cut(noise.randrange(1, SIZE // 12)))

    download(server, source, partial, options=TransferOptions(retries=20, retry_delay=0.001)).run()

    assert whole(partial)
    assert len(server.log) == 21
    assert sum(request.sent for request in server.log) < 1.1 * SIZE


@pytest.mark.parametrize(
    "fault",
    [
        WrongRange(start_by=-100, bytes_too=True),
        WrongRange(start_by=7),
        NoContentRange(),
        MultipartRange(),
        RefuseRange(),
        Changed(DATA, etag='"other"', deaf=True),
    ],
    ids=["earlier", "later", "untold", "multipart", "refused", "changed-etag"],
)
def test_a_wrong_answer_to_a_range_costs_one_more_request(
    fault: Fault, server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    begun(partial, server, 300_000, '"v"' if isinstance(fault, Changed) else None)
    server.fail(NAME, fault)

    download(server, source, partial).run()

    assert whole(partial)
    assert ranges(server) == ["bytes=300000-", None]


@pytest.mark.parametrize("fault", [IgnoreRange(), Fault()], ids=["ignores-range", "changed-etag"])
def test_a_whole_answer_to_a_range_is_used_as_it_comes(
    fault: Fault, server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    begun(partial, server, 300_000, '"an older one"')
    server.fail(NAME, fault)
    download_ = download(server, source, partial)

    download_.run()

    assert whole(partial)
    assert ranges(server) == ["bytes=300000-"]
    assert download_.generation == 1


def test_a_follower_that_was_ahead_learns_of_the_new_start(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    begun(partial, server, 300_000)
    server.fail(NAME, Together(Delay(0.2), IgnoreRange()))
    download_ = download(server, source, partial)
    runner = threading.Thread(target=download_.run)
    follower = Follower(download_, Judge(Expected(sha256=SHA, size=SIZE), where="x"))
    assert len(follower.read(300_000)) == 300_000
    runner.start()
    with pytest.raises(Rewound):
        follower.read(1)
    again = Follower(download_, Judge(Expected(sha256=SHA, size=SIZE), where="x"))
    assert again.peek(600) == DATA[:600]
    again.finish()
    again.finish()
    runner.join()

    assert again.received == SIZE
    assert again.read(1) == b""


def test_another_total_is_another_archive(server: RedistServer, source: HttpSource, partial: Partial) -> None:
    begun(partial, server, 300_000)
    server.always(NAME, WrongRange(total_by=5))
    with pytest.raises(SizeMismatch) as caught:
        download(server, source, partial).run()

    assert (caught.value.expected, caught.value.actual) == (SIZE, SIZE + 5)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Page(), "looks like a web page"),
        (Page("TLS handshake failed", "text/plain"), "looks like text"),
        (WrongLength(-1), f"offers {SIZE - 1} bytes"),
        (Extra(), f"offers {SIZE + 7} bytes"),
        (Together(Extra(), Chunked()), "more bytes than the promised"),
        (Together(Extra(), NoLength(), Headers({"Age": "99"})), "age: 99"),
        (Truncated(1000), "offers 1000 bytes"),
    ],
    ids=["page", "text", "short-length", "long", "long-chunked", "long-no-length", "truncated"],
)
def test_another_size_is_seen_before_or_as_it_comes(
    fault: Fault, told: str, server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    server.always(NAME, fault)
    with pytest.raises(SizeMismatch, match=told) as caught:
        download(server, source, partial).run()

    assert caught.value.expected == SIZE
    assert len(server.log) == 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Cut(1000), "incomplete: got 3000 of 1000000 bytes"),
        (NoLength(1000), r"incomplete: got 3000 of 1000000 bytes \(the answer ended\)"),
        (Chunked(1000), "incomplete: got 3000 of 1000000 bytes"),
        (Cut(0), "empty body: got 0 of 1000000 bytes"),
        (NoLength(0), "empty body: got 0 of 1000000 bytes"),
        (Stall(1000), "incomplete: got 3000 of 1000000 bytes .*ReadTimeout"),
        (Status(204, body=b""), "empty body"),
    ],
    ids=["cut", "no-length", "chunked", "empty", "empty-no-length", "stall", "204"],
)
def test_a_server_that_hangs_up_for_ever_is_left(
    fault: Fault, told: str, server: RedistServer, partial: Partial
) -> None:
    server.always(NAME, fault)
    options = replace(patience_with(fault), retries=2)
    with HttpSource(options) as source, pytest.raises(TransientTransferError, match=told):
        download(server, source, partial, options=options).run()

    assert len(server.log) == 3


@pytest.mark.parametrize("fault", [Cut(400_000), Together(IgnoreRange(), Cut(400_000))], ids=["416", "200"])
def test_the_same_bytes_again_are_no_progress(
    fault: Fault, server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    """A server that cuts each whole answer and refuses each rest is left after as many tries as any other."""
    for _ in range(20):
        server.fail(NAME, fault, RefuseRange() if isinstance(fault, Cut) else fault)
    with pytest.raises(TransientTransferError):
        download(server, source, partial).run()

    assert len(server.log) < 12


@pytest.mark.parametrize(
    "fault",
    [
        Together(NoLength(), Stall(SIZE)),
        Together(Chunked(), Stall(SIZE)),
        Chunked(SIZE, cut=True),
    ],
    ids=["silent", "silent-chunked", "no-last-chunk"],
)
def test_all_bytes_are_enough_whatever_the_end(fault: Fault, server: RedistServer, partial: Partial) -> None:
    server.fail(NAME, fault)

    with HttpSource(HASTY) as source:
        download(server, source, partial).run()

    assert whole(partial)
    assert len(server.log) == 1


def test_a_complete_partial_asks_for_nothing(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    begun(partial, server, SIZE)

    download(server, source, partial).run()

    assert server.log == []


def test_a_partial_that_is_too_large_starts_again(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    partial.write_at(DATA + b"surplus", 0)

    download(server, source, partial).run()

    assert whole(partial)
    assert ranges(server) == [None]


def test_of_unknown_size_a_416_says_that_all_is_there(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    begun(partial, server, SIZE)

    download(server, source, partial, size=None).run()

    assert ranges(server) == [f"bytes={SIZE}-"]
    assert whole(partial)


@pytest.mark.parametrize("fault", [Cut(300_000), NoLength(), Chunked()], ids=repr)
def test_of_unknown_size_the_end_of_the_answer_counts(
    fault: Fault, server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    server.fail(NAME, fault)

    download(server, source, partial, size=None).run()

    assert whole(partial)


@pytest.mark.parametrize("status", [404, 410])
def test_a_withdrawn_archive_is_asked_for_once(
    status: int, server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    server.always(NAME, Status(status))
    with pytest.raises(ArchiveWithdrawn):
        download(server, source, partial).run()

    assert len(server.log) == 1


def test_a_206_to_a_plain_request_is_no_answer(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    server.always(NAME, Status(206, headers={"Content-Range": f"bytes 5-9/{SIZE}"}, body=b"12345"))
    with pytest.raises(TransferError, match="wrong answer"):
        download(server, source, partial).run()

    assert len(server.log) == 1


def test_a_crawling_server_is_asked_again(server: RedistServer, partial: Partial) -> None:
    server.fail(NAME, Trickle(2000))
    options = TransferOptions(retries=2, retry_delay=0.01, min_speed=100_000, speed_window=0.2)

    with HttpSource(options) as source:
        download(server, source, partial, options=options).run()

    assert whole(partial)
    assert ranges(server)[0] is None
    assert ranges(server)[1] not in (None, "bytes=0-")


def test_a_server_that_crawls_for_ever_is_left(server: RedistServer, partial: Partial) -> None:
    server.always(NAME, Trickle(2000))
    options = TransferOptions(retries=1, retry_delay=0.01, min_speed=100_000, speed_window=0.2)
    with (
        HttpSource(options) as source,
        pytest.raises(TransientTransferError, match=r"too slow: .* minimum 100000 bytes/s"),
    ):
        download(server, source, partial, options=options).run()


@pytest.mark.parametrize("fault", [Stall(1000), Delay(60), Trickle(100), Status(503)], ids=repr)
def test_stopping_ends_run_and_followers_promptly(
    fault: Fault, server: RedistServer, partial: Partial
) -> None:
    server.always(NAME, fault)
    patient = TransferOptions(retry_delay=60, stall_timeout=60)
    with HttpSource(patient) as source:
        download_ = download(server, source, partial, options=patient)
        follower = Follower(download_, Judge(Expected(sha256=SHA, size=SIZE), where="x"))
        outcome: list[BaseException] = []

        def follow() -> None:
            try:
                follower.finish()
            except Stopped as error:
                outcome.append(error)

        reader = threading.Thread(target=follow)
        reader.start()
        threading.Timer(0.3, download_.stop).start()
        started = time.monotonic()
        with pytest.raises(Stopped):
            download_.run()
        reader.join(20)

    assert time.monotonic() - started < 20
    assert len(outcome) == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError, Stopped),
        (OSError, Stopped),
        (TransferError, Stopped),
        (KeyboardInterrupt, KeyboardInterrupt),
    ],
    ids=lambda kind: kind.__name__,
)
def test_after_a_stop_every_error_but_the_users_own_is_that_stop(
    error: type[BaseException],
    told: type[BaseException],
    server: RedistServer,
    source: HttpSource,
    partial: Partial,
) -> None:
    def stop(_: int) -> None:
        download_.stop()
        raise error("the line was cut")

    download_ = download(server, source, partial, on_bytes=stop)
    with pytest.raises(told):
        download_.run()


def test_a_failed_run_sends_its_followers_away(
    server: RedistServer, source: HttpSource, partial: Partial
) -> None:
    server.always(NAME, Status(403))
    download_ = download(server, source, partial)
    with pytest.raises(TransferError):
        download_.run()
    with pytest.raises(Stopped):
        Follower(download_, Judge(Expected(sha256=SHA, size=SIZE), where="x")).read(1)
