"""Cases of the kind "http" in which the answer is another than it seems: encoded, moved, or a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cases.ground import ARCHIVE, LABEL, MANIFEST, redist
from redist import RedistServer
from redist.faults import Chunked, Cut, Encoded, Fault, NoLength, Normal, Page, Redirect, Together
from source.tls import TlsFront, make_certificates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cases.ground import Fetch
    from redist import RedistTree


@pytest.mark.parametrize("label", ["gzip", "x-gzip", "br", "xz"])
def test_C30_the_raw_bytes_count_whatever_they_are_labelled(
    redist_server: RedistServer, fetch: Fetch, label: str
) -> None:
    redist_server.always(ARCHIVE, Encoded(label))
    fetch.installed()
    assert {request.headers["accept-encoding"] for request in redist_server.log} == {"identity"}


@pytest.mark.parametrize("label", ["gzip", "x-gzip"])
def test_C30_a_tar_gz_that_is_labelled_by_its_name_stays_compressed(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch, label: str
) -> None:
    redist_tree.add_release(LABEL, kind="tar.gz")
    redist_server.always(".tar.gz", Encoded(label))
    prefix = fetch.installed()
    assert prefix.record.archive_size == redist_tree.archive_path(LABEL).stat().st_size


def test_C30_an_archive_that_was_compressed_on_the_way_is_not_the_promised_one(
    redist_server: RedistServer, fetch: Fetch
) -> None:
    redist_server.always(ARCHIVE, Encoded("gzip", truly=True))
    assert "the manifest promises" in fetch.refused(5)


def test_C30_a_manifest_may_be_encoded(redist_server: RedistServer, fetch: Fetch) -> None:
    redist_server.always(MANIFEST, Encoded("gzip", truly=True))
    fetch.installed()


@pytest.fixture
def other(redist_server: RedistServer) -> Iterator[RedistServer]:
    """The same tree on another port."""
    with RedistServer(redist_server.directory) as other:
        yield other


@pytest.fixture
def archive_path(redist_tree: RedistTree) -> str:
    """Where the archive lies, seen from the server's root."""
    return redist_tree.archive_path(LABEL).relative_to(redist_tree.path).as_posix()


@pytest.mark.parametrize("code", [302, 308])
def test_C32_a_redirect_to_another_host_is_followed_and_the_final_url_told(
    *, redist_server: RedistServer, other: RedistServer, archive_path: str, fetch: Fetch, code: int
) -> None:
    redist_server.always(MANIFEST, Redirect(redist(other) + MANIFEST, code))
    redist_server.always(ARCHIVE, Redirect(other.url + archive_path, code))
    done = fetch(LABEL, "--debug")
    assert done.code == 0, done.err
    assert f"redirected to {other.url}{archive_path}" in done.err
    assert [len(other.requests(each)) for each in (MANIFEST, ARCHIVE)] == [1, 1]


@pytest.mark.parametrize("location", ["{name}?again", "../linux-x86_64/{name}", "/{path}"])
def test_C32_a_relative_location_is_followed(
    redist_server: RedistServer, archive_path: str, fetch: Fetch, location: str
) -> None:
    name = archive_path.rpartition("/")[2]
    redist_server.fail(ARCHIVE, Redirect(location.format(name=name, path=archive_path)))
    fetch.installed()
    assert [request.status for request in redist_server.requests(ARCHIVE)] == [302, 200]


def test_C32_what_is_resumed_is_resumed_behind_the_redirect(
    redist_server: RedistServer, other: RedistServer, archive_path: str, fetch: Fetch
) -> None:
    redist_server.always(ARCHIVE, Redirect(other.url + archive_path))
    other.fail(ARCHIVE, Cut(1000))
    fetch.installed()
    assert [request.range for request in other.requests(ARCHIVE)] == [None, "bytes=1000-"]


@pytest.mark.parametrize("suffix", [MANIFEST, ARCHIVE])
def test_C32_a_loop_ends_and_its_pages_are_never_kept(
    redist_server: RedistServer, fetch: Fetch, suffix: str
) -> None:
    redist_server.always(suffix, Redirect("?again"))
    assert "more than 10 redirects" in fetch.refused(4)
    assert len(redist_server.requests(suffix)) == 11


@pytest.mark.parametrize("suffix", [MANIFEST, ARCHIVE])
def test_C32_no_redirect_leaves_tls(
    redist_server: RedistServer, other: RedistServer, fetch: Fetch, tmp_path: Path, suffix: str
) -> None:
    made = make_certificates(tmp_path)
    redist_server.always(suffix, Redirect(f"{other.url}x"))
    with TlsFront(redist_server.port, made.server) as front:
        words = ("--source", f"{front.url}cudnn/redist/", "--ca-file", made.authority)
        told = fetch.refused(4, LABEL, *words)
    assert f"redirect to {other.url}x refused" in told
    assert other.log == []


PAGES = {
    "html": (Page("<b>Log in</b>\r\n<p>", "text/html"), 18, "text/html, looks like a web page"),
    "text": (
        Page("The TLS handshake with the origin failed.", "text/plain"),
        41,
        "text/plain, looks like text",
    ),
}
UNANNOUNCED = {"announced": Normal(), "in chunks": Chunked(), "until the end": NoLength()}


@pytest.mark.parametrize("framing", UNANNOUNCED.values(), ids=UNANNOUNCED)
@pytest.mark.parametrize(("page", "length", "told"), PAGES.values(), ids=PAGES)
def test_C33_a_page_with_status_200_is_no_archive(
    *, redist_server: RedistServer, fetch: Fetch, page: Fault, length: int, told: str, framing: Fault
) -> None:
    redist_server.always(ARCHIVE, Together(page, framing))
    reason = fetch.refused(5, LABEL, "--retries", "1")
    assert f"{length} bytes, the manifest promises" in reason
    assert told in reason
    redist_server.heal()
    fetch.installed()
    assert all(request.range is None for request in redist_server.requests(ARCHIVE))


@pytest.mark.parametrize("framing", UNANNOUNCED.values(), ids=UNANNOUNCED)
@pytest.mark.parametrize(("page", "length", "told"), PAGES.values(), ids=PAGES)
def test_C33_a_page_for_a_moment_is_asked_past_once(
    *, redist_server: RedistServer, fetch: Fetch, page: Fault, length: int, told: str, framing: Fault
) -> None:
    redist_server.fail(ARCHIVE, Together(page, framing))
    done = fetch()
    assert done.code == 0, done.err
    assert f"{length} bytes" in done.err
    assert told in done.err
    assert [request.range for request in redist_server.requests(ARCHIVE)] == [None, None]


@pytest.mark.parametrize(
    ("page", "told"),
    [(PAGES["html"][0], "not JSON but a page (HTML or XML)"), (PAGES["text"][0], "not JSON")],
    ids=PAGES,
)
def test_C33_a_page_for_a_manifest_is_not_json(
    redist_server: RedistServer, fetch: Fetch, page: Fault, told: str
) -> None:
    redist_server.always(MANIFEST, page)
    assert f"manifest: {fetch.source}{MANIFEST}: {told}" in fetch.refused(6)
    assert not fetch.root.exists()
