"""The real programs that the tests of consumers run."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["program", "ran"]

_KEPT = ("PATH", "HOME", "TMPDIR", "LANG")


def program(name: str) -> str:
    """Return the path of a program; a machine without it skips the test."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here")
    return found


def ran(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, fails: bool = False
) -> str:
    """Run a program in an environment of ``env`` and little else; return what it said, on both streams.

    It must end well, or with ``fails`` not well.
    """
    kept = {name: value for name, value in os.environ.items() if name in _KEPT}
    done = subprocess.run(
        [program(str(words[0])), *map(str, words[1:])],
        cwd=cwd,
        env={**kept, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout
