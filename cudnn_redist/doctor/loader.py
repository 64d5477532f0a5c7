"""The order in which the loader looks for a library, file by file (ld.so(8), "DESCRIPTION"; dlopen(3))."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .cache import DEFAULT_DIRECTORIES, cached_libraries
from .preference import folders_for_cpu, in_order, preloaded_names
from .system import real

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .copies import Library, Shelf
    from .system import System

__all__ = ["Found", "Loader", "Loading"]

# Whatever a program calls, this one comes first: of 9, and of 8.
_INDISPENSABLE = ("cudnn_graph", "cudnn_ops_infer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the loader takes for a name, and ``way``, by which it came to it."""

    library: Library
    way: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """What is loaded from ``start`` on: the libraries of cuDNN and zlib by name, and the names that lead nowhere.

    ``asking`` has for each name the library that first asks for it. ``absent`` are needed and not there; what is only
    opened by name, if ever, may well be missing. ``refused`` are those that are found and lack symbols of what is
    loaded already, as parts of other releases mostly do.
    """

    start: Found
    found: dict[str, Found]
    asking: dict[str, Library]
    absent: tuple[str, ...]
    refused: dict[str, Found]


class Loader:
    """The loader of one system, with what its variables and its cache say; libraries are read by way of a shelf."""

    def __init__(self, system: System, shelf: Shelf) -> None:
        self._shelf = shelf
        self._system = system
        self._library_path = system.directories_of("LD_LIBRARY_PATH")
        self._program_path = system.directories_of("PATH")
        self._folders = folders_for_cpu(system)
        self._cache = {
            name: in_order(paths, self._folders) for name, paths in cached_libraries(system).items()
        }
        self._defaults = tuple(
            system.place("/" + each.format(system.machine)) for each in DEFAULT_DIRECTORIES
        )
        self._preloaded: dict[str, Found] = {}
        for name, way in preloaded_names(system):
            self._preload(name, way)

    def find(self, name: str, requesters: Sequence[Library] = ()) -> Found | None:
        """Return what ``name`` leads to where the first of ``requesters`` asks; each was loaded by the next."""
        return next(self._candidates(name, requesters), None)

    def find_like(self, prefix: str, requesters: Sequence[Library] = ()) -> Found | None:
        """Return what is found under any name that begins so: ``libnvrtc.so.``, of which the version is not known."""
        cached = [path for name, paths in self._cache.items() if name.startswith(prefix) for path in paths]
        if cached and not _is_pe(requesters):
            return Found(library=self._shelf.library(cached[0]), way="loader cache")
        places = (*self._directories(requesters), *((each, "default directory") for each in self._defaults))
        for directory, way in places:
            for path in _beginning_with(directory, prefix):
                return Found(library=self._shelf.library(path), way=way)
        return None

    def at(self, path: Path, way: str) -> Found:
        """Return the library at ``path``, where somebody loads it by that."""
        return Found(library=self._shelf.library(path), way=way)

    def load(self, start: Found) -> Loading:
        """Return what comes along with a library: what it needs, then what it and these open by name."""
        loading = Loading(start=start, found={}, asking={}, absent=(), refused={})
        name = start.library.path.name
        loading.found[name], loading.asking[name] = start, start.library
        absent: dict[str, None] = {}
        waiting: list[tuple[Library, ...]] = [(start.library,)]
        while waiting:
            requesters = waiting.pop(0)
            for wanted in _wanted(requesters, name):
                if wanted.name in loading.found:
                    continue
                loading.asking.setdefault(wanted.name, requesters[0])
                taken = self._take(wanted, requesters, loading)
                if taken is not None:
                    loading.found[wanted.name] = taken
                    waiting.append((taken.library, *requesters))
                elif not wanted.opened or any(each in wanted.name for each in _INDISPENSABLE):
                    absent[wanted.name] = None
        missing = tuple(each for each in absent if each not in loading.found)
        return dataclasses.replace(loading, absent=missing)

    def _take(self, wanted: _Wanted, requesters: Sequence[Library], loading: Loading) -> Found | None:
        """Return the first that can be loaded of what the spellings of a name lead to."""
        for spelling in wanted.spellings:
            found = self.find(spelling, requesters)
            if found is None:
                continue
            if not wanted.opened or self._fits(found.library, loading):
                return found
            loading.refused[wanted.name] = found
        return None

    def _fits(self, library: Library, loading: Loading) -> bool:
        """Whether what is loaded has the symbols that ``library`` wants of it; within one directory it has."""
        others = [
            (name, each.library)
            for name, each in loading.found.items()
            if "cudnn" in name and each.library.path.parent != library.path.parent
        ]
        return not any(
            self._shelf.symbols(library.path).wanted.get(name, frozenset())
            - self._shelf.symbols(other.path).defined
            for name, other in others
        )

    def _preload(self, entry: str, way: str) -> None:
        """Note what is loaded before everything else: a name leads to that, whatever the directories have."""
        first = self.at(self._system.place(entry), way) if "/" in entry else self.find(entry)
        waiting, seen = [first.library] if first else [], set[Path]()
        while waiting:
            library = waiting.pop(0)
            binary = library.binary
            # Of what it cannot load the loader says so, and goes on.
            if binary is None or binary.machine != self._system.machine or library.path in seen:
                continue
            seen.add(library.path)
            self._preloaded.setdefault(binary.soname or library.path.name, Found(library=library, way=way))
            needed = (self.find(name, (library,)) for name in binary.needed if "cudnn" in name)
            waiting += [found.library for found in needed if found]

    def _candidates(self, name: str, requesters: Sequence[Library]) -> Iterator[Found]:
        if _is_pe(requesters):
            for directory, way in self._directories(requesters):
                yield from self._usable(directory / name, way)
            return
        if name in self._preloaded:
            yield self._preloaded[name]
        for directory, way in self._directories(requesters):
            yield from self._usable_in(directory, name, way)
        for path in self._cache.get(name, ()):
            yield from self._usable(path, "loader cache")
        for directory in self._defaults:
            yield from self._usable_in(directory, name, "default directory")

    def _directories(self, requesters: Sequence[Library]) -> Iterator[tuple[Path, str]]:
        """Yield the directories that come before the cache, each with the reason for it."""
        if _is_pe(requesters):
            yield requesters[-1].path.parent, "beside the program's cuDNN"
            yield from ((directory, "PATH") for directory in self._program_path)
            return
        asking = requesters[0].binary if requesters else None
        if asking is None or asking.runpath is None:
            for requester in requesters:
                if requester.binary and requester.binary.rpath and not requester.binary.runpath:
                    yield from self._expanded(requester.binary.rpath, requester, "RPATH")
        yield from ((directory, "LD_LIBRARY_PATH") for directory in self._library_path)
        if asking is not None and asking.runpath is not None:
            yield from self._expanded(asking.runpath, requesters[0], "RUNPATH")

    def _expanded(self, listed: str, requester: Library, kind: str) -> Iterator[tuple[Path, str]]:
        """Yield the directories of an RPATH; ``$ORIGIN`` is where a file was found, whatever a link there leads to."""
        origin = str(real(requester.path.parent))
        for entry in listed.split(":"):
            way = f"{kind} of {requester.path.name}"
            if "ORIGIN" in entry:
                expanded = entry.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
                yield real(Path(expanded)), way
            elif entry:
                yield self._system.place(entry), way

    def _usable_in(self, directory: Path, name: str, way: str) -> Iterator[Found]:
        for folder in (*self._folders, ""):
            yield from self._usable(directory / folder / name, way)

    def _usable(self, path: Path, way: str) -> Iterator[Found]:
        """Yield what the loader stops at: a library for this machine, or a file that is none, which is an error."""
        try:
            if not path.is_file():
                return
        except OSError:
            return
        library = self._shelf.library(path)
        binary = library.binary
        fits = binary is None or binary.format == "pe" or binary.machine == self._system.machine
        if fits and not library.unreadable:
            yield Found(library=library, way=way)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a library asks for: its soname, the ``spellings`` that are tried in turn, and whether it opens it itself."""

    name: str
    spellings: tuple[str, ...]
    opened: bool


def _wanted(requesters: Sequence[Library], first: str) -> Iterator[_Wanted]:
    """Yield what the first of ``requesters`` asks for of cuDNN and zlib: what it needs, then what it opens by itself.

    cuDNN 9 opens ``libcudnn_ops.so.9.27.0``, and where it cannot, ``.so.9.27``, ``.so.9`` and ``.so``, in turn.
    """
    binary = requesters[0].binary
    if binary is None:
        return
    for name in binary.needed:
        if "cudnn" in name or name.startswith("libz.so"):
            yield _Wanted(name=name, spellings=(name,), opened=False)
    major = first.rpartition(".so.")[2].partition(".")[0]
    version = next(filter(None, (requester.version for requester in requesters)), None)
    for name in sorted(binary.named, key=lambda each: "graph" not in each):
        if not name.endswith(".so") or not major:
            yield _Wanted(name=name, spellings=(name,), opened=True)
            continue
        full = (f"{name}.{version}", f"{name}.{version.rpartition('.')[0]}") if version else ()
        yield _Wanted(name=f"{name}.{major}", spellings=(*full, f"{name}.{major}", name), opened=True)


def _is_pe(requesters: Sequence[Library]) -> bool:
    return bool(requesters and requesters[0].binary and requesters[0].binary.format == "pe")


def _beginning_with(directory: Path, prefix: str) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.name.startswith(prefix))
    except OSError:
        return []
