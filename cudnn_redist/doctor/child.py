"""Programs that run apart: what crashes or hangs there tells of the library that it loaded, and harms nobody."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Told", "run_apart", "scrubbed"]

# Without these Windows starts nothing, and libraries look for a home or a place for their files.
_KEPT = ("HOME", "LANG", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE", "WINDIR")
# Beyond it Windows reports how a program died, in hexadecimal in its documentation.
_BYTE = 0xFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a child told before it ended: ``facts``, and in words ``how`` it ``ended``."""

    facts: Mapping[str, Any]
    ended: Literal["well", "badly", "late"]
    how: str = ""


def run_apart(program: Path, *words: str, environment: Mapping[str, str], timeout: float) -> Told:
    """Run a Python program of ours in a child; it prints JSON objects, a line each, of which later ones add to earlier.

    It gets ``environment`` and nothing else, no stdin, and ``timeout`` seconds. ``OSError`` where Python cannot be
    started.
    """
    try:
        done = subprocess.run(  # noqa: S603 - this Python, and a file of this package
            [sys.executable or "python3", "-I", str(program), *words],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        return Told(facts=_facts(expired.stdout or b""), ended="late", how=f"no answer within {timeout:g} s")
    if done.returncode:
        return Told(facts=_facts(done.stdout), ended="badly", how=_ending(done.returncode))
    return Told(facts=_facts(done.stdout), ended="well")


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment has no say in which libraries are loaded."""
    return {name: value for name, value in environment.items() if name in _KEPT}


def _facts(told: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for line in told.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            # Ended in the middle of a line; or a library has talked in between.
            continue
        facts |= said if isinstance(said, dict) else {}
    return facts


def _ending(code: int) -> str:
    if code > 0:
        return f"exit code {code:#x}" if code > _BYTE else f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
