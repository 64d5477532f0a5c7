"""Limits that no look at the free space foresees: a quota, and a largest size of a file; told like a full disk."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from disk.users import run_as
from installing import everything
from redist import File, RedistTree

if TYPE_CHECKING:
    from pathlib import Path

    from disk.mounting import Mounts
    from redist import RedistServer
    from redist.command import Completed

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")


@pytest.fixture
def root(tmp_path: Path, big_tree: RedistTree) -> Path:
    """A root with an earlier install."""
    root = tmp_path / "root"
    assert run_as(0, "fetch", "9.26.0", *CHOICE, "--root", root, "--source", big_tree.path).code == 0
    return root


def refused(done: Completed, *, phase: str) -> str:
    assert (done.code, done.out) == (7, ""), done.err
    assert "Traceback" not in done.err
    reason = done.err.splitlines()[-1].removeprefix("cudnn-redist: ")
    assert reason.startswith(f"{phase}: ")
    return reason


def kept(root: Path) -> dict[str, tuple[str, str]]:
    """Return what is at a root but for the empty directory that downloads go through."""
    return {path: what for path, what in everything(root).items() if path != ".partial"}


@pytest.mark.parametrize("phase", ["download", "unpack"])
def test_a_file_may_not_grow_so_large(
    big_server: RedistServer, big_tree: RedistTree, root: Path, phase: str
) -> None:
    """EFBIG, from RLIMIT_FSIZE."""
    before = kept(root)
    source = big_server.url if phase == "download" else big_tree.path
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", source, "--verify-first")
    reason = refused(run_as(0, *words, extra=("prlimit", "--fsize=1000000")), phase=phase)
    assert str(root) in reason
    assert reason.endswith(": File too large")
    assert kept(root) == before


def test_a_record_may_not_grow_so_large(root: Path, redist_tree: RedistTree) -> None:
    """Of many small files: each of them may be, the list of them may not."""
    small = {f"include/header{number}.h": File(b"%d\n" % number) for number in range(400)}
    redist_tree.add_release("9.28.0", content=lambda *_: small)
    before = kept(root)
    words = ("fetch", "9.28.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    reason = refused(run_as(0, *words, extra=("prlimit", "--fsize=20000")), phase="publish")
    assert reason.endswith(": File too large")
    assert kept(root) == before


def test_there_may_not_be_so_many_files(mounts: Mounts, tmp_path: Path, redist_tree: RedistTree) -> None:
    """ENOSPC with room enough: the file system has no inode left."""
    small = {f"include/header{number}.h": File(b"%d\n" % number) for number in range(400)}
    redist_tree.add_release("9.28.0", content=lambda *_: small)
    place = mounts.tmpfs(tmp_path / "small", "8m", "nr_inodes=200")
    words = (*CHOICE, "--root", place, "--source", redist_tree.path)
    assert run_as(0, "fetch", "9.26.0", *words).code == 0
    before = everything(place)
    reason = refused(run_as(0, "fetch", "9.28.0", *words), phase="unpack")
    assert reason.endswith("; the limit is a quota, or the number of files")
    assert everything(place) == before


@pytest.mark.parametrize(
    ("phase", "call"), [("download", "pwrite64"), ("unpack", "write:when=10+")], ids=["download", "unpack"]
)
def test_a_quota_that_is_used_up(big_server: RedistServer, root: Path, phase: str, call: str) -> None:
    """EDQUOT, put in the kernel's mouth by strace: few kernels have a quota to mount."""
    if shutil.which("strace") is None:
        pytest.skip("needs Debian's strace")
    before = kept(root)
    name, _, when = call.partition(":")
    inject = f"inject={name}:error=EDQUOT" + (f":{when}" if when else "")
    strace = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e", inject)
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", big_server.url, "--verify-first")
    reason = refused(run_as(0, *words, "--quiet", extra=strace), phase=phase)
    assert str(root) in reason
    assert "Disk quota exceeded: needs about " in reason
    assert reason.endswith("; the limit is a quota, or the number of files")
    assert kept(root) == before
