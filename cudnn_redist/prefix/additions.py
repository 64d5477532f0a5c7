"""Files that we add to a tree before it is published, and what the record says of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from .publish import write_file
from .record import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["add_files"]


def add_files(root: Path, files: Mapping[str, bytes]) -> tuple[Entry, ...]:
    """Write ``files`` (path -> content) below ``root`` and return what was added, directories included, by path.

    Two names that the file system takes for one are written once; both are returned, since both are found.
    """
    added = [
        Entry(path=path, kind="file", size=len(data), sha256=hashlib.sha256(data).hexdigest())
        for path, data in files.items()
    ]
    for path, data in files.items():
        for directory in reversed((root / path).parents):
            if root in directory.parents and not directory.is_dir():
                directory.mkdir()
                added.append(Entry(path=directory.relative_to(root).as_posix(), kind="directory"))
        if not _is_written(root / path, data):
            write_file(root / path, data)
    return tuple(sorted(added, key=lambda entry: entry.path))


def _is_written(path: Path, data: bytes) -> bool:
    """Whether a file of this run has taken the name, under another spelling."""
    return path.is_file() and path.read_bytes() == data
