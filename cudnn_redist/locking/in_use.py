"""Which files the running processes have mapped, as far as this user may see (Linux)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from ..maps import mapped_files

__all__ = ["FilesInUse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesInUse:
    """The mapped files, by path and by device and inode, each with a process that has it.

    Either alone would miss some: a container sees other paths, and some file systems (overlay, btrfs) other devices.
    """

    paths: dict[str, int]
    inodes: dict[tuple[int, int], int]

    @classmethod
    def now(cls) -> FilesInUse:
        """Look at all processes; those of other users, and all where there is no ``/proc``, stay unseen."""
        found = cls(paths={}, inodes={})
        for directory in Path("/proc").glob("[0-9]*"):
            process = int(directory.name)
            # It may end while it is looked at.
            with contextlib.suppress(OSError):
                for file in mapped_files(process):
                    found.paths[file.path] = process
                    found.inodes[file.device, file.inode] = process
        return found

    def user_of(self, directory: Path) -> str | None:
        """Return a sentence on a process that has a file below ``directory`` mapped, if one has."""
        within = os.path.realpath(directory) + os.sep
        process = next((self.paths[path] for path in self.paths if path.startswith(within)), None)
        if process is None:
            process = next(filter(None, map(self._process_of, directory.rglob("*"))), None)
        return None if process is None else f"in use: process {process} has it mapped"

    def _process_of(self, path: Path) -> int | None:
        try:
            found = path.lstat()
        except OSError:
            return None
        return self.inodes.get((found.st_dev, found.st_ino))
