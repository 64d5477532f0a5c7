"""Run the command line as its users do: in a process of its own, in an environment that is told."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_KEPT_NAMES = frozenset({"PATH", "HOME"})
# Windows starts no process without SYSTEMROOT; coverage follows us by variables of its own.
_KEPT_PREFIXES = ("SYSTEMROOT", "USERPROFILE", "COVERAGE_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """How a command ended; ``code`` is negative for a signal."""

    code: int
    out: str
    err: str
    seconds: float


def run_command(
    *args: str | Path, env: Mapping[str, str] | None = None, timeout: float = 60, cwd: Path | None = None
) -> Completed:
    """Run ``python -m cudnn_redist`` to its end; raise subprocess.TimeoutExpired after ``timeout`` seconds.

    The environment is PATH, HOME (a temporary one under pytest, see ``conftest.py``) and ``env``.
    """
    started = time.monotonic()
    done = subprocess.run(
        _command(args), env=_environment(env), cwd=cwd, timeout=timeout, capture_output=True, check=False
    )
    return Completed(
        code=done.returncode,
        out=done.stdout.decode(errors="backslashreplace"),
        err=done.stderr.decode(errors="backslashreplace"),
        seconds=time.monotonic() - started,
    )


def start_command(
    *args: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start it in a process group of its own, for tests that send signals; use it as a context manager."""
    return subprocess.Popen(
        _command(args),
        env=_environment(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _command(args: tuple[str | Path, ...]) -> list[str]:
    return [sys.executable, "-m", "cudnn_redist", *map(str, args)]


def _environment(env: Mapping[str, str] | None) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT_NAMES or name.startswith(_KEPT_PREFIXES)
    }
    return kept | dict(env or {})
