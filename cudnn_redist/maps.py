"""Which files a process has mapped, as Linux tells it (proc_pid_maps(5))."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal, NamedTuple

__all__ = ["DELETED", "MappedFile", "mapped_files"]

DELETED: Final = " (deleted)"
"""What Linux writes behind the path of a file that is gone, another in its place or not."""

# The one character that is written otherwise: a backslash stays as it is, and so does a carriage return.
_NEWLINE: Final = b"\\012"


class MappedFile(NamedTuple):
    """A file, by its ``path`` as the process sees it, and by device and inode; ``deleted`` if no path leads there.

    Linux has but the text for it: a name that ends in ``DELETED`` by itself looks the same.
    """

    path: str
    deleted: bool
    device: int
    inode: int

    @property
    def told(self) -> str:
        """The path, with what Linux adds to it where the file is gone."""
        return f"{self.path}{DELETED}" if self.deleted else self.path


def mapped_files(process: int | Literal["self"]) -> set[MappedFile]:
    """Return the files that a process has mapped now; none of one that has ended and is not yet waited for.

    Raises ``OSError``: ``FileNotFoundError`` or ``ProcessLookupError`` where there is no such process (any more), or no
    ``/proc``, and ``PermissionError`` where it is somebody else's.
    """
    maps = Path(f"/proc/{process}/maps").read_bytes()
    # address perms offset dev inode path; the path of what is no file, such as [heap], begins with no slash.
    lines = (line.split(maxsplit=5)[3:] for line in maps.split(b"\n") if b" /" in line)
    # A file has a line for each of its segments.
    files = {(device, inode, path) for device, inode, path in lines if path.startswith(b"/")}
    return {_file(*fields) for fields in files}


def _file(device: bytes, inode: bytes, path: bytes) -> MappedFile:
    major, minor = device.split(b":")
    told = os.fsdecode(path.replace(_NEWLINE, b"\n"))
    return MappedFile(
        path=told.removesuffix(DELETED),
        deleted=told.endswith(DELETED),
        device=os.makedev(int(major, 16), int(minor, 16)),
        inode=int(inode),
    )
