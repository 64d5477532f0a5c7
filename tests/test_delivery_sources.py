"""Several sources, directories among them: who is asked, in which order, and what no file may tell."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from installing import IMPATIENT
from redist import RedistServer, RedistTree
from redist.command import run_command
from redist.faults import (
    Cut,
    Fault,
    Flipped,
    Page,
    Status,
)
from source.ground import (
    FAULTY,
    TAR,
    archives,
    get,
    holders_of,
    nothing_left,
    partials,
    redist,
    statuses,
)

from cudnn_redist import Progress, install, plan
from cudnn_redist.errors import (
    ArchiveWithdrawn,
    DigestMismatch,
    TransferError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOWS = {"platform": "windows-x86_64"}


@pytest.fixture
def second(redist_tree: RedistTree) -> Iterator[RedistServer]:
    """Another server of the same tree."""
    with RedistServer(redist_tree.path) as server:
        yield server


@pytest.mark.parametrize("fault", [Status(404), Status(403), Status(503), Cut(30_000), Page()], ids=repr)
def test_the_second_source_answers_when_the_first_does_not(
    fault: Fault, redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    redist_server.always(TAR, fault)

    prefix = get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    assert prefix.verify() == ()
    assert partials(root) == []


def test_what_the_first_source_gave_is_not_fetched_again(
    redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    redist_server.always(TAR, Cut(30_000))

    prefix = get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    (request,) = archives(second)
    assert request.range == "bytes=30000-"
    assert "if-range" not in request.headers
    assert prefix.verify() == ()


def test_what_one_source_gave_stays_where_the_next_has_no_such_archive(
    redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    redist_server.always(TAR, Cut(30_000))
    second.always(TAR, Status(404))
    with pytest.raises(TransferError, match="got 30000 of"):
        get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    assert [path.stat().st_size for path in partials(root)] == [30_000]


def test_the_first_source_may_be_gone_altogether(
    redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    gone = redist(second)
    second.close()

    assert get(gone, redist(redist_server), root=root, transfer=IMPATIENT).verify() == ()


@pytest.mark.parametrize(
    ("first", "then", "kind", "status"),
    [
        (Status(503), Status(502), TransferError, 503),
        (Status(404), Status(503), TransferError, 503),
        (Status(503), Status(404), TransferError, 503),
        (Flipped(9), Status(503), DigestMismatch, None),
        (Status(404), Status(410), ArchiveWithdrawn, None),
    ],
    ids=["both-down", "gone-then-down", "down-then-gone", "wrong-then-down", "both-gone"],
)
def test_when_all_fail_the_first_that_matters_is_told(
    *,
    first: Fault,
    then: Fault,
    kind: type[TransferError],
    status: int | None,
    redist_server: RedistServer,
    second: RedistServer,
    root: Path,
) -> None:
    redist_server.always(TAR, first)
    second.always(TAR, then)
    with pytest.raises(kind) as caught:
        get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    assert getattr(caught.value, "status", None) == status
    assert nothing_left(root)


@pytest.mark.parametrize("form", ["path", "url"])
def test_a_directory_is_read_in_place(form: str, redist_tree: RedistTree, root: Path) -> None:
    source = redist_tree.path if form == "path" else redist_tree.path.as_uri()

    prefix = get(source, root=root)

    assert prefix.verify() == ()
    assert not (root / ".partial").exists()


@pytest.mark.skipif(not FAULTY.exists(), reason="Linux has a file that cannot be read")
def test_a_source_that_cannot_be_read_is_blamed_and_the_next_is_asked(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    bad = RedistTree(shutil.copytree(redist_tree.path, root.with_name("bad")))
    archive = bad.archive_path("9.27.0")
    archive.unlink()
    archive.symlink_to(FAULTY)
    with pytest.raises(TransferError, match="cannot be read: Input/output error") as caught:
        get(bad.path, root=root)
    assert caught.value.where == archive.as_uri()
    assert nothing_left(root)
    assert get(bad.path, redist(redist_server), root=root).verify() == ()


@pytest.mark.parametrize("damage", ["missing", "short", "flipped"])
def test_http_stands_in_for_a_directory_that_lacks_the_archive(
    damage: str, redist_tree: RedistTree, redist_server: RedistServer, root: Path, tmp_path: Path
) -> None:
    copy = RedistTree(tmp_path / "copy")
    copy.add_release("9.27.0", date="2026-09-29")
    path = copy.archive_path("9.27.0")
    assert path.read_bytes() == redist_tree.archive_path("9.27.0").read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "short":
        os.truncate(path, 1000)
    else:
        path.write_bytes(bytes(path.stat().st_size))

    prefix = get(copy.path, redist(redist_server), root=root)

    assert prefix.verify() == ()
    assert len(archives(redist_server)) == 1


def test_sources_are_asked_in_the_order_given(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    get(redist(redist_server), redist_tree.path, root=root)

    assert statuses(redist_server) == [200]


def test_a_directory_that_lacks_the_archive_is_told_by_path(redist_tree: RedistTree, root: Path) -> None:
    path = redist_tree.archive_path("9.27.0")
    path.unlink()
    with pytest.raises(ArchiveWithdrawn) as caught:
        get(redist_tree.path, root=root)

    assert caught.value.exit_code == 3
    assert str(path).endswith(Path(str(caught.value.where)).name)


@pytest.mark.parametrize(
    "how", [{}, WINDOWS, {"options": {"verify_first": True}}], ids=["tar", "zip", "first"]
)
def test_a_file_that_changes_while_it_is_read_is_refused(
    how: dict[str, Any], redist_tree: RedistTree, root: Path
) -> None:
    path = redist_tree.archive_path("9.27.0", platform=how.get("platform", "linux-x86_64"))

    def touch(progress: Progress) -> None:
        if progress.phase == "unpack":
            os.utime(path, (1, 1))

    made = plan(
        "9.27.0",
        **({"platform": "linux-x86_64", "cuda": "13"} | how_to_choose(how)),
        sources=[str(redist_tree.path)],
        root=root,
    )
    with pytest.raises(DigestMismatch, match="changed while it was read") as caught:
        install(made, progress=touch)

    assert caught.value.exit_code == 5
    assert nothing_left(root)


def how_to_choose(how: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in how.items() if name != "options"}


def test_requests_are_counted(redist_server: RedistServer, root: Path) -> None:
    get(redist(redist_server), root=root)
    assert [request.path.rpartition("/")[2][:9] for request in redist_server.log] == [
        "redistrib",
        "cudnn-lin",
    ]

    get(redist(redist_server), root=root)
    assert len(redist_server.log) == 2


def test_no_secret_stays_anywhere(redist_server: RedistServer, root: Path, tmp_path: Path) -> None:
    redist_server.auth = ("me", "hunter2")
    source = redist(redist_server, "me:hunter2@") + "?token=t0ken"
    redist_server.fail(TAR, Cut(30_000))
    options = ["--platform", "linux-x86_64", "--cuda", "13", "--root", root, "--source", source]
    failed = run_command("fetch", "9.27.0", *options, "--retries", "0", "--debug")
    left = holders_of("hunter2", root) + holders_of("t0ken", root)
    done = run_command("fetch", "9.27.0", *options, "--archives", tmp_path / "store", "--json")

    assert (failed.code, done.code) == (4, 0)
    for secret in ("hunter2", "t0ken"):
        assert secret not in failed.err + failed.out + done.err + done.out
        assert holders_of(secret, tmp_path) == []
    assert left == []
    assert redist(redist_server) in (root / ".log.jsonl").read_text()
    assert all(request.target.endswith("?token=t0ken") for request in redist_server.log)
