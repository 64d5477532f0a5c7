from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.prefix.turn import my_turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys, time
from pathlib import Path
from cudnn_redist.prefix.turn import my_turn
with my_turn(Path(sys.argv[1]), longest=60):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "turns/abc"


@pytest.fixture
def holder(lock: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its input ends."""
    words = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def taken(lock: Path, longest: float = 30) -> float:
    """Take a turn, and return how long that took."""
    start = time.monotonic()
    with my_turn(lock, longest=longest):
        return time.monotonic() - start


def is_mine(lock: Path) -> bool:
    return lock.read_text().startswith(f"process {os.getpid()} on ")


def test_a_free_turn_is_taken_at_once_and_again(lock: Path) -> None:
    for _ in range(2):
        with my_turn(lock, longest=5):
            assert is_mine(lock)
        assert not lock.parent.exists()


def test_waiting_says_for_whom_and_ends_with_their_turn(
    lock: Path, holder: subprocess.Popen[str], caplog: pytest.LogCaptureFixture
) -> None:
    """C67: waiting prints who holds it."""
    assert holder.stdin is not None
    with caplog.at_level(logging.WARNING):
        assert taken(lock, longest=0.15) >= 0.15
    assert [record.getMessage().partition(" on ")[0] for record in caplog.records] == [
        f"waiting for process {holder.pid}"
    ]
    holder.stdin.close()
    with my_turn(lock, longest=20):
        assert is_mine(lock)


def test_a_killed_holder_gives_its_turn_back(lock: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    assert taken(lock) < 20


def test_waiting_too_long_is_no_error(lock: Path, holder: subprocess.Popen[str]) -> None:
    assert 0 <= taken(lock, longest=0) < 10
    assert holder.poll() is None


@pytest.mark.parametrize("left", ["", "process 1 on elsewhere", "\0\x1b[2Jgarbage", "x" * 100_000])
def test_whatever_file_is_left_behind_is_harmless(left: str, lock: Path) -> None:
    lock.parent.mkdir()
    lock.write_text(left)
    with my_turn(lock, longest=5):
        assert is_mine(lock)
    assert not lock.exists()


def test_two_that_wait_never_hold_it_together(lock: Path, holder: subprocess.Popen[str]) -> None:
    """The file goes with its holder: who waited for it must not lock what nobody else sees any more."""
    words = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:
        assert holder.stdin is not None
        assert second.stdin is not None
        assert second.stdout is not None
        holder.stdin.close()
        assert second.stdout.readline() == "held\n"
        assert taken(lock, longest=0.3) >= 0.3
        second.stdin.close()
        assert taken(lock) < 20


@pytest.mark.parametrize("left", ["", "\0\x1b[2Jgarbage", "\n\n", "\udce9"])
def test_garbage_is_not_repeated_to_the_user(
    left: str, lock: Path, holder: subprocess.Popen[str], caplog: pytest.LogCaptureFixture
) -> None:
    lock.write_bytes(left.encode(errors="surrogateescape"))
    with caplog.at_level(logging.WARNING):
        taken(lock, longest=0.15)
    said = caplog.records[0].getMessage()
    assert said.isprintable()
    assert left == "\udce9" or said == "waiting for another process, which is getting the same archive"
    assert holder.poll() is None


@pytest.mark.parametrize("there", ["directory", "file-for-parent", "dangling-link"])
def test_where_no_lock_file_can_be_everybody_goes_ahead(there: str, lock: Path) -> None:
    match there:
        case "directory":
            lock.mkdir(parents=True)
        case "file-for-parent":
            lock.parent.touch()
        case "dangling-link":
            lock.parent.mkdir()
            lock.symlink_to("nowhere/at/all")
    assert taken(lock) < 5


def test_an_exception_gives_the_turn_back(lock: Path) -> None:
    with pytest.raises(KeyboardInterrupt), my_turn(lock, longest=1):
        raise KeyboardInterrupt
    assert taken(lock) < 5
