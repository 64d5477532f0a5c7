"""A shared library on disk, of which only the parts that say something are read."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from .binary import Binary, NotABinary
from .elf import ELF_MAGIC, read_elf
from .pe import PE_MAGIC, read_pe
from .symbols import Symbols, elf_symbols

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

__all__ = ["read_binary", "read_symbols"]


class _File:
    """The bytes of an open file. It is not mapped: where the disk then fails, the whole process would be ended."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._size)
        self._file.seek(start)
        return self._file.read(max(stop - start, 0))


def read_binary(path: Path) -> Binary:
    """Read the library at ``path``; ``NotABinary`` where it is none, ``OSError`` where it cannot be read."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotABinary("no regular file")
    with path.open("rb", buffering=0) as file:
        data = _File(file)
        magic = data[:4]
        if not magic:
            raise NotABinary("an empty file")
        if magic == ELF_MAGIC:
            return read_elf(data)
        if magic[:2] == PE_MAGIC:
            return read_pe(data)
    raise NotABinary(f"neither ELF nor PE: it begins with {magic!r}")


def read_symbols(path: Path) -> Symbols:
    """Read the symbols of the library at ``path``: none where it is no ELF file; errors as for ``read_binary``."""
    with path.open("rb", buffering=0) as file:
        data = _File(file)
        return elf_symbols(data) if data[:4] == ELF_MAGIC else Symbols()
