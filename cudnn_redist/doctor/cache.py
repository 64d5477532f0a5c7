"""The loader's cache, ``/etc/ld.so.cache``: which file each library's name leads to (glibc's dl-cache.h).

Where there is none, the directories that it would be made of are listed (ld.so.conf(5)).
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from .system import bytes_at, names_in, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .system import System

__all__ = ["DEFAULT_DIRECTORIES", "cached_libraries", "configured_directories"]

DEFAULT_DIRECTORIES = ("lib/{}-linux-gnu", "usr/lib/{}-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib")
"""Where the loader looks at last, below the root; Debian's have the machine in their names."""

_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = struct.Struct("<20sII20x")
_ENTRY = struct.Struct("<iIIIQ")
_MOST_ENTRIES = 1 << 20


def cached_libraries(system: System) -> Mapping[str, tuple[Path, ...]]:
    """Return the files of cuDNN, and of what it needs, by name, in the order in which the loader takes them."""
    found: dict[str, list[Path]] = {}
    entries = _entries(system)
    for name, path in _listed(system) if entries is None else entries:
        found.setdefault(name, []).append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def configured_directories(system: System) -> list[Path]:
    """Return the directories of ``/etc/ld.so.conf`` and of the files that it includes, by their places on this disk."""
    return list(dict.fromkeys(_configured(system, system.place("/etc/ld.so.conf"), set())))


def _entries(system: System) -> list[tuple[str, Path]] | None:
    """Return name and path of each entry, or ``None`` where there is no cache of the kind that glibc writes today."""
    data = bytes_at(system.place("/etc/ld.so.cache"))
    # A cache of the older kind may come before it, in the same file.
    data = data[max(data.find(_MAGIC), 0) :]
    if not data.startswith(_MAGIC) or len(data) < _HEADER.size:
        return None
    _, count, _ = _HEADER.unpack_from(data)
    found = []
    directories: dict[str, Path] = {}
    for place in range(min(count, _MOST_ENTRIES)):
        offset = _HEADER.size + place * _ENTRY.size
        if offset + _ENTRY.size > len(data):
            break
        _, name, path, _, _ = _ENTRY.unpack_from(data, offset)
        directory, _, file = _text(data, path).rpartition("/")
        if directory not in directories:
            directories[directory] = system.place(directory or "/")
        found.append((_text(data, name), directories[directory] / file))
    return found


def _text(data: bytes, offset: int) -> str:
    return os.fsdecode(data[offset : offset + 4096].partition(b"\0")[0])


def _listed(system: System) -> Iterator[tuple[str, Path]]:
    for directory in configured_directories(system):
        try:
            yield from ((name, directory / name) for name in names_in(directory) if ".so." in name)
        except OSError:
            continue


def _configured(system: System, file: Path, seen: set[Path]) -> Iterator[Path]:
    if file in seen:
        return
    seen.add(file)
    for line in text_at(file).splitlines():
        words = line.partition("#")[0].replace(",", " ").split()
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                base = pattern if pattern.startswith("/") else f"/etc/{pattern}"
                for included in system.glob(base.lstrip("/")):
                    yield from _configured(system, included, seen)
        elif words and words[0] != "hwcap":
            yield from (system.place(word) for word in words if word.startswith("/"))
