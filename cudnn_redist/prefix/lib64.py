"""``lib64 -> lib``: some build systems look only in one of the two, and NVIDIA ships only ``lib``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .record import Entry

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["add_lib64"]


def add_lib64(root: Path, platform: str) -> tuple[Entry, ...]:
    """Add the link to a Linux tree that lacks it, and return what was added.

    On Windows a link would mean a full copy, and nothing there looks for it (C81).
    """
    link = root / "lib64"
    if not platform.startswith("linux") or not (root / "lib").is_dir() or link.exists() or link.is_symlink():
        return ()
    try:
        link.symlink_to("lib", target_is_directory=True)
    except OSError:
        # A Linux archive unpacked where links may not be made: only consumers on Linux look for lib64.
        return ()
    return (Entry(path="lib64", kind="link", target="lib"),)
