"""Cases of the kind "prefix": several processes on one root, and locks that nobody holds any more."""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from installing import everything, leftovers
from redist.command import run_command, start_command
from redist.faults import Before, Stall

from cudnn_redist import Prefix

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from redist import RedistServer, RedistTree

PROCESSES = 8
SLOW = 40_000
"""Bytes per second: the archives of the test tree, of some 80 KB, take two seconds."""

PLATFORMS = ("linux-x86_64", "linux-sbsa")
CUDAS = ("12", "13")


def words(server: RedistServer, root: Path, platform: str = "linux-x86_64", cuda: str = "13") -> list[str]:
    choice = ["--platform", platform, "--cuda", cuda, "--no-progress"]
    return ["fetch", "9.27.0", *choice, "--source", f"{server.url}cudnn/redist/", "--root", str(root)]


def ended(processes: Sequence[subprocess.Popen[bytes]]) -> list[tuple[int, str]]:
    """Wait for all, and return exit codes with the last path that each printed."""
    found = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode <= 0, err.decode()
        found.append((process.returncode, out.decode().strip()))
    return found


def downloads(server: RedistServer) -> list[str]:
    return [request.path for request in server.requests(".tar.xz") if request.method == "GET"]


@pytest.fixture
def reference(redist_tree: RedistTree, tmp_path: Path) -> dict[str, tuple[str, str]]:
    """What a single process makes of the archive."""
    alone = tmp_path / "alone"
    done = run_command(
        *("fetch", "9.27.0", "--platform", "linux-x86_64", "--cuda", "13"),
        *("--source", redist_tree.path, "--root", alone),
    )
    assert done.code == 0
    return everything(alone / "cudnn")


def test_C65_one_archive_is_downloaded_once_for_all(
    redist_server: RedistServer, root: Path, reference: dict[str, tuple[str, str]]
) -> None:
    redist_server.rate = SLOW
    with ExitStack() as stack:
        started = [stack.enter_context(start_command(*words(redist_server, root))) for _ in range(PROCESSES)]
        path = str(root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
        assert ended(started) == [(0, path)] * PROCESSES
    assert len(downloads(redist_server)) == 1
    assert everything(root / "cudnn") == reference
    assert leftovers(root) == []


def test_C65_one_process_killed_half_way_hinders_nobody(
    redist_server: RedistServer, root: Path, reference: dict[str, tuple[str, str]]
) -> None:
    redist_server.rate = SLOW
    redist_server.fail(".tar.xz", Stall(20_000))
    with ExitStack() as stack:
        victim = stack.enter_context(start_command(*words(redist_server, root)))
        redist_server.wait_for(".tar.xz", sent=20_000)
        started = [stack.enter_context(start_command(*words(redist_server, root))) for _ in range(3)]
        os.killpg(victim.pid, signal.SIGKILL)
        assert ended([victim]) == [(-signal.SIGKILL, "")]
        assert [code for code, _ in ended(started)] == [0, 0, 0]
    assert len(downloads(redist_server)) == 2
    trees = everything(root / "cudnn").items()
    assert {path: what for path, what in trees if ".stage" not in path} == reference
    # The others may have begun before the victim was dead: what it left goes with the next run.
    assert [path for path in leftovers(root) if f".{victim.pid}." not in path] == []
    with start_command(*words(redist_server, root, cuda="12")) as later:
        assert [code for code, _ in ended([later])] == [0]
    assert leftovers(root) == []


@pytest.mark.parametrize("round_", range(3))
def test_C64_cold_starts_with_different_archives_do_not_collide(
    redist_server: RedistServer, root: Path, round_: int
) -> None:
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                start_command(
                    *words(redist_server, root, PLATFORMS[each % 2], CUDAS[(each + round_) // 2 % 2])
                )
            )
            for each in range(PROCESSES)
        ]
        assert [code for code, _ in ended(started)] == [0] * PROCESSES
    prefixes = sorted(root.glob("cudnn/9.27.0/cudnn/*/*"))
    assert len(prefixes) == len(PLATFORMS) * len(CUDAS) == len(downloads(redist_server))
    assert [Prefix.open(path).verify() for path in prefixes] == [()] * 4
    assert leftovers(root) == []


def test_C65_processes_that_all_replace_leave_one_whole_prefix(
    redist_server: RedistServer, root: Path
) -> None:
    with ExitStack() as stack:
        started = [
            stack.enter_context(start_command(*words(redist_server, root), "--force"))
            for _ in range(PROCESSES)
        ]
        assert [code for code, _ in ended(started)] == [0] * PROCESSES
    prefix = Prefix.open(root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
    assert prefix.verify() == ()
    assert leftovers(root) == []


def test_C65_without_working_locks_everybody_still_ends_well(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path, reference: dict[str, tuple[str, str]]
) -> None:
    """A directory in the lock's place: each process gets the archive for itself, and the renames decide."""
    sha256 = redist_tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]["sha256"]
    (root / ".turns" / sha256).mkdir(parents=True)
    redist_server.rate = 4 * SLOW
    with ExitStack() as stack:
        started = [stack.enter_context(start_command(*words(redist_server, root))) for _ in range(4)]
        assert [code for code, _ in ended(started)] == [0] * 4
    assert everything(root / "cudnn") == reference
    assert leftovers(root) == []


@pytest.mark.parametrize(
    "left",
    [b"", b"\0\xff garbage", b"process 4194305 on {here}", b"process 1 on elsewhere"],
    ids=["empty", "garbage", "dead process", "other host"],
)
def test_C67_lock_files_left_behind_are_harmless(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path, left: bytes
) -> None:
    sha256 = redist_tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]["sha256"]
    (root / ".turns").mkdir(parents=True)
    (root / ".turns" / sha256).write_bytes(left.replace(b"{here}", socket.gethostname().encode()))
    done = run_command(*words(redist_server, root), timeout=60)
    assert (done.code, done.err.count("waiting")) == (0, 0)


def test_C67_waiting_names_the_process_that_is_waited_for(redist_server: RedistServer, root: Path) -> None:
    asked, may_answer = threading.Event(), threading.Event()
    redist_server.fail(".tar.xz", Before(lambda: asked.set() or may_answer.wait(60)))
    with start_command(*words(redist_server, root)) as first:
        assert asked.wait(60)
        with start_command(*words(redist_server, root)) as second:
            assert second.stderr is not None
            assert any(f"waiting for process {first.pid} on ".encode() in line for line in second.stderr)
            may_answer.set()
            assert [code for code, _ in ended([first, second])] == [0, 0]
    assert len(downloads(redist_server)) == 1
