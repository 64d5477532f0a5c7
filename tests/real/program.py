"""The program as a stranger gets it: installed by pip into a fresh environment, run as a timed child."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PROJECT = Path(__file__).parents[2]
# What would reach into the child from this checkout, from settings or from a CUDA toolkit of this machine.
_PRIVATE = ("CUDA", "CUDNN", "COVERAGE", "LD_LIBRARY_PATH", "PYTHON", "VIRTUAL_ENV")
# pip may need this machine's proxy; the server under test is on the loopback and needs none.
_DIRECT = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A phase that ran to its end."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Program:
    """The command in one environment; ``home`` is where it runs, outside the checkout."""

    python: Path
    home: Path

    def __call__(self, *arguments: str | Path) -> Finished:
        command = [self.python, "-m", "cudnn_redist", *arguments]
        return phase(f"cudnn_redist {arguments[0]}", command, self.home, **_DIRECT)


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - these lines are for the reader of the CI's log


def phase(heading: str, command: Sequence[str | Path], home: Path, **variables: str) -> Finished:
    """Run ``command`` in ``home`` with ``variables`` added; show it, what it said and how long it took."""
    say(f"\n--- {heading}\n$ {' '.join(map(str, command))}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_PRIVATE)}
    begun = time.monotonic()
    done = subprocess.run(
        command,
        cwd=home,
        env=environment | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - begun
    say(f"{done.stdout}{done.stderr}exit {done.returncode} after {seconds:.2f} s")
    return Finished(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=seconds)


def install(home: Path) -> Program:
    """Make an environment below ``home`` and install this checkout into it, as a copy."""
    environment = home / "venv"
    python = environment / "bin" / "python"
    _succeed("fresh environment", [sys.executable, "-m", "venv", environment], home)
    _succeed("pip install", [python, "-m", "pip", "install", "--quiet", PROJECT], home)
    return Program(python=python, home=home)


def _succeed(heading: str, command: Sequence[str | Path], home: Path) -> None:
    finished = phase(heading, command, home)
    if finished.exit_code:
        raise RuntimeError(f"{heading} failed: {finished.stderr}")
