"""What an ELF library gives to others and wants of them (LSB core specification, "Symbol Versioning")."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .elf import Elf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .binary import Data

__all__ = ["Symbols", "elf_symbols"]

# sh_type of .gnu.version and of .gnu.version_r
_VERSIONS, _NEEDS = 0x6FFFFFFF, 0x6FFFFFFE
_GLOBAL = 1
_MOST_NEEDS = 8192
_LONGEST_NAME = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """``defined`` are the names that a library exports, ``wanted``, by library, those that it cannot do without."""

    defined: frozenset[str] = frozenset()
    wanted: Mapping[str, frozenset[str]] = field(default_factory=dict)


def elf_symbols(data: Data) -> Symbols:
    """Read the dynamic symbols; ``NotABinary`` where the file is damaged.

    A wanted symbol is told with the library that it is expected in only where both were linked with versions, as
    NVIDIA's are; a weak one is not wanted, since the loader does without.
    """
    elf = Elf(data)
    texts, symbols = elf.symbols()
    versions = _versions(elf)
    libraries = dict(_libraries(elf))
    defined: set[str] = set()
    wanted: dict[str, set[str]] = {}
    for place, (name, info, _, section, _, _) in enumerate(symbols):
        text = texts[name : name + _LONGEST_NAME].partition(b"\0")[0].decode("utf-8", "surrogateescape")
        if section:
            defined.add(text)
        elif info >> 4 == _GLOBAL and place < len(versions) and versions[place] in libraries:
            wanted.setdefault(libraries[versions[place]], set()).add(text)
    return Symbols(
        defined=frozenset(defined), wanted={library: frozenset(names) for library, names in wanted.items()}
    )


def _versions(elf: Elf) -> tuple[int, ...]:
    """Return the number of the version of each symbol, without the bit that hides it."""
    table = elf.section_of(_VERSIONS)
    if table is None:
        return ()
    numbers = elf.table(table[0], table[1])
    return tuple(number & 0x7FFF for (number,) in struct.iter_unpack("<H", numbers[: len(numbers) // 2 * 2]))


def _libraries(elf: Elf) -> Iterator[tuple[int, str]]:
    """Yield number and library of each version that is asked of another library."""
    table = elf.section_of(_NEEDS)
    if table is None:
        return
    offset, _, link = table
    texts, _ = elf.section_at(link)
    told = 0
    while told < _MOST_NEEDS:
        _, count, file, first, following = elf.unpack("<HHIII", offset)
        entry = offset + first
        told += count + 1
        for _ in range(count):
            _, _, number, _, after = elf.unpack("<IHHII", entry)
            yield number & 0x7FFF, elf.text(texts + file)
            entry += after
        if not following:
            return
        offset += following
