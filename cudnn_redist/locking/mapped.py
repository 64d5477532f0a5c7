"""Which files the running processes have mapped, as far as this user may see (Linux)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Mapped"]

# address perms offset dev inode path, as proc_pid_maps(5) has it.
_LINE: Final = re.compile(rb"[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) ([0-9]+) +(/.*)")
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")
_DELETED: Final = b" (deleted)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """The mapped files, by path and by device and inode, each with a process that has it.

    Either alone would miss some: a container sees other paths, and some file systems (overlay, btrfs) other devices.
    """

    paths: dict[bytes, int]
    inodes: dict[tuple[int, int], int]

    @classmethod
    def now(cls) -> Mapped:
        """Look at all processes; those of other users, and all where there is no ``/proc``, stay unseen."""
        found = cls(paths={}, inodes={})
        for maps in Path("/proc").glob("[0-9]*/maps"):
            try:
                lines = maps.read_bytes().splitlines()
            except OSError:
                continue
            found._add(lines, int(maps.parent.name))
        return found

    def user_of(self, directory: Path) -> str | None:
        """Return a sentence on a process that has a file below ``directory`` mapped, if one has."""
        within = os.fsencode(os.path.realpath(directory) + os.sep)
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

    def _add(self, lines: list[bytes], process: int) -> None:
        for line in lines:
            if match := _LINE.fullmatch(line):
                major, minor, inode, path = match.groups()
                plain = _ESCAPED.sub(lambda escape: bytes([int(escape[1], 8)]), path.removesuffix(_DELETED))
                self.paths[plain] = process
                self.inodes[os.makedev(int(major, 16), int(minor, 16)), int(inode)] = process
