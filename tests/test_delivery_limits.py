"""How much memory, how long, and what progress tells."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from redist import File, RedistServer, RedistTree
from redist.archives import pack
from redist.faults import (
    Before,
    Cut,
    Stall,
)
from source.ground import (
    QUICK,
    TAR,
    get,
    large,
    nothing_left,
    prefixes,
    redist,
    stages,
)

from cudnn_redist import InstallOptions, Progress, install, plan
from cudnn_redist.errors import (
    PrefixError,
    SizeMismatch,
)

WINDOWS = {"platform": "windows-x86_64"}


_MEASURE = """
import re, sys
from pathlib import Path
from cudnn_redist import InstallOptions, UnpackOptions, fetch
options = InstallOptions(unpacking=UnpackOptions(threads=1))
fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[sys.argv[1]], root=Path(sys.argv[2]), options=options)
print(re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak is read from Linux's /proc")
def test_memory_does_not_grow_with_the_archive(tmp_path: Path) -> None:
    # Not ru_maxrss: the kernel counts what this process had before it became that one.
    peaks = []
    for megabytes in (5, 80):
        tree = RedistTree(tmp_path / f"tree{megabytes}")
        tree.add_release(
            "9.27.0",
            platforms=["linux-x86_64"],
            variants=["cuda13"],
            content=large(megabytes << 20),
            kind="tar",
        )
        with RedistServer(tree.path) as server:
            command = [sys.executable, "-c", _MEASURE, redist(server), str(tmp_path / f"root{megabytes}")]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        peaks.append(int(done.stdout) / 1024)

    small, big = peaks
    assert big - small < 25


class Stopping(Exception):
    pass


def test_an_error_of_unpacking_ends_a_stalled_download(redist_server: RedistServer, root: Path) -> None:
    redist_server.always(TAR, Stall(60_000))
    made = plan("9.27.0", platform="linux-x86_64", cuda="13", sources=[redist(redist_server)], root=root)

    def refuse(progress: Progress) -> None:
        if progress.phase == "unpack":
            raise Stopping

    started = time.monotonic()
    with pytest.raises(Stopping):
        install(made, progress=refuse)

    assert time.monotonic() - started < InstallOptions().transfer.stall_timeout
    assert nothing_left(root)


def test_a_disk_that_refuses_ends_the_download(redist_server: RedistServer, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / ".partial").touch()
    with pytest.raises(PrefixError) as caught:
        get(redist(redist_server), root=root)

    assert caught.value.exit_code == 7


def test_the_archive_may_change_at_the_very_request(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    """The manifest was read, and then both are replaced (C71): the old promise is not met."""

    def replace() -> None:
        redist_tree.replace_archive(pack("tar.xz", "t", {"x": File(b"y")}), "9.27.0", update_manifest=True)

    redist_server.fail(TAR, Before(replace))
    with pytest.raises(SizeMismatch):
        get(redist(redist_server), root=root)

    assert get(redist(redist_server), root=root).verify() == ()


def test_progress_tells_every_phase(redist_server: RedistServer, root: Path) -> None:
    seen: list[Progress] = []
    made = plan("9.27.0", platform="linux-x86_64", cuda="13", sources=[redist(redist_server)], root=root)
    install(made, progress=seen.append)

    (archive,) = made.archives
    downloads = [each for each in seen if each.phase == "download"]
    assert {each.phase for each in seen} == {"download", "unpack", "installed"}
    assert [each.done for each in downloads] == sorted(each.done for each in downloads)
    assert downloads[-1].done == downloads[-1].total == archive.size


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz", "tar.zst", "zip"])
@pytest.mark.parametrize("first", [False, True], ids=["overlapped", "verified-first"])
def test_each_kind_comes_through(*, kind: str, first: bool, tmp_path: Path) -> None:
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.0", platforms=["linux-x86_64"], variants=["cuda13"], kind=kind)
    with RedistServer(tree.path) as server:
        server.fail(f".{kind}", Cut(20_000))
        prefix = get(redist(server), root=tmp_path / "http", options={"verify_first": first})
    local = get(tree.path, root=tmp_path / "local", options={"verify_first": first})

    assert prefix.verify() == local.verify() == ()
    assert prefix.record == local.record


def test_a_zip_without_a_size_in_the_manifest_is_judged_by_its_digest(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    redist_tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["windows-x86_64"]["cuda13"].pop("size")
    )
    redist_server.fail(".zip", Cut(20_000))

    prefix = get(redist(redist_server), root=root, **WINDOWS)

    archive = redist_tree.archive_path("9.27.0", platform="windows-x86_64")
    assert prefix.record.archive_size == archive.stat().st_size
    assert zipfile.is_zipfile(archive)


def test_nothing_is_published_twice(redist_server: RedistServer, root: Path) -> None:
    get(redist(redist_server), root=root)

    assert len(prefixes(root)) == 1
    assert stages(root) == []


def test_retries_are_told_to_who_listens(
    redist_server: RedistServer, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cudnn_redist")
    redist_server.fail(TAR, Cut(30_000))

    get(redist(redist_server), root=root, transfer=QUICK)

    assert "incomplete: got 30000 of" in caplog.text
