"""What an installation does beside the prefix: progress, log, store, leftovers."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest
from installing import everything, leftovers, options, planned
from redist import File, Link, RedistServer, RedistTree

from cudnn_redist import Prefix, Progress, install

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist.content import Entry

ARCHIVE = ".tar.xz"


def test_the_manifest_is_kept_and_the_install_is_logged(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    made = planned(redist_server.url, root, cuda=["12", "13"])
    install(made)
    (kept,) = (root / ".manifests/cudnn").rglob("redistrib_9.27.0.json")
    assert kept.read_bytes() == redist_tree.manifest_path("9.27.0").read_bytes()
    lines = [json.loads(line) for line in (root / ".log.jsonl").read_text().splitlines()]
    assert [line["prefix"] for line in lines] == [str(archive.prefix) for archive in made.archives]
    assert [line["from"] for line in lines] == [archive.urls[0] for archive in made.archives]
    assert {line["manifest"] for line in lines} == {made.manifest_sha256}
    install(made)
    assert len((root / ".log.jsonl").read_text().splitlines()) == 2


def test_lib64_leads_to_lib_on_linux_only(redist_tree: RedistTree, root: Path) -> None:
    """C81."""
    linux, windows = install(planned(redist_tree.path, root, platform=["linux-x86_64", "windows-x86_64"]))
    assert str((linux.path / "lib64").readlink()) == "lib"
    assert (linux.path / "lib64/libcudnn.so").exists()
    assert "lib64" in {entry.path for entry in linux.record.generated}
    assert linux.verify() == windows.verify() == ()
    assert not (windows.path / "lib64").exists()
    assert "lib64" not in {entry.path for entry in windows.record.generated}
    assert windows.lib_dir == windows.path / "lib/x64"


def test_an_archives_own_lib64_stays(redist_tree: RedistTree, root: Path) -> None:
    entries: Mapping[str, Entry] = {"lib/libx.so": File(b"x"), "lib64": Link("lib"), "include/x.h": File()}
    redist_tree.add_release("9.27.0", content=lambda *_: entries)
    (prefix,) = install(planned(redist_tree.path, root))
    assert prefix.record.generated == ()
    assert "lib64" in [entry.path for entry in prefix.record.entries]
    assert prefix.verify() == ()


@pytest.mark.parametrize("source", ["server", "directory"])
def test_progress_is_told_from_start_to_end(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path, source: str
) -> None:
    seen: list[Progress] = []
    lock = threading.Lock()

    def show(progress: Progress) -> None:
        with lock:
            seen.append(progress)

    made = planned(redist_server.url if source == "server" else redist_tree.path, root)
    install(made, progress=show)
    size = made.archives[0].size
    downloads = [each for each in seen if each.phase == "download"]
    unpacks = [each.done for each in seen if each.phase == "unpack"]
    assert [each.done for each in downloads] == sorted({each.done for each in downloads})
    assert {each.total for each in downloads} <= {size}
    assert [each.done for each in downloads][-1:] == ([size] if source == "server" else [])
    assert unpacks == sorted(unpacks)
    assert unpacks[-1] == sum(entry.size for entry in Prefix.open(made.archives[0].prefix).record.entries)
    assert seen[-1].phase == "installed"
    assert {each.archive for each in seen} == set(made.archives)
    seen.clear()
    install(made, progress=show)
    assert [each.phase for each in seen] == ["present"]


def test_the_archive_is_gone_unless_a_store_keeps_it(redist_server: RedistServer, tmp_path: Path) -> None:
    store = tmp_path / "store"
    made = planned(redist_server.url, tmp_path / "one")
    install(made, options=options(archives=store))
    sha256 = made.archives[0].sha256
    assert sha256 is not None
    assert [path for path in everything(store) if len(path) > 10] == [f"sha256/{sha256[:2]}/{sha256}"]
    assert leftovers(tmp_path) == []
    asked = len(redist_server.requests(ARCHIVE))
    (again,) = install(planned(redist_server.url, tmp_path / "two"), options=options(archives=store))
    assert again.verify() == ()
    assert len(redist_server.requests(ARCHIVE)) == asked


@pytest.mark.parametrize("there", ["truncated", "empty", "directory", "dangling-link"])
def test_a_damaged_stored_archive_is_replaced(
    redist_server: RedistServer, tmp_path: Path, there: str
) -> None:
    """C70."""
    store = tmp_path / "store"
    made = planned(redist_server.url, tmp_path / "root")
    sha256 = str(made.archives[0].sha256)
    stored = store / "sha256" / sha256[:2] / sha256
    stored.parent.mkdir(parents=True)
    match there:
        case "truncated":
            stored.write_bytes(b"\xfd7zXZ\0")
        case "empty":
            stored.touch()
        case "directory":
            stored.mkdir()
        case "dangling-link":
            stored.symlink_to("nowhere")
    (prefix,) = install(made, options=options(archives=store))
    assert prefix.verify() == ()
    assert stored.stat().st_size == made.archives[0].size
    assert not stored.is_symlink()


@pytest.mark.parametrize("choice", [{"durable": True}, {"verify_first": True}], ids=str)
def test_careful_installs_give_the_same_prefix(
    redist_server: RedistServer, tmp_path: Path, choice: dict[str, bool]
) -> None:
    (plain,) = install(planned(redist_server.url, tmp_path / "plain"))
    (careful,) = install(planned(redist_server.url, tmp_path / "careful"), options=options(**choice))
    assert everything(plain.path) == everything(careful.path)


def test_nothing_large_goes_to_the_temporary_directory(
    redist_server: RedistServer, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C60."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    (prefix,) = install(planned(redist_server.url, root))
    assert prefix.verify() == ()


def test_leftovers_of_killed_runs_are_swept_by_the_next_one(redist_tree: RedistTree, root: Path) -> None:
    made = planned(redist_tree.path, root)
    parent = made.archives[0].prefix.parent
    old = [
        parent / ".cudnn-redist-0a.stage",
        parent / ".cudnn-redist-0b.old",
        root / ".partial" / f"{'0' * 64}.elsewhere.1.0c.part",
    ]
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if path.suffix != ".part" else path.touch()
        os.utime(path, (time.time() - 90_000,) * 2)
    young = parent / ".cudnn-redist-0d.stage"
    young.mkdir()
    install(made)
    assert [path.exists() for path in (*old, young)] == [False, False, False, True]


def test_the_root_may_be_given_late(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    made = planned(redist_tree.path, root)
    (prefix,) = install(made, root=tmp_path / "other")
    assert prefix.path == tmp_path / "other/cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert not root.exists()
