"""Cases of the kind "prefix": what counts as installed, what is used again, and renames that Windows refuses."""

from __future__ import annotations

import hashlib
import os
import signal
from typing import TYPE_CHECKING

import pytest
from cases.ground import ARCHIVE, LABEL, soon
from cases.hosts import host_that
from cli.ground import CHOICE, PREFIX, snapshot
from installing import everything
from redist.command import run_command, start_command
from redist.faults import Cut, Stall

if TYPE_CHECKING:
    from pathlib import Path

    from cases.ground import Fetch
    from redist import RedistServer, RedistTree


@pytest.fixture
def reference(redist_tree: RedistTree, tmp_path: Path) -> dict[str, tuple[str, str]]:
    """What an undisturbed run makes of the archive."""
    alone = tmp_path / "alone"
    done = run_command("fetch", LABEL, *CHOICE, "--source", redist_tree.path, "--root", alone)
    assert done.code == 0
    return everything(alone / PREFIX)


def unpacked_files(root: Path) -> list[Path]:
    return [path for path in root.glob("cudnn/**/*.stage/**/*.h") if path.stat().st_size]


@pytest.mark.parametrize("part", [0.0, 0.3], ids=["before the first file", "at a third"])
def test_C62_a_run_killed_while_it_unpacks_is_no_installation_and_the_next_one_mends_it(
    fetch: Fetch,
    redist_tree: RedistTree,
    redist_server: RedistServer,
    reference: dict[str, tuple[str, str]],
    part: float,
) -> None:
    sent = max(1, int(redist_tree.archive_path(LABEL).stat().st_size * part))
    redist_server.fail(ARCHIVE, Stall(sent))
    with start_command("fetch", LABEL, *CHOICE, "--source", fetch.source, "--root", fetch.root) as process:
        redist_server.wait_for(ARCHIVE, sent=sent)
        soon(lambda: unpacked_files(fetch.root) or not part)
        os.killpg(process.pid, signal.SIGKILL)
    assert not (fetch.root / PREFIX).exists()
    assert run_command("where", LABEL, *CHOICE, "--root", fetch.root).code == 3
    assert everything(fetch.installed().path) == reference


# The one rename of a first install is the one that publishes.
DIES_AT_THE_RENAME = """
import os, signal
real = os.rename
def rename(source, target, **options):
    if {after}:
        real(source, target, **options)
    os.kill(os.getpid(), signal.SIGKILL)
os.rename = rename
"""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_C62_a_run_killed_as_it_publishes_leaves_all_or_nothing(
    fetch: Fetch, reference: dict[str, tuple[str, str]], tmp_path: Path, *, after: bool
) -> None:
    killed = fetch(env=host_that(tmp_path / "host", DIES_AT_THE_RENAME.format(after=after)))
    assert killed.code == -signal.SIGKILL
    assert (fetch.root / PREFIX).exists() is after
    if after:
        assert everything(fetch.root / PREFIX) == reference
    again = fetch()
    assert (again.code, again.out) == (0, f"{fetch.root / PREFIX}\n"), again.err
    # The next install, whatever it installs, sweeps the empty stage.
    assert everything(fetch.installed(LABEL, "--force").path) == reference


def test_C62_a_directory_with_a_header_is_no_installation(
    fetch: Fetch, reference: dict[str, tuple[str, str]]
) -> None:
    (fetch.root / PREFIX / "include").mkdir(parents=True)
    (fetch.root / PREFIX / "include/cudnn.h").write_text("half")
    assert run_command("where", LABEL, *CHOICE, "--root", fetch.root).code == 3
    assert everything(fetch.installed().path) == reference


# ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION in turn, of each rename the first ones.
HELD_OPEN = """
import os
refused = {{}}
def held(real):
    def move(source, target, **options):
        names = os.fspath(source), os.fspath(target)
        refused[names] = refused.get(names, 0) + 1
        if refused[names] > {times}:
            return real(source, target, **options)
        error = PermissionError(13, "Access is denied", *names)
        error.winerror = (5, 32)[refused[names] % 2]
        raise error
    return move
os.rename, os.replace = held(os.rename), held(os.replace)
"""


def test_C69_a_rename_that_a_scanner_hinders_is_tried_again(
    fetch: Fetch, redist_server: RedistServer, tmp_path: Path
) -> None:
    """Each one: the prefix, the old one moved aside, the manifest, the stored archive, the link, the partial."""
    host = host_that(tmp_path / "host", HELD_OPEN.format(times=3))
    link, store = tmp_path / "link", tmp_path / "store"
    redist_server.fail(ARCHIVE, Cut(20_000))
    assert fetch(LABEL, "--retries", "0", env=host).code == 4
    words = ("--link", link, "--archives", store)
    fetch.installed(LABEL, *words, env=host)
    assert redist_server.requests(ARCHIVE)[-1].range == "bytes=20000-"
    fetch.installed(LABEL, *words, "--force", env=host)
    assert link.resolve() == (fetch.root / PREFIX).resolve()
    assert [path.stat().st_size > 0 for path in store.glob("sha256/*/*")] == [True]


@pytest.mark.parametrize("standing", [False, True], ids=["nothing there", "over a prefix"])
def test_C69_a_rename_that_stays_refused_leaves_everything_as_it_was(
    fetch: Fetch, tmp_path: Path, *, standing: bool
) -> None:
    if standing:
        fetch.installed()
    host = host_that(tmp_path / "host", HELD_OPEN.format(times="float('inf')"))
    told = fetch.refused(7, LABEL, *["--force"] * standing, env=host)
    assert told.startswith("publish: ")
    assert "Access is denied" in told


def test_C69_bytes_that_cannot_be_handed_on_do_not_hide_that_the_line_broke(
    fetch: Fetch, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.always(ARCHIVE, Cut(20_000))
    host = host_that(tmp_path / "host", HELD_OPEN.format(times="float('inf')"))
    fetch.refused(4, LABEL, "--retries", "0", env=host, resumable=True)
    redist_server.heal()
    fetch.installed()
    assert redist_server.requests(ARCHIVE)[-1].range is not None


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def stored(store: Path, tree: RedistTree) -> Path:
    """Where the store keeps the archive."""
    sha256 = hashlib.sha256(tree.archive_path(LABEL).read_bytes()).hexdigest()
    return store / "sha256" / sha256[:2] / sha256


@pytest.mark.parametrize("there", ["truncated", "empty", "other bytes", "directory", "dangling link"])
def test_C70_what_stands_under_an_archives_final_name_is_judged_and_replaced_once(
    fetch: Fetch, redist_tree: RedistTree, redist_server: RedistServer, store: Path, there: str
) -> None:
    good = redist_tree.archive_path(LABEL).read_bytes()
    place = stored(store, redist_tree)
    place.parent.mkdir(parents=True)
    match there:
        case "truncated":
            place.write_bytes(good[: len(good) // 2])
        case "empty":
            place.touch()
        case "other bytes":
            place.write_bytes(bytes(len(good)))
        case "directory":
            (place / "sub").mkdir(parents=True)
        case "dangling link":
            place.symlink_to("nowhere")
    fetch.installed(LABEL, "--archives", store)
    assert not place.is_symlink()
    assert place.read_bytes() == good
    fetch.installed(LABEL, "--archives", store, "--force")
    assert [request.range for request in redist_server.requests(ARCHIVE)] == [None]


@pytest.mark.parametrize("fault", ["cut", "killed"])
def test_C70_an_interrupted_download_never_has_the_final_name(
    fetch: Fetch, redist_tree: RedistTree, redist_server: RedistServer, store: Path, fault: str
) -> None:
    words = ("--archives", store)
    if fault == "cut":
        redist_server.always(ARCHIVE, Cut(20_000))
        fetch.refused(4, LABEL, *words, "--retries", "0", resumable=True)
    else:
        redist_server.fail(ARCHIVE, Stall(20_000))
        source = ("--source", fetch.source, "--root", fetch.root)
        with start_command("fetch", LABEL, *CHOICE, *source, *words) as process:
            redist_server.wait_for(ARCHIVE, sent=20_000)
            os.killpg(process.pid, signal.SIGKILL)
    assert not os.path.lexists(stored(store, redist_tree))
    redist_server.heal()
    fetch.installed(LABEL, *words)
    assert stored(store, redist_tree).read_bytes() == redist_tree.archive_path(LABEL).read_bytes()


def test_C71_other_bytes_under_an_installed_version_are_told_and_installed_on_request_only(
    fetch: Fetch, redist_tree: RedistTree, redist_server: RedistServer
) -> None:
    old = fetch.installed()
    assert (
        old.record.archive_sha256 == hashlib.sha256(redist_tree.archive_path(LABEL).read_bytes()).hexdigest()
    )
    other = redist_tree.archive_path(LABEL, variant="cuda12").read_bytes()
    redist_tree.replace_archive(other, LABEL, update_manifest=True)
    digest = hashlib.sha256(other).hexdigest()
    standing = snapshot(old.path)

    # What is installed answers by itself, and is what it was.
    asked = len(redist_server.log)
    assert fetch().code == 0
    assert len(redist_server.log) == asked
    assert run_command("verify", LABEL, "--root", fetch.root).code == 0
    # Asked for news, it is told, and nothing is done about it.
    news = fetch(LABEL, "--refresh")
    assert (news.code, news.out) == (0, f"{old.path}\n")
    (line,) = (line for line in news.err.splitlines() if digest in line)
    assert old.record.archive_sha256 in line
    assert line.endswith("--force installs that")
    # One who pins the new manifest must not get the old archive for it.
    pin = hashlib.sha256(redist_tree.manifest_path(LABEL).read_bytes()).hexdigest()
    assert "--force" in fetch.refused(5, LABEL, "--manifest-sha256", pin)
    assert snapshot(old.path) == standing

    new = fetch.installed(LABEL, "--force")
    assert (new.path, new.record.archive_sha256) == (old.path, digest)


def test_C71_a_store_knows_archives_by_digest_and_not_by_name(
    fetch: Fetch, redist_tree: RedistTree, store: Path
) -> None:
    first = fetch.installed(LABEL, "--archives", store)
    other = redist_tree.archive_path(LABEL, variant="cuda12").read_bytes()
    redist_tree.replace_archive(other, LABEL, update_manifest=True)
    second = fetch.installed(LABEL, "--archives", store, "--force")
    kept = {path.name for path in store.glob("sha256/*/*")}
    assert kept == {first.record.archive_sha256, second.record.archive_sha256}


@pytest.mark.parametrize("meanwhile", ["nothing", "times changed", "store emptied", "network gone"])
def test_C72_what_is_installed_is_not_asked_for_again(
    fetch: Fetch, redist_server: RedistServer, store: Path, meanwhile: str
) -> None:
    words = ("--archives", store)
    prefix = fetch.installed(LABEL, *words)
    asked = len(redist_server.log)
    match meanwhile:
        case "times changed":
            for path in prefix.path.rglob("*"):
                os.utime(path, (0, 0), follow_symlinks=False)
        case "store emptied":
            (archive,) = store.glob("sha256/*/*")
            archive.unlink()
        case "network gone":
            redist_server.close()
    again = fetch(LABEL, *words)
    assert (again.code, again.out) == (0, f"{prefix.path}\n"), again.err
    assert again.err == f"already there: {prefix.path}\n"
    assert len(redist_server.log) == asked


def test_C72_a_pinned_label_that_is_installed_needs_no_network(
    fetch: Fetch, redist_tree: RedistTree, redist_server: RedistServer
) -> None:
    prefix = fetch.installed()
    redist_server.close()
    pin = hashlib.sha256(redist_tree.manifest_path(LABEL).read_bytes()).hexdigest()
    again = fetch(LABEL, "--manifest-sha256", pin)
    assert (again.code, again.out) == (0, f"{prefix.path}\n"), again.err
