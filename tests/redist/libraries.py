"""Small true shared libraries, ELF and PE: nothing runs in them, and every reader finds what a real one has."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["elf_library", "pe_library"]

_ELF_MACHINE = {"linux-x86_64": 62, "linux-ppc64le": 21, "linux-sbsa": 183, "linux-aarch64": 183}
_PE_MACHINE = {"windows-x86_64": 0x8664, "windows-arm64": 0xAA64}
_NEEDED, _STRTAB, _STRSZ, _SONAME, _RPATH, _RUNPATH = 1, 5, 10, 14, 15, 29
_VERNEED, _VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF


class _Texts:
    """A string table under construction: texts in, offsets out."""

    def __init__(self) -> None:
        self.data = b"\0"

    def add(self, text: str) -> int:
        self.data += text.encode() + b"\0"
        return len(self.data) - len(text.encode()) - 1


def elf_library(
    platform: str = "linux-x86_64",
    *,
    soname: str | None = None,
    needed: Sequence[str] = (),
    named: Sequence[str] = (),
    rpath: str | None = None,
    runpath: str | None = None,
    glibc: Sequence[str] = (),
    payload: bytes = b"",
) -> bytes:
    """Return a shared object: ``named`` are texts among its constants, ``glibc`` versions it asks of libc.so.6.

    One segment holds the whole file at address 0, so that offsets and addresses are the same numbers.
    """
    texts = _Texts()
    dynamic = [(_NEEDED, texts.add(name)) for name in needed]
    for tag, text in ((_SONAME, soname), (_RPATH, rpath), (_RUNPATH, runpath)):
        if text is not None:
            dynamic.append((tag, texts.add(text)))
    versions = _version_needs(texts, glibc)
    constants = b"".join(name.encode() + b"\0" for name in named) + payload
    section_names = b"\0.rodata\0.shstrtab\0"
    texts_at = 64 + 2 * 56
    versions_at = texts_at + len(texts.data)
    dynamic += [(_STRTAB, texts_at), (_STRSZ, len(texts.data))]
    if glibc:
        dynamic += [(_VERNEED, versions_at), (_VERNEEDNUM, 1)]
    table = b"".join(struct.pack("<QQ", *entry) for entry in (*dynamic, (0, 0)))
    table_at = versions_at + len(versions)
    constants_at = table_at + len(table)
    names_at = constants_at + len(constants)
    sections_at = names_at + len(section_names)
    header = _elf_header(platform, sections_at)
    whole = sections_at + 3 * 64
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, whole, whole, 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 6, table_at, table_at, table_at, len(table), len(table), 8)
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 1, 1, 2, constants_at, constants_at, len(constants), 0, 0, 1, 0)
    sections += struct.pack("<IIQQQQIIQQ", 9, 3, 0, 0, names_at, len(section_names), 0, 0, 1, 0)
    return header + segments + texts.data + versions + table + constants + section_names + sections


def pe_library(
    platform: str = "windows-x86_64",
    *,
    imports: Sequence[str] = (),
    named: Sequence[str] = (),
    payload: bytes = b"",
) -> bytes:
    """Return a DLL: ``imports`` are what its loader brings, ``named`` texts among its constants."""
    start, address = 0x200, 0x1000
    table_size = 20 * (len(imports) + 1)
    table, names = b"", b""
    for name in imports:
        table += struct.pack("<IIIII", 0, 0, 0, address + table_size + len(names), 0)
        names += name.encode() + b"\0"
    data = table + bytes(20) + names + b"".join(name.encode() + b"\0" for name in named) + payload
    optional = struct.pack("<H", 0x20B).ljust(108, b"\0") + struct.pack("<I", 16)
    optional += bytes(8) + struct.pack("<II", address if imports else 0, table_size if imports else 0)
    optional = optional.ljust(240, b"\0")
    stub = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    machine = _PE_MACHINE.get(platform, 0x8664)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, len(optional), 0x2022)
    section = b".rdata".ljust(8, b"\0") + struct.pack(
        "<IIIIIIHHI", len(data), address, len(data), start, 0, 0, 0, 0, 0
    )
    return (stub + coff + optional + section).ljust(start, b"\0") + data


def _version_needs(texts: _Texts, glibc: Sequence[str]) -> bytes:
    if not glibc:
        return b""
    needs = struct.pack("<HHIII", 1, len(glibc), texts.add("libc.so.6"), 16, 0)
    for place, version in enumerate(glibc, start=1):
        following = 0 if place == len(glibc) else 16
        needs += struct.pack("<IHHII", 0, 0, place + 1, texts.add(version), following)
    return needs


def _elf_header(platform: str, sections_at: int) -> bytes:
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    machine = _ELF_MACHINE.get(platform, 62)
    return ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, sections_at, 0, 64, 56, 2, 64, 3, 2)
