"""Windows DLLs: machine, imports, and the names among their constants (Microsoft's "PE Format" page)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from .binary import Binary, NotABinary, cudnn_texts, pieces

if TYPE_CHECKING:
    from .binary import Data

__all__ = ["PE_MAGIC", "read_pe"]

PE_MAGIC = b"MZ"

_MACHINES = {0x014C: "i386", 0x8664: "x86_64", 0xAA64: "aarch64"}
_DLL = 0x2000
_PE32_PLUS = 0x20B
_IMPORTS = 1
_MOST_IMPORTS = 4096


class _Section(NamedTuple):
    name: str
    address: int
    offset: int
    size: int


class _Pe:
    """The headers of a PE32+ file; every access checks that it stays inside."""

    def __init__(self, data: Data) -> None:
        self.data = data
        (start,) = self.unpack("<I", 0x3C)
        if data[start : start + 4] != b"PE\0\0":
            raise NotABinary("a DOS program, no DLL")
        self.machine, count, _, _, _, optional_size, self.flags = self.unpack("<HHIIIHH", start + 4)
        self._optional = start + 24
        (self.magic,) = self.unpack("<H", self._optional)
        table = self._optional + optional_size
        self.sections = [self._section(table + place * 40) for place in range(count)]

    def unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack(layout, self.data[offset : offset + struct.calcsize(layout)])
        except struct.error as error:
            raise NotABinary(f"a PE file that ends early: {error}") from error

    def imports(self) -> tuple[str, ...]:
        """Return the names of the DLLs that the loader brings with this one."""
        (directories,) = self.unpack("<I", self._optional + 108)
        if directories <= _IMPORTS:
            return ()
        (address,) = self.unpack("<I", self._optional + 112 + 8 * _IMPORTS)
        if not address:
            return ()
        offset, found = self._offset_of(address), []
        for place in range(_MOST_IMPORTS):
            *_, name, _ = self.unpack("<IIIII", offset + 20 * place)
            if not name:
                break
            found.append(self._text(self._offset_of(name)))
        return tuple(found)

    def _section(self, offset: int) -> _Section:
        name = self.data[offset : offset + 8].rstrip(b"\0").decode("ascii", "replace")
        _, address, size, start = self.unpack("<IIII", offset + 8)
        return _Section(name, address, start, size)

    def _offset_of(self, address: int) -> int:
        for section in self.sections:
            if section.address <= address < section.address + section.size:
                return address - section.address + section.offset
        raise NotABinary(f"address {address:#x} lies in no section of the PE file")

    def _text(self, offset: int) -> str:
        text, end, _ = self.data[offset : offset + 512].partition(b"\0")
        if not end:
            raise NotABinary("a name in the PE file has no end")
        return text.decode("ascii", "replace")


def read_pe(data: Data) -> Binary:
    """Read a 64-bit DLL; ``NotABinary`` for every other file, damaged ones included."""
    pe = _Pe(data)
    if pe.magic != _PE32_PLUS or not pe.flags & _DLL:
        raise NotABinary("a PE file, but no 64-bit DLL")
    constants = (
        piece
        for section in [each for each in pe.sections if each.name == ".rdata"][:1]
        for piece in pieces(data, section.offset, section.size)
    )
    names, release = cudnn_texts(constants)
    return Binary(
        format="pe",
        machine=_MACHINES.get(pe.machine, f"machine {pe.machine:#x}"),
        needed=pe.imports(),
        named=names,
        release=release,
    )
