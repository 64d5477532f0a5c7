from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from installing import everything, options
from locking.ground import locked
from redist import RedistPool

from cudnn_redist import fetch
from cudnn_redist.layout import Layout
from cudnn_redist.locking.pruning import prunable, prune

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from redist import RedistTree

    from cudnn_redist import Lock, Prefix
    from cudnn_redist.locking.pruning import Pruning

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
SHA256 = "ab" * 32
LONG_AGO = time.time() - 7 * 24 * 3600


def get(tree: RedistTree, root: Path, label: str = "9.27.0", **choices: Any) -> Prefix:  # noqa: ANN401
    here = {"platform": "linux-x86_64", "cuda": "13"}
    return fetch(label, sources=[str(tree.path)], root=root, options=options(), **{**here, **choices})


@pytest.fixture
def lock(redist_tree: RedistTree, tmp_path: Path) -> Lock:
    return locked(redist_tree.path, tmp_path / "nowhere")


def gone(root: Path, found: Pruning) -> list[str]:
    return [path.relative_to(root).as_posix() for path in found.removed]


def reasons(root: Path, found: Pruning) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): reason for path, reason in found.left}


def test_what_no_lock_names_goes_and_the_rest_stays(redist_tree: RedistTree, root: Path, lock: Lock) -> None:
    kept = get(redist_tree, root)
    get(redist_tree, root, "9.26.0")
    found = prunable(Layout(root), [lock])
    before = everything(root)
    assert prune(Layout(root), [lock]) == found
    first, manifest = gone(root, found)
    assert first == "cudnn/9.26.0/cudnn/linux-x86_64/cuda13"
    assert (manifest.startswith(".manifests/cudnn/"), manifest.endswith("/redistrib_9.26.0.json")) == (
        True,
        True,
    )
    assert kept.verify() == ()
    left = everything(root)
    assert [path for path in before if path not in left and "9.26.0" not in path] == []
    assert not (root / "cudnn/9.26.0").exists()


def test_the_manifest_of_a_channel_goes_with_its_prefix(
    redist_tree: RedistTree, root: Path, lock: Lock, tmp_path: Path
) -> None:
    pool = RedistPool(tmp_path / "pool")
    manifest = pool.add_release(redist_tree, "9.26.0")
    here = {"platform": "linux-x86_64", "cuda": "13", "channel": "stable", "sources": [str(pool.path)]}
    fetch("9.26.0", root=root, options=options(), **here)
    _, kept = gone(root, prune(Layout(root), [lock]))
    assert kept.endswith(f"/{manifest.name}")
    assert not (root / kept).exists()


def test_saying_what_would_go_removes_nothing(redist_tree: RedistTree, root: Path, lock: Lock) -> None:
    get(redist_tree, root, "9.26.0")
    before = everything(root)
    assert prunable(Layout(root), [lock]).removed
    assert everything(root) == before


def test_any_of_several_locks_keeps_a_prefix(redist_tree: RedistTree, root: Path, lock: Lock) -> None:
    get(redist_tree, root)
    get(redist_tree, root, "9.26.0")
    older = locked(redist_tree.path, root, "9.26.0")
    assert prune(Layout(root), [lock, older]).removed == ()


def test_another_archive_at_a_locked_place_goes(redist_tree: RedistTree, root: Path, lock: Lock) -> None:
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    get(redist_tree, root)
    assert gone(root, prune(Layout(root), [lock]))[0] == "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"


def test_a_choice_that_is_not_locked_goes(redist_tree: RedistTree, root: Path) -> None:
    get(redist_tree, root)
    get(redist_tree, root, cuda="12")
    lock = locked(redist_tree.path, root, cuda="12")
    assert gone(root, prune(Layout(root), [lock])) == ["cudnn/9.27.0/cudnn/linux-x86_64/cuda13"]


def test_an_empty_or_missing_root_has_nothing_to_prune(root: Path, lock: Lock) -> None:
    assert prune(Layout(root), [lock]).removed == ()
    root.mkdir()
    assert prune(Layout(root), [lock]).removed == ()
    assert list(root.iterdir()) == []


def add_file(prefix: Prefix) -> None:
    (prefix.path / "mine.txt").write_text("mine")


def damage_record(prefix: Prefix) -> None:
    (prefix.path / ".cudnn-redist.json").write_text("{")


def copy_elsewhere(prefix: Prefix) -> None:
    prefix.path.rename(prefix.path.with_name("copy"))


def put_behind_a_link(prefix: Prefix) -> None:
    real = prefix.path.parents[4] / "real"
    prefix.path.rename(real)
    prefix.path.symlink_to(real)


NOT_OURS = {
    "a file that was added": (add_file, "holds what is not ours (mine.txt)"),
    "a damaged record": (damage_record, "damaged record"),
    "a prefix elsewhere": (copy_elsewhere, "elsewhere than its record says"),
    "a prefix behind a link": (put_behind_a_link, "lies behind a link"),
}


@pytest.mark.parametrize(("spoil", "reason"), NOT_OURS.values(), ids=NOT_OURS)
def test_what_the_tool_did_not_make_stays(
    redist_tree: RedistTree,
    root: Path,
    lock: Lock,
    spoil: Callable[[Prefix], object],
    reason: str,
) -> None:
    spoil(get(redist_tree, root, "9.26.0"))
    before = everything(root)
    found = prune(Layout(root), [lock])
    assert [path for path in found.removed if "redistrib" not in path.name] == []
    assert [reason in told for told in reasons(root, found).values()] == [True]
    assert [path for path in before if path not in everything(root) and ".manifests" not in path] == []


def test_files_of_others_in_the_root_stay(redist_tree: RedistTree, root: Path, lock: Lock) -> None:
    get(redist_tree, root, "9.26.0")
    others = [
        "cudnn/notes.txt",
        "cudnn/9.26.0/README",
        "mine/9.26.0/cudnn/linux-x86_64/cuda13/lib/x.so",
        ".partial/mine.part",
        ".partial/x.y.z.part",
        ".manifests/cudnn/0/notes.json",
        "cudnn/9.26.0/cudnn/stage",
    ]
    for name in others:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine")
        os.utime(root / name, (LONG_AGO, LONG_AGO))
    prune(Layout(root), [lock])
    assert [name for name in others if not (root / name).is_file()] == []


def partial(root: Path, sha256: str, owner: str) -> Path:
    path = root / ".partial" / f"{sha256}.{owner}.{'0' * 8}.part"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    path.with_name(f"{path.name}.json").write_text("{}")
    return path


def dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_unfinished_downloads_and_stages_of_ended_runs_go(
    redist_tree: RedistTree, root: Path, lock: Lock
) -> None:
    host = "".join(each if each.isalnum() else "_" for each in os.uname().nodename)[:64]
    get(redist_tree, root)
    wanted = lock.releases[0].archives[0].sha256
    free, left, ours = (
        partial(root, SHA256, "free"),
        partial(root, SHA256, f"{host}.{dead_process()}"),
        partial(root, SHA256, f"{host}.{os.getpid()}"),
    )
    resumable = partial(root, wanted, "free")
    places = root / "cudnn/9.27.0/cudnn/linux-x86_64"
    dead, live, aside = (
        places / f".cudnn-redist-{host}.{dead_process()}.{'0' * 8}.stage",
        places / f".cudnn-redist-{host}.{os.getpid()}.{'0' * 8}.stage",
        places / f".cudnn-redist-{host}.{dead_process()}.{'0' * 8}.old",
    )
    for directory in (dead, live, aside):
        (directory / "lib").mkdir(parents=True)
    found = prune(Layout(root), [lock])
    assert set(found.files) == {
        *(path for each in (free, left) for path in (each, each.with_name(f"{each.name}.json"))),
        dead,
        aside,
    }
    assert [path.exists() for path in (free, left, dead, aside)] == [False] * 4
    assert [path.exists() for path in (ours, resumable, live)] == [True] * 3


MAPPING = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print("mapped", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def mapped(redist_tree: RedistTree, root: Path) -> Iterator[tuple[Prefix, subprocess.Popen[bytes]]]:
    """A prefix of 9.26.0 whose library another process has mapped."""
    prefix = get(redist_tree, root, "9.26.0")
    library = next(path for path in prefix.lib_dir.iterdir() if path.is_file() and not path.is_symlink())
    with subprocess.Popen(
        [sys.executable, "-c", MAPPING, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"mapped\n"
        yield prefix, process
        process.kill()


@LINUX
def test_what_a_process_has_mapped_stays_with_its_manifest(
    mapped: tuple[Prefix, subprocess.Popen[bytes]], root: Path, lock: Lock
) -> None:
    prefix, process = mapped
    found = prune(Layout(root), [lock])
    assert (found.removed, found.left) == (
        (),
        ((prefix.path, f"in use: process {process.pid} has it mapped"),),
    )
    assert prefix.verify() == ()
    process.kill()
    process.wait()
    assert prune(Layout(root), [lock]).prefixes == (prefix.path,)


@LINUX
def test_a_mapping_is_seen_through_a_link_to_the_root(
    mapped: tuple[Prefix, subprocess.Popen[bytes]], root: Path, tmp_path: Path, lock: Lock
) -> None:
    (tmp_path / "link").symlink_to(root)
    assert prune(Layout(tmp_path / "link"), [lock]).removed == ()
    assert mapped[0].verify() == ()


@LINUX
def test_a_mapping_by_another_name_is_seen(
    redist_tree: RedistTree, root: Path, tmp_path: Path, lock: Lock
) -> None:
    """As a container sees other paths: the file is the same by device and inode."""
    prefix = get(redist_tree, root, "9.26.0")
    library = next(path for path in prefix.lib_dir.iterdir() if path.is_file() and not path.is_symlink())
    os.link(library, tmp_path / "elsewhere")
    with (tmp_path / "elsewhere").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        assert prune(Layout(root), [lock]).prefixes == ()
    assert prune(Layout(root), [lock]).prefixes == (prefix.path,)
