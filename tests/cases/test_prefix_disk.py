"""Cases of the kind "prefix": disks that fill up, and a temporary directory that has no room."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from cases.ground import ARCHIVE, LABEL, Fetch, redist
from cli.ground import CHOICE, PREFIX, leftovers, partials, reason
from disk.mounting import Mounts, fill
from installing import everything
from redist import File
from redist.command import Completed, start_command

from cudnn_redist import Prefix

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redist import RedistServer, RedistTree

EARLIER = "9.26.0"


def stands(root: Path) -> bool:
    """Whether the earlier install is what it was."""
    return Prefix.open(root / PREFIX.replace(LABEL, EARLIER)).verify() == ()


def nothing_begun(root: Path) -> bool:
    return not (root / f"cudnn/{LABEL}").exists() and (leftovers(root), partials(root)) == ([], [])


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    with Mounts() as mounts:
        yield mounts.tmpfs(tmp_path / "disk", "4m")


def test_C59_what_is_needed_is_told_before_the_first_byte(
    redist_server: RedistServer, redist_tree: RedistTree, disk: Path
) -> None:
    redist_tree.edit_manifest(
        LABEL, lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(size=str(8 << 20))
    )
    told = Fetch(disk, redist(redist_server)).refused(7)
    assert told.startswith(f"space: {disk}: needs about ")
    assert told.endswith("are free; nothing was fetched")
    assert redist_server.requests(ARCHIVE) == []


def test_C59_a_disk_that_fills_up_during_the_download(redist_server: RedistServer, disk: Path) -> None:
    Fetch(disk, redist(redist_server)).installed(EARLIER)
    # Eight seconds for the whole.
    redist_server.rate = 10_000
    # Nothing is unpacked before all is there, so that only the download can want more of the disk.
    words = ("fetch", LABEL, *CHOICE, "--root", disk, "--source", redist(redist_server), "--verify-first")
    with start_command(*words) as process:
        redist_server.wait_for(ARCHIVE, count=2, sent=10_000)
        fill(disk)
        out, err = process.communicate(timeout=60)
    told = reason(Completed(code=process.returncode, out=out.decode(), err=err.decode(), seconds=0))
    assert (process.returncode, out) == (7, b"")
    assert "No space left on device: needs about " in told
    assert stands(disk)
    assert nothing_begun(disk)


@contextmanager
def room_for(disk: Path, more: int) -> Iterator[None]:
    """Let a tmpfs take so many files, directories and links ``more``, and none beyond."""
    found = os.statvfs(disk)
    _limit_files(disk, found.f_files - found.f_ffree + more)
    try:
        yield
    finally:
        _limit_files(disk, found.f_files)


def _limit_files(disk: Path, number: int) -> None:
    subprocess.run(["mount", "-o", f"remount,nr_inodes={number}", disk], check=True)


def test_C59_a_disk_that_is_full_at_any_file_up_to_the_record(redist_tree: RedistTree, disk: Path) -> None:
    """In each round one file more may be made: directories, content, links, what we add, the record."""
    redist_tree.add_release(LABEL, content=lambda *_: {"include/cudnn.h": File(b"x")})
    fetch = Fetch(disk, redist_tree.path)
    fetch.installed(EARLIER)
    refusals = 0
    for more in range(1, 40):
        with room_for(disk, more):
            done = fetch()
        assert stands(disk)
        if done.code == 0:
            break
        assert (done.code, done.out) == (7, "")
        assert "No space left on device" in reason(done)
        assert nothing_begun(disk)
        refusals += 1
    assert done.out == f"{disk / PREFIX}\n"
    assert Prefix.open(disk / PREFIX).verify() == ()
    # Four levels, the stage, its top, a directory and a file in it, the record: no round was let off.
    assert refusals >= 8


@pytest.fixture
def small_temporary_directory(tmp_path: Path) -> Iterator[Path]:
    with Mounts() as mounts:
        yield mounts.tmpfs(tmp_path / "tmp", "10m")


@pytest.mark.parametrize("way", [(), ("--verify-first",)], ids=["usual", "--verify-first"])
def test_C60_a_small_temporary_directory_does_not_matter(
    fetch: Fetch,
    redist_tree: RedistTree,
    thirty_megabytes: bytes,
    small_temporary_directory: Path,
    way: tuple[str, ...],
) -> None:
    redist_tree.replace_archive(thirty_megabytes, LABEL, update_manifest=True)
    prefix = fetch.installed(LABEL, *way, env={"TMPDIR": str(small_temporary_directory)})
    assert sum(entry.size for entry in prefix.record.entries) >= 30 << 20
    assert everything(small_temporary_directory) == {}
