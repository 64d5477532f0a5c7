from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stopwatch import Stopwatch


def test_the_time_a_program_takes_is_counted() -> None:
    begun = time.monotonic()
    with Stopwatch() as watch:
        time.sleep(0.5)
    # A busy machine takes its part of it.
    assert 0.05 < watch.seconds <= time.monotonic() - begun


MEASURED = """
import sys, time
from stopwatch import Stopwatch
begun = time.monotonic()
with Stopwatch() as watch:
    print("begun", flush=True)
    sys.stdin.readline()
print(time.monotonic() - begun - watch.seconds)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_time_for_which_nothing_runs_is_not() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MEASURED],
        env={"PYTHONPATH": str(Path(__file__).parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(1)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate("\n")
    assert float(out) > 0.9
