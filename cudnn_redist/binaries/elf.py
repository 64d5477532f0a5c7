"""ELF shared libraries, by their program headers and the dynamic section (System V ABI, chapters 4 and 5).

Section headers are used to find the constants and what cuDNN exports; the loader needs none, nor does the rest here.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from .binary import Binary, NotABinary, cudnn_texts, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .binary import Data

__all__ = ["ELF_MAGIC", "Elf", "read_elf"]

ELF_MAGIC = b"\x7fELF"

_MACHINES = {3: "i386", 21: "ppc64le", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv"}
_SHARED_OBJECT = 3
_LOAD, _DYNAMIC = 1, 2
_NULL, _NEEDED, _STRTAB, _SONAME, _RPATH, _RUNPATH = 0, 1, 5, 14, 15, 29
_DYNAMIC_SYMBOLS = 11
# st_name, st_info, st_other, st_shndx, st_value, st_size
_SYMBOL = struct.Struct("<IBBHQQ")
_VERSION_SIZE = 4
_RELEASE_SYMBOL = re.compile(rb"\0cudnn_[a-z]+(?:_infer|_train)?_version(?=\0)")
_VERNEED, _VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
# Many times what a real library has; a damaged count must not keep the reader busy.
_MOST_ENTRIES = 8192
# So are tables: that of the 600 MB of 8.9's largest part has 7 MB of names. A damaged size must not fill the memory.
_LARGEST_TABLE = 64 << 20


class _Segment(NamedTuple):
    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    size: int
    memory: int
    alignment: int


class Elf:
    """The parts of a 64-bit little-endian file; every access checks that it stays inside."""

    def __init__(self, data: Data) -> None:
        self.data = data
        # e_type, e_machine, e_version, e_entry, e_phoff, e_shoff, e_flags, e_ehsize, then counts and sizes
        fields = self.unpack("<HHIQQQIHHHHHH", 16)
        self.kind, self.machine = fields[0], fields[1]
        self._headers, self._sections = fields[4], fields[5]
        size, count = fields[8], fields[9]
        self._section_size, self._section_count, self._section_names = fields[10:13]
        self.segments = [
            _Segment(*self.unpack("<IIQQQQQQ", self._headers + place * size)) for place in range(count)
        ]

    def unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        """Return numbers that stand at ``offset``; ``NotABinary`` where the file ends before them."""
        try:
            return struct.unpack(layout, self.data[offset : offset + struct.calcsize(layout)])
        except struct.error as error:
            raise NotABinary(f"an ELF file that ends early: {error}") from error

    def offset_of(self, address: int) -> int:
        """Return where in the file the loader finds what it puts at ``address``."""
        for segment in self.segments:
            if segment.kind == _LOAD and segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
        raise NotABinary(f"address {address:#x} lies in no segment of the ELF file")

    def text(self, offset: int) -> str:
        """Return the text that begins at ``offset`` and ends with NUL."""
        text, end, _ = self.data[offset : offset + 4096].partition(b"\0")
        if not end:
            raise NotABinary("a name in the ELF file has no end")
        return text.decode("utf-8", "surrogateescape")

    def dynamic(self) -> list[tuple[int, int]]:
        """Return tag and value of every entry of the dynamic section."""
        found: list[tuple[int, int]] = []
        for segment in self.segments:
            if segment.kind != _DYNAMIC:
                continue
            for offset in range(segment.offset, segment.offset + min(segment.size, _MOST_ENTRIES * 16), 16):
                tag, value = self.unpack("<QQ", offset)
                if tag == _NULL:
                    break
                found.append((tag, value))
            break
        return found

    def table(self, offset: int, size: int) -> bytes:
        """Return a table of symbols or names; ``NotABinary`` where it is larger than any can be."""
        if size > _LARGEST_TABLE:
            raise NotABinary(f"a table of {size} bytes in the ELF file")
        return self.data[offset : offset + size]

    def constants(self) -> Iterator[bytes]:
        """Yield the section of constants, in pieces that overlap by more than a name is long."""
        if not self._sections or self._section_names >= self._section_count:
            return
        names = self._section(self._section_names)[4]
        for place in range(self._section_count):
            name, _, _, _, offset, size, *_ = self._section(place)
            if self.text(names + name) == ".rodata":
                yield from pieces(self.data, offset, size)
                return

    def section_of(self, kind: int) -> tuple[int, int, int] | None:
        """Return offset, size and linked section of the first section of a kind (``sh_type``)."""
        for place in range(self._section_count if self._sections else 0):
            _, found, _, _, offset, size, link, *_ = self._section(place)
            if found == kind:
                return offset, size, link
        return None

    def section_at(self, place: int) -> tuple[int, int]:
        """Return offset and size of a section by its number."""
        _, _, _, _, offset, size, *_ = self._section(place)
        return offset, size

    def release(self) -> str | None:
        """Return the release in a symbol such as ``cudnn_ops_infer_version``: what cuDNN's parts compare as they meet.

        It is a number of four bytes, one each for major, minor and patch: 0x091b00 is 9.27.0.
        """
        texts, symbols = self.symbols()
        names = {match.start() + 1 for match in _RELEASE_SYMBOL.finditer(texts)}
        for name, _, _, section, address, size in symbols if names else ():
            if name in names and section and size == _VERSION_SIZE:
                number = self.unpack("<I", self.offset_of(address))[0]
                return f"{number >> 16}.{number >> 8 & 0xFF}.{number & 0xFF}"
        return None

    def symbols(self) -> tuple[bytes, Iterator[tuple[int, ...]]]:
        """Return the texts that hold the names of the dynamic symbols, and the fields of each; neither without a table.

        The fields are ``st_name`` (an offset into the texts), ``st_info``, ``st_other``, ``st_shndx`` (0: not defined
        here), ``st_value`` and ``st_size``.
        """
        table = self.section_of(_DYNAMIC_SYMBOLS)
        if table is None:
            return b"", iter(())
        offset, size, link = table
        texts, entries = self.table(*self.section_at(link)), self.table(offset, size)
        return texts, _SYMBOL.iter_unpack(entries[: len(entries) // _SYMBOL.size * _SYMBOL.size])

    def _section(self, place: int) -> tuple[int, ...]:
        return self.unpack("<IIQQQQIIQQ", self._sections + place * self._section_size)


def read_elf(data: Data) -> Binary:
    """Read a 64-bit little-endian shared library; ``NotABinary`` for every other file, damaged ones included."""
    if data[4:6] != b"\x02\x01":
        raise NotABinary("an ELF file that is not 64-bit little-endian")
    elf = Elf(data)
    if elf.kind != _SHARED_OBJECT:
        raise NotABinary("an ELF file, but no shared library")
    entries = elf.dynamic()
    values = dict(entries)
    if _STRTAB not in values:
        raise NotABinary("an ELF file without a dynamic section")
    texts = elf.offset_of(values[_STRTAB])

    def named(tag: int) -> str | None:
        return elf.text(texts + values[tag]) if tag in values else None

    names, release = cudnn_texts(elf.constants())
    return Binary(
        format="elf",
        machine=_MACHINES.get(elf.machine, f"machine {elf.machine}"),
        soname=named(_SONAME),
        needed=tuple(elf.text(texts + value) for tag, value in entries if tag == _NEEDED),
        named=names,
        rpath=named(_RPATH),
        runpath=named(_RUNPATH),
        symbol_versions=_symbol_versions(elf, values, texts),
        release=elf.release() or release,
    )


def _symbol_versions(elf: Elf, values: dict[int, int], texts: int) -> tuple[tuple[str, str], ...]:
    """Return (library, version) pairs (LSB core specification, "Symbol Versioning", version requirements)."""
    found: list[tuple[str, str]] = []
    if _VERNEED not in values:
        return ()
    offset = elf.offset_of(values[_VERNEED])
    for _ in range(min(values.get(_VERNEEDNUM, 0), _MOST_ENTRIES)):
        _, count, file, first, following = elf.unpack("<HHIII", offset)
        library, entry = elf.text(texts + file), offset + first
        for _ in range(count):
            _, _, _, name, next_entry = elf.unpack("<IHHII", entry)
            found.append((library, elf.text(texts + name)))
            entry += next_entry
        if len(found) > _MOST_ENTRIES:
            raise NotABinary("an ELF file with endless symbol versions")
        offset += following
    return tuple(found)
