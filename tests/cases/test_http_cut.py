"""Cases of the kind "http" in which the line fails: a body that ends too early, with or without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cases.ground import ARCHIVE, LABEL, ranges
from redist.faults import Chunked, Cut, Fault, Flipped, NoLength, Reset, Stall, Truncated, WrongLength

if TYPE_CHECKING:
    from cases.ground import Fetch
    from redist import RedistServer, RedistTree

RETRIES = ("--retries", "1")


def impatience(fault: Fault | type[Fault]) -> tuple[str, ...]:
    """Return the words that soon leave a server which falls silent; on a busy machine any other may take its time."""
    return ("--stall-timeout", "1") if fault is Stall or isinstance(fault, Stall) else ()


@pytest.fixture
def size(redist_tree: RedistTree) -> int:
    """How many bytes the archive has."""
    return redist_tree.archive_path(LABEL).stat().st_size


@pytest.mark.parametrize(
    "fault", [Cut(20_000), Chunked(20_000, cut=True), Stall(20_000), Reset(20_000)], ids=repr
)
def test_C23_cut_mid_body_is_resumed(
    redist_server: RedistServer, fetch: Fetch, size: int, fault: Fault
) -> None:
    redist_server.fail(ARCHIVE, fault, fault)
    fetch.installed(LABEL, *impatience(fault))
    assert len(ranges(redist_server)) == 3
    if not isinstance(fault, Reset):
        # A reset takes back what the client has not read yet, which may be everything.
        assert ranges(redist_server) == [None, "bytes=20000-", "bytes=40000-"]
        assert sum(request.sent for request in redist_server.requests(ARCHIVE)) == size


@pytest.mark.parametrize("fault", [Cut(20_000), Chunked(20_000, cut=True), Stall(20_000)], ids=repr)
def test_C23_tries_are_bounded_and_the_next_run_resumes(
    redist_server: RedistServer, fetch: Fetch, size: int, fault: Fault
) -> None:
    redist_server.always(ARCHIVE, fault)
    told = fetch.refused(4, LABEL, *RETRIES, *impatience(fault), resumable=True)
    assert f"incomplete: got 40000 of {size} bytes (" in told
    assert ranges(redist_server) == [None, "bytes=20000-"]
    redist_server.heal()
    fetch.installed()
    assert ranges(redist_server) == [None, "bytes=20000-", "bytes=40000-"]


ENDED = pytest.mark.parametrize(
    "fault", [NoLength(1000), Chunked(1000)], ids=["close-delimited", "last chunk too early"]
)


@ENDED
def test_C24_a_body_that_ends_in_good_order_but_early_is_resumed(
    redist_server: RedistServer, fetch: Fetch, fault: Fault
) -> None:
    redist_server.fail(ARCHIVE, fault)
    fetch.installed()
    assert ranges(redist_server) == [None, "bytes=1000-"]


@ENDED
def test_C24_a_short_body_is_never_taken_for_the_archive(
    redist_server: RedistServer, fetch: Fetch, size: int, fault: Fault
) -> None:
    redist_server.always(ARCHIVE, fault)
    told = fetch.refused(4, LABEL, *RETRIES, resumable=True)
    assert f"incomplete: got 2000 of {size} bytes (the answer ended)" in told


@pytest.mark.parametrize(
    ("fault", "offers"), [(Truncated(1000), "1000"), (WrongLength(-5), ""), (WrongLength(5), "")], ids=repr
)
def test_C24_another_length_than_the_promised_is_refused_whatever_comes(
    redist_server: RedistServer, fetch: Fetch, size: int, fault: Fault, offers: str
) -> None:
    redist_server.always(ARCHIVE, fault)
    told = fetch.refused(5)
    assert f"the server offers {offers}" in told
    assert f"the manifest promises {size}" in told


def test_C25_a_cut_line_is_told_as_incomplete(redist_server: RedistServer, fetch: Fetch, size: int) -> None:
    redist_server.always(ARCHIVE, Cut(size * 6 // 10))
    told = fetch.refused(4, LABEL, "--retries", "0", resumable=True)
    assert told.startswith("download: ")
    assert f"incomplete: got {size * 6 // 10} of {size} bytes" in told


@pytest.mark.parametrize("fault", [Cut(0), NoLength(0), Chunked(0)], ids=repr)
def test_C25_nothing_at_all_is_told_as_an_empty_body(
    redist_server: RedistServer, fetch: Fetch, size: int, fault: Fault
) -> None:
    redist_server.always(ARCHIVE, fault)
    told = fetch.refused(4, LABEL, "--retries", "0")
    assert told.startswith("download: ")
    assert f"empty body: got 0 of {size} bytes" in told


def test_C25_whole_but_other_bytes_are_told_as_another_digest(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch, size: int
) -> None:
    redist_server.always(ARCHIVE, Flipped(size // 2))
    promised = redist_tree.manifest(LABEL)["cudnn"]["linux-x86_64"]["cuda13"]["sha256"]
    told = fetch.refused(5)
    assert told.startswith("verify: ")
    assert f", expected {promised}" in told
    assert "incomplete" not in told


@pytest.mark.parametrize(("ending", "how"), [(Cut, ()), (Reset, ()), (Stall, ()), (Cut, ("--verify-first",))])
def test_C34_a_dropped_stream_leaves_no_extracted_file(
    *, redist_server: RedistServer, fetch: Fetch, size: int, ending: type[Cut], how: tuple[str, ...]
) -> None:
    redist_server.fail(ARCHIVE, ending(size * 3 // 10))
    done = fetch(LABEL, "--retries", "0", *impatience(ending), *how)
    assert (done.code, done.out) == (4, "")
    assert " of " + f"{size} bytes" in done.err
    assert [path for path in fetch.root.rglob("*") if path.is_file() and ".partial" not in path.parts] == []
    fetch.installed(LABEL, *how)


@pytest.mark.parametrize("platform", ["linux-x86_64", "windows-x86_64"])
def test_C34_unpacking_goes_on_where_it_was(redist_server: RedistServer, fetch: Fetch, platform: str) -> None:
    suffix = ARCHIVE if platform == "linux-x86_64" else "_cuda13-archive.zip"
    redist_server.fail(suffix, Cut(24_000))
    prefix = fetch.installed(LABEL, "--platform", platform)
    sent = [request.sent for request in redist_server.requests(suffix)]
    assert sent == [24_000, prefix.record.archive_size - 24_000]
