"""The libraries of a prefix, by what they say about themselves: they must be one whole set for one kind of machine."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from ..binaries import Binary, NotABinary, read_binary
from ..findings import Finding
from .versions import differing_release

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .record import Record

__all__ = ["examine", "is_library", "named_not_shipped"]

# Other products' archives may well hold plugins, and programs for other machines.
_LIBRARY = re.compile(r"(?:.*/)?(?:libcudnn[^/]*\.so(?:\.[0-9]+)*|cudnn[^/]*\.dll)")
# What the parts of a platform's name mean to a library; ``linux-sbsa`` and ``linux-aarch64`` are both 64-bit Arm.
_MACHINES = {
    "x86_64": "x86_64",
    "sbsa": "aarch64",
    "aarch64": "aarch64",
    "arm64": "aarch64",
    "ppc64le": "ppc64le",
}
_GLIBC = re.compile(r"GLIBC_([0-9]+)\.([0-9]+)(?:\.[0-9]+)?")


def examine(root: Path, record: Record, *, glibc: tuple[int, int] | None = None) -> Iterator[Finding]:
    """Yield what is wrong with the recorded libraries of cuDNN below ``root``.

    ``glibc`` is the version of this machine's C library, where the prefix is meant for this machine. What is missing,
    no file or may not be read is passed over: comparing with the record tells of it.
    """
    found: dict[str, Binary] = {}
    for entry in record.entries:
        if entry.kind == "file" and is_library(entry.path):
            try:
                if stat.S_ISREG((root / entry.path).lstat().st_mode):
                    found[entry.path] = read_binary(root / entry.path)
            except NotABinary as error:
                yield Finding(code="library-damaged", where=entry.path, detail=str(error))
            except OSError:
                continue
    names = {os.path.basename(entry.path) for entry in record.entries}  # noqa: PTH119 - a name, no place on this disk
    for path, binary in found.items():
        yield from _apart(path, binary, record, names, glibc)
    yield from named_not_shipped(found, names)


def _apart(
    path: str, binary: Binary, record: Record, names: set[str], glibc: tuple[int, int] | None
) -> Iterator[Finding]:
    machine = _MACHINES.get(record.platform.rpartition("-")[2])
    if machine is not None and binary.machine != machine:
        yield Finding(
            code="machine-differs", where=path, detail=f"made for {binary.machine}, not for {record.platform}"
        )
    if release := differing_release(path, binary.release, record):
        detail = f"was built as {release}, recorded as {record.version}"
        yield Finding(code="version-differs", where=path, detail=detail)
    if binary.soname is not None and binary.soname not in names:
        yield Finding(code="soname-missing", where=path, detail=f"calls itself {binary.soname}")
    wanted = max(map(_glibc_of, binary.symbol_versions), default=(0, 0))
    if glibc is not None and wanted > glibc:
        yield Finding(
            code="glibc-too-old",
            where=path,
            detail=f"needs glibc {wanted[0]}.{wanted[1]}, this machine has {glibc[0]}.{glibc[1]}",
        )


def _glibc_of(symbol_version: tuple[str, str]) -> tuple[int, int]:
    named = _GLIBC.fullmatch(symbol_version[1])
    return (int(named[1]), int(named[2])) if named else (0, 0)


def is_library(path: str) -> bool:
    """Whether a file of this name in an archive is one of cuDNN's shared libraries."""
    return _LIBRARY.fullmatch(path) is not None


def named_not_shipped(found: Mapping[str, Binary], names: set[str]) -> Iterator[Finding]:
    """Yield, by the first library that names it, what any of the set names and the archive does not have.

    ``found`` are libraries by path, ``names`` those of every file that there is.
    """
    told: set[str] = set()
    for path, binary in sorted(found.items()):
        absent = {
            name
            for name in (*binary.needed, *binary.named)
            if "cudnn" in name and name not in told and not _is_shipped(name, names)
        }
        if absent:
            told |= absent
            yield Finding(code="named-not-shipped", where=path, detail=f"names {', '.join(sorted(absent))}")


def _is_shipped(name: str, names: set[str]) -> bool:
    """Whether ``name``, with the major version that the code adds to it, is one of ``names``."""
    return any(known == name or known.startswith(f"{name}.") for known in names)
