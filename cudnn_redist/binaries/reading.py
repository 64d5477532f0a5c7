"""A shared library on disk, read without copying it into memory."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from .binary import Binary, NotABinary
from .elf import ELF_MAGIC, read_elf
from .pe import PE_MAGIC, read_pe

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_binary"]


def read_binary(path: Path) -> Binary:
    """Read the library at ``path``; ``NotABinary`` where it is none, ``OSError`` where it cannot be read."""
    with path.open("rb") as file:
        magic = file.read(4)
        if not magic:
            raise NotABinary("an empty file")
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if magic == ELF_MAGIC:
        return read_elf(data)
    if magic[:2] == PE_MAGIC:
        return read_pe(data)
    raise NotABinary(f"neither ELF nor PE: it begins with {magic!r}")
