"""Cases of the kind "http": edges that are behind, and archives that are withdrawn or moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cases.ground import ARCHIVE, LABEL, ranges
from redist import RedistServer
from redist.faults import Fault, Flipped, Headers, Redirect, Status, Together, Truncated

if TYPE_CHECKING:
    from cases.ground import Fetch
    from redist import RedistTree

AGED = Headers(add={"Age": "86400", "X-Cache": "HIT from edge-7"})
STALE = pytest.mark.parametrize("stale", [Truncated(1000), Flipped(5000)], ids=["wrong size", "wrong digest"])


def cache_controls(server: RedistServer) -> list[str | None]:
    return [request.headers.get("cache-control") for request in server.requests(ARCHIVE)]


@STALE
def test_C40_a_stale_edge_is_passed_by_once(fetch: Fetch, redist_server: RedistServer, stale: Fault) -> None:
    redist_server.fail(ARCHIVE, Together(stale, AGED))
    fetch.installed()
    assert cache_controls(redist_server) == [None, "no-cache"]
    assert ranges(redist_server) == [None, None]


@STALE
def test_C40_an_edge_that_stays_stale_is_named(
    fetch: Fetch, redist_tree: RedistTree, redist_server: RedistServer, stale: Fault
) -> None:
    """The final URL, behind a redirect, and the headers that tell edge and age."""
    with RedistServer(redist_server.directory) as edge:
        final = f"{edge.url}{redist_tree.archive_path(LABEL).relative_to(redist_tree.path).as_posix()}"
        redist_server.always(ARCHIVE, Redirect(final, 301))
        edge.always(ARCHIVE, Together(stale, AGED))
        told = fetch.refused(5)
        assert cache_controls(edge) == [None, "no-cache"]
    assert final in told
    assert "86400" in told
    assert "HIT from edge-7" in told


@pytest.mark.parametrize("status", [404, 410])
def test_C41_a_withdrawn_archive_is_asked_for_once_and_named(
    fetch: Fetch, redist_server: RedistServer, status: int
) -> None:
    redist_server.always(ARCHIVE, Status(status))
    told = fetch.refused(3)
    assert len(redist_server.requests(ARCHIVE)) == 1
    assert f"{redist_server.url}cudnn/redist/cudnn/linux-x86_64/" in told
    assert f"HTTP {status}" in told
    assert "cudnn 9.27.0 for linux-x86_64; `list` shows other releases" in told


def test_C41_a_403_is_asked_for_at_most_once_more(fetch: Fetch, redist_server: RedistServer) -> None:
    redist_server.always(ARCHIVE, Status(403))
    assert "HTTP 403 Forbidden: cudnn 9.27.0 for linux-x86_64; " in fetch.refused(4)
    assert len(redist_server.requests(ARCHIVE)) <= 2


@pytest.mark.parametrize("status", [429, 503])
def test_C41_a_busy_server_is_asked_again_when_it_wishes(
    fetch: Fetch, redist_server: RedistServer, status: int
) -> None:
    redist_server.fail(ARCHIVE, Status(status, headers={"Retry-After": "1"}))
    done = fetch()
    assert (done.code, done.seconds > 1) == (0, True), done.err
    assert [request.status for request in redist_server.requests(ARCHIVE)] == [status, 200]
