"""One cuDNN on the disk: the libraries of one major version in one directory, and where they came from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ..binaries import Binary, NotABinary, Symbols, read_binary, read_symbols
from ..prefix.headers import stated_version
from .support import numbers
from .system import bytes_at, names_in, real

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Copy", "Library", "Origin", "Shelf"]

Kind = Literal["wheel", "package", "conda", "prefix", "toolkit", "directory"]

_LIBRARY = re.compile(
    r"libcudnn(?:_[a-z0-9_]+)?\.so\.(?P<elf>[0-9]+)|cudnn(?:_[a-z0-9_]+?)?64_(?P<pe>[0-9]+)\.dll"
)
_IN_NAME = re.compile(r"\.so\.([0-9]+\.[0-9]+\.[0-9]+)$")
# NVIDIA's wheels look for the other wheels of their CUDA.
_CUDA_IN_PATH = re.compile(r"/cu([0-9]{1,3})/lib")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a copy came from: ``name`` as its installer calls it, ``mend`` the command that installs it anew."""

    kind: Kind
    name: str
    version: str | None = None
    cuda: int | None = None
    mend: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One library under the name that programs ask for; ``problem`` is why it could not be read."""

    path: Path
    binary: Binary | None = None
    problem: str | None = None
    unreadable: bool = False

    @property
    def version(self) -> str | None:
        """The release that the file's own name states, at the end of its links, or else what is written in it."""
        named = _IN_NAME.search(real(self.path).name)
        if named:
            return named[1]
        return self.binary.release if self.binary else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Copy:
    """The cuDNN of one ``major`` version in one ``directory``; ``libraries`` by the names that are asked for."""

    directory: Path
    major: int
    libraries: Mapping[str, Library]
    origins: tuple[Origin, ...] = ()

    @cached_property
    def version(self) -> str | None:
        """Its release: the graph library's, which answers ``cudnnGetVersion``, else any part's, else as installed."""
        ranked = sorted(self.libraries.items(), key=lambda item: ("graph" not in item[0], item[0]))
        stated = (library.version for _, library in ranked)
        return next(filter(None, stated), None) or next(
            filter(None, (each.version for each in self.origins)), None
        )

    @cached_property
    def cuda(self) -> int | None:
        """The major version of the CUDA that it was built for, where anything tells."""
        told = next((origin.cuda for origin in self.origins if origin.cuda is not None), None)
        if told is not None:
            return told
        paths = (library.binary.runpath for library in self.libraries.values() if library.binary)
        found = (_CUDA_IN_PATH.search(path or "") for path in paths)
        return next((int(match[1]) for match in found if match), None)

    @property
    def main(self) -> Library | None:
        """What programs load first: ``libcudnn.so.9`` or ``cudnn64_9.dll``."""
        return self.libraries.get(f"libcudnn.so.{self.major}") or self.libraries.get(
            f"cudnn64_{self.major}.dll"
        )

    @property
    def mend(self) -> str | None:
        """The command that installs it anew, where somebody knows one."""
        return next((origin.mend for origin in self.origins if origin.mend), None)

    def header_version(self) -> tuple[Path, str] | None:
        """Return the version header that belongs to the libraries, if there is one, and what it states."""
        for place in _include_directories(self.directory):
            for name in (f"cudnn_version_v{self.major}.h", "cudnn_version.h"):
                stated = stated_version(bytes_at(place / name))
                if stated:
                    return place / name, ".".join(map(str, stated))
        return None

    def is_of(self, version: str) -> bool:
        """Whether it is of the release that a longer or shorter ``version`` names."""
        mine, other = numbers(self.version or "")[:3], numbers(version)[:3]
        return mine[: len(other)] == other[: len(mine)]


class Shelf:
    """Every library that was looked at, each read once."""

    def __init__(self) -> None:
        self._read: dict[Path, Library] = {}
        self._symbols: dict[Path, Symbols] = {}

    def library(self, path: Path) -> Library:
        """Return what can be told of the library at ``path``."""
        if path not in self._read:
            self._read[path] = _read(path)
        return self._read[path]

    def symbols(self, path: Path) -> Symbols:
        """Return the symbols of the library at ``path``; none of one that cannot be read."""
        if path not in self._symbols:
            try:
                self._symbols[path] = read_symbols(path)
            except (NotABinary, OSError):
                self._symbols[path] = Symbols()
        return self._symbols[path]

    def copies_in(self, directory: Path) -> list[Copy]:
        """Return the cuDNNs of a directory, one for each major version; ``OSError`` where it may not be read."""
        found: dict[int, dict[str, Library]] = {}
        for name in names_in(directory):
            named = _LIBRARY.fullmatch(name)
            if named:
                majors = found.setdefault(int(named["elf"] or named["pe"]), {})
                majors[name] = self.library(directory / name)
        return [Copy(directory=directory, major=major, libraries=found[major]) for major in sorted(found)]


def _read(path: Path) -> Library:
    try:
        return Library(path=path, binary=read_binary(path))
    except NotABinary as error:
        return Library(path=path, problem=str(error))
    except OSError as error:
        return Library(path=path, problem=error.strerror or str(error), unreadable=True)


def _include_directories(directory: Path) -> tuple[Path, ...]:
    """Return where the headers of a directory of libraries may lie: in Debian's layout a level higher, and apart."""
    above = directory.parent.parent / "include"
    if directory.name.endswith("-linux-gnu"):
        return (above / directory.name, above)
    return (above,) if directory.name in ("x64", "arm64") else (directory.parent / "include",)
