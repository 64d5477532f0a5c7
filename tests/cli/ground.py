"""What the tests of the command line share: one choice that any machine answers alike, and how a run is looked at."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from redist.command import Completed

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
"""Choices that leave nothing to the machine of the test."""

PREFIX = "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
"""Where a root keeps 9.27.0 of that choice."""


def snapshot(folder: Path) -> dict[str, str] | None:
    """Return every path below ``folder`` with kind, mode, time and content; ``None`` where there is no folder."""
    if not os.path.lexists(folder):
        return None
    return {str(path.relative_to(folder)): _state(path) for path in (folder, *folder.rglob("*"))}


def leftovers(folder: Path) -> list[str]:
    """Return what an unfinished run may leave: stages, prefixes moved aside, half-made links."""
    return sorted(path.name for path in folder.rglob(".cudnn-redist-*"))


def partials(root: Path) -> list[Path]:
    """Return the archives that are not complete yet."""
    return sorted((root / ".partial").glob("*.part"))


def reason(done: Completed) -> str:
    """Return the last line on stderr after checking that it is the one reason, and that no traceback is there."""
    *before, last = done.err.splitlines()
    assert last.startswith("cudnn-redist: "), done.err
    assert [line for line in before if line.startswith("cudnn-redist: ")] == []
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
    return last.removeprefix("cudnn-redist: ")


def _state(path: Path) -> str:
    found = path.lstat()
    content = ""
    if stat.S_ISLNK(found.st_mode):
        content = str(path.readlink())
    elif stat.S_ISREG(found.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{found.st_mode:o} {found.st_mtime_ns} {found.st_ino} {content}"
