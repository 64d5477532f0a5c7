"""One shell line, measured: wall time, CPU time of every process it started, memory of the largest of them.

The line runs in a session of its own, and this process adopts what outlives its parent there, such as the
``sha256sum`` of ``tee >(sha256sum)``: the line has ended when the last of its processes has.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import resource
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
# A process begins with the peak memory of the one that started it: of a small shell here, not of this Python.
# That shell tells the line's process id and ends before the line may begin, so that nobody else waits for it.
_LAUNCHER = """\
set -euo pipefail
exec 3<&0
{{
    read -r go <&3
    exec 3<&- </dev/null
    {line}
}} >"$LOG" 2>&1 &
echo $!
"""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a line cost. ``peak`` counts bytes, in the largest process; ``cpu`` is user and system time."""

    exit_code: int
    wall: float
    cpu: float
    peak: int


def measure(line: str, *, home: Path, log: Path, variables: Mapping[str, str]) -> Measured:
    """Run ``line`` by bash in ``home`` with ``variables`` alone, what it says going to ``log``."""
    with _adopting_orphans(), _launch(line, home, {**variables, "LOG": str(log)}) as launcher:
        try:
            return _measure(launcher)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(launcher.pid, signal.SIGKILL)
            list(_ended(launcher.pid))
            raise


def _launch(line: str, home: Path, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["bash", "-c", _LAUNCHER.format(line=line)],
        cwd=home,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def _measure(launcher: subprocess.Popen[bytes]) -> Measured:
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    main = int(launcher.stdout.readline())
    launcher.wait()
    begun = time.monotonic()
    launcher.stdin.write(b"go\n")
    launcher.stdin.close()
    ended = {process: (status, usage) for process, status, usage in _ended(launcher.pid)}
    wall = time.monotonic() - begun
    usages = [usage for _, usage in ended.values()]
    return Measured(
        exit_code=os.waitstatus_to_exitcode(ended[main][0]),
        wall=wall,
        cpu=sum(usage.ru_utime + usage.ru_stime for usage in usages),
        peak=max(usage.ru_maxrss for usage in usages) * 1024,
    )


def _ended(session: int) -> Iterator[tuple[int, int, resource.struct_rusage]]:
    """Wait for every child in ``session``, adopted ones too; each brings the usage of those it waited for."""
    while True:
        try:
            yield os.wait4(-session, 0)
        except ChildProcessError:
            return


@contextmanager
def _adopting_orphans() -> Iterator[None]:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this system lets no process adopt orphans")
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
