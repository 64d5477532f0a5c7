"""Which cuDNN libraries a list of files holds, told by their names alone.

Linux archives hold ``lib/libcudnn_graph.so.9.27.0``, its links ``.so.9`` and ``.so``, and static archives under the
names ``libcudnn_graph_static_v9.a`` and ``libcudnn_graph_static.a``. Windows archives hold
``bin/x64/cudnn_graph64_9.dll`` (``bin`` before 9.18, ``bin/arm64`` on Arm) and, for the linker,
``lib/x64/cudnn_graph.lib``, mostly also as ``cudnn_graph64_9.lib``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = ["Contents", "SharedLibrary", "StaticLibrary", "contents_of"]

_SHARED = re.compile(r"(?P<path>lib(?:64)?/lib(?P<name>cudnn\w*)\.so)(?P<version>(?:\.[0-9]+)*)", re.ASCII)
_STATIC = re.compile(r"lib(?:64)?/lib(?P<name>cudnn\w*?)_static(?P<version>_v[0-9]+)?\.a", re.ASCII)
_DLL = re.compile(r"bin(?:/x64|/arm64)?/(?P<name>cudnn\w*?)(?:64)?_(?P<version>[0-9]+)\.dll", re.ASCII)
_IMPORT = re.compile(r"lib(?:/x64|/arm64)?/(?P<name>cudnn\w*?)(?P<version>64_[0-9]+)?\.lib", re.ASCII)
_ANY_DLL = re.compile(r"bin(?:/x64|/arm64)?/[^/]+\.dll")
_HEADER = re.compile(r"include/cudnn\w*\.h", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLibrary:
    """One shared library; ``name`` is ``cudnn`` or ``cudnn_graph``, paths are relative to the prefix.

    ``file`` is what a program loads: the real file of a Linux library, or a DLL; ``None`` where there is only an
    import library. ``soname`` is the name by which Linux programs ask for it. ``link_file`` is what a linker finds
    by the bare name: ``libcudnn.so`` or ``cudnn.lib``, where that is there.
    """

    name: str
    file: str | None
    soname: str | None = None
    link_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticLibrary:
    """One static archive; ``name`` is that of the shared library it stands for."""

    name: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a prefix has to compile, link and run with.

    ``runtime_files`` are all names that a program must find when it runs; ``windows`` tells DLLs from Linux
    libraries.
    """

    has_headers: bool
    shared: tuple[SharedLibrary, ...]
    static: tuple[StaticLibrary, ...]
    runtime_files: tuple[str, ...]
    windows: bool

    @property
    def names(self) -> frozenset[str]:
        """The names of the shared libraries that can be loaded."""
        return frozenset(library.name for library in self.shared if library.file is not None)

    def shared_named(self, name: str) -> SharedLibrary | None:
        """Return the shared library of this name, if it is there."""
        return next((library for library in self.shared if library.name == name), None)


def contents_of(paths: Iterable[str]) -> Contents:
    """Return what ``paths`` (files and links, relative to the prefix) say; names of no known form are passed over."""
    known = frozenset(paths)
    windows = any(_DLL.fullmatch(path) or _IMPORT.fullmatch(path) for path in known)
    shared = tuple(_windows_libraries(known) if windows else _linux_libraries(known))
    runtime = filter(_ANY_DLL.fullmatch, known) if windows else _loaded_names(shared, known)
    return Contents(
        has_headers=any(map(_HEADER.fullmatch, known)),
        shared=shared,
        static=tuple(_static_libraries(known)),
        runtime_files=tuple(sorted(runtime)),
        windows=windows,
    )


def _linux_libraries(paths: Collection[str]) -> Iterator[SharedLibrary]:
    """Yield each library once: of its names the one with the longest version is the file, the others are links."""
    found: dict[str, re.Match[str]] = {}
    for path in sorted(paths):
        match = _SHARED.fullmatch(path)
        if match and match["version"].count(".") >= _depth(found.get(match["name"])):
            found[match["name"]] = match
    for name, match in sorted(found.items()):
        bare, major = match["path"], match["version"].split(".")[1:2]
        yield SharedLibrary(
            name=name,
            file=match[0],
            soname=".".join((bare.rpartition("/")[2], *major)),
            link_file=bare if bare in paths else None,
        )


def _depth(match: re.Match[str] | None) -> int:
    return match["version"].count(".") if match else -1


def _loaded_names(shared: Iterable[SharedLibrary], paths: Collection[str]) -> Iterator[str]:
    for library in shared:
        if library.file is not None:
            directory = library.file.rpartition("/")[0]
            yield from {library.file, f"{directory}/{library.soname}"} & set(paths)


def _static_libraries(paths: Collection[str]) -> Iterator[StaticLibrary]:
    """Yield each static archive once, by the name with the version, which is the real file."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        match = _STATIC.fullmatch(path)
        if match and (match["version"] or match["name"] not in found):
            found[match["name"]] = path
    for name, path in sorted(found.items()):
        yield StaticLibrary(name=name, file=path)


def _windows_libraries(paths: Collection[str]) -> Iterator[SharedLibrary]:
    dlls = {match["name"]: match[0] for match in map(_DLL.fullmatch, sorted(paths)) if match}
    imports: dict[str, str] = {}
    for match in filter(None, map(_IMPORT.fullmatch, sorted(paths))):
        if not match["version"] or match["name"] not in imports:
            imports[match["name"]] = match[0]
    for name in sorted({*dlls, *imports}):
        yield SharedLibrary(name=name, file=dlls.get(name), link_file=imports.get(name))
