"""A partial left by one run, and what the next run makes of it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from installing import IMPATIENT
from redist import File, RedistServer, RedistTree
from redist.archives import pack
from redist.faults import (
    Cut,
    Fault,
    Flipped,
    Headers,
    Page,
    Status,
    Together,
)
from source.ground import (
    TAR,
    archives,
    get,
    nothing_left,
    partials,
    redist,
    statuses,
)

from cudnn_redist.errors import (
    ArchiveWithdrawn,
    IntegrityError,
    TransferError,
    TransientTransferError,
)

if TYPE_CHECKING:
    from pathlib import Path


def cut_short(server: RedistServer, root: Path) -> None:
    server.fail(TAR, Cut(30_000))
    with pytest.raises(TransientTransferError, match="got 30000 of"):
        get(redist(server), root=root, transfer=IMPATIENT)


def test_a_failure_of_transport_leaves_a_partial_and_the_next_run_resumes(
    redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    note = json.loads(partial.with_name(f"{partial.name}.json").read_bytes())

    prefix = get(redist(redist_server), root=root)

    first, second = archives(redist_server)
    assert second.range == "bytes=30000-"
    assert second.headers["if-range"] == note["validator"]
    assert first.sent + second.sent == prefix.record.archive_size
    assert prefix.verify() == ()
    assert list((root / ".partial").iterdir()) == []


def test_without_a_strong_etag_the_next_run_names_the_date(redist_server: RedistServer, root: Path) -> None:
    redist_server.fail(TAR, Together(Headers(without=("ETag",)), Cut(30_000)))
    with pytest.raises(TransferError):
        get(redist(redist_server), root=root, transfer=IMPATIENT)

    get(redist(redist_server), root=root)

    assert archives(redist_server)[1].headers["if-range"].endswith("GMT")
    assert statuses(redist_server) == [200, 206]


def test_bytes_of_an_earlier_run_that_are_wrong_cost_one_clean_start(
    redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    partial.write_bytes(bytes(30_000))

    assert get(redist(redist_server), root=root).verify() == ()
    assert [request.range for request in archives(redist_server)] == [None, "bytes=30000-", None]


def test_a_complete_partial_is_judged_and_used_without_a_request(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    partial.write_bytes(redist_tree.archive_path("9.27.0").read_bytes())

    assert get(redist(redist_server), root=root).verify() == ()
    assert len(archives(redist_server)) == 1


def test_an_archive_that_changed_between_runs_starts_again(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    path = redist_tree.archive_path("9.27.0")
    redist_tree.replace_archive(pack("tar.xz", "top", {"lib/x": File(b"x")}), "9.27.0", update_manifest=True)
    assert path.exists()

    prefix = get(redist(redist_server), root=root)

    assert prefix.verify() == ()
    assert archives(redist_server)[1].range is None


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(Flipped(40_000), IntegrityError), (Page(), IntegrityError), (Status(404), ArchiveWithdrawn)],
    ids=["digest", "page", "withdrawn"],
)
def test_only_a_failure_of_transport_leaves_a_partial(
    fault: Fault, kind: type[Exception], redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    redist_server.always(TAR, fault)
    with pytest.raises(kind):
        get(redist(redist_server), root=root)

    assert nothing_left(root)


def test_the_partial_of_a_live_process_is_left_to_it(redist_server: RedistServer, root: Path) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    host = os.uname().nodename.replace(".", "-")
    taken = partial.rename(partial.with_name(partial.name.replace("free", f"{host}.{os.getppid()}")))

    get(redist(redist_server), root=root)

    assert archives(redist_server)[1].range is None
    assert taken.exists()
