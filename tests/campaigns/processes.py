"""The command in processes of its own, perhaps under strace, which slows or fails chosen system calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

COMMAND = (sys.executable, "-m", "cudnn_redist")

_LONGEST = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a process ended; ``code`` is negative for a signal."""

    code: int
    out: str
    err: str


def started(
    words: Iterable[str | Path],
    *,
    program: Sequence[str] = COMMAND,
    injected: str = "",
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start ``program`` with ``words``; ``injected`` is what ``strace --inject`` does to its system calls."""
    before = _strace(injected) if injected else []
    # Byte code that Python writes is renamed too, and would be slowed like the renames that are meant.
    kept = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [*before, *program, *map(str, words)],
        env=kept | dict(env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@contextmanager
def running(
    words: Iterable[str | Path], *, injected: str = "", env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command for the time of a block; one that still runs at its end is killed."""
    process = started(words, injected=injected, env=env)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            ended(process)


def ended(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for the end of a process; one that does not end is killed and gives ``subprocess.TimeoutExpired``."""
    with process:
        try:
            out, err = process.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Ended(code=process.returncode, out=out.decode().strip(), err=err.decode(errors="replace"))


def run(words: Iterable[str | Path]) -> Ended:
    """Run the command to its end."""
    return ended(started(words))


def until(condition: Callable[[], object], *, longest: float = 60.0, every: float = 0.0005) -> bool:
    """Look again and again until ``condition`` holds; ``False`` where it did not within ``longest`` seconds."""
    deadline = time.monotonic() + longest
    while not _holds(condition):
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def open_files(number: int) -> set[Path]:
    """Return the files that a process of Linux has open."""
    return {Path(os.path.realpath(link)) for link in Path(f"/proc/{number}/fd").iterdir()}


def _holds(condition: Callable[[], object]) -> bool:
    """Whether a condition holds; a tree at work may lose a file while it is looked at, which is no answer."""
    try:
        return bool(condition())
    except FileNotFoundError:
        return False


def _strace(injected: str) -> list[str]:
    """Return the command line of a tracer that is a grandchild, so that signals go to the command itself."""
    strace = shutil.which("strace")
    if strace is None:
        raise RuntimeError("this campaign slows system calls with strace: apt-get install strace")
    calls = injected.partition(":")[0]
    told = ["-qq", "-o", os.devnull, "-e", f"trace={calls}", "-e", f"inject={injected}"]
    return [strace, "-D", "-f", "--seccomp-bpf", *told]
