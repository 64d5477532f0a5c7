"""The parts of an archive, for those who do not want it whole: which file belongs to which, told by names. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["PARTS", "held_parts", "is_chosen", "named_parts", "parts_of", "reasons_for"]

PARTS = ("runtime", "dev", "headers", "static")

_LICENCE = re.compile(r"(?:licen[cs]e|eula|notice|copying|copyright|third.?party)", re.IGNORECASE)
_SHARED = re.compile(r".+\.so(?P<version>(?:\.[0-9]+)*)", re.ASCII)
_IMPORT_LIBRARY = re.compile(r".+(?:\.dll\.a|(?<!_static)\.lib)", re.IGNORECASE)
_STATIC = re.compile(r".+(?:\.a|_static\.lib)", re.IGNORECASE)
_FOR_BUILDERS = re.compile(r".+\.(?:cmake|pc)", re.IGNORECASE)


def named_parts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of these names, each once and sorted: the order of asking makes no other prefix.

    ``UsageError`` for a name that is none.
    """
    found = tuple(sorted(set(texts)))
    for name in found:
        if name not in PARTS:
            raise UsageError(f"{name!r:.60} is no part: {', '.join(PARTS[:-1])} or {PARTS[-1]}")
    return found


def parts_of(path: str, *, link: bool) -> frozenset[str]:
    """Return the parts that a file, or a symbolic ``link``, belongs to; none for what only the whole archive has.

    ``runtime`` is what a program loads: shared libraries by the names it asks for, DLLs. ``headers`` lie below
    ``include``. ``static`` are archives of objects. ``dev`` is both of these and what a linker and a build system look
    for: unversioned links, stubs and import libraries, files for CMake and pkg-config. A licence is in every part.
    """
    *directories, name = path.split("/")
    if _LICENCE.match(name):
        return frozenset(PARTS)
    return frozenset(_parts_of(directories, name, link=link))


def is_chosen(path: str, *, link: bool, parts: tuple[str, ...]) -> bool:
    """Whether a file or link belongs to one of ``parts``; without any, everything does."""
    return not parts or not parts_of(path, link=link).isdisjoint(parts)


def held_parts(paths: Iterable[tuple[str, bool]]) -> frozenset[str]:
    """Return the parts of which there is more than the licence among ``paths``, each with whether it is a link."""
    found = (parts_of(path, link=link) for path, link in paths)
    return frozenset().union(*(parts for parts in found if len(parts) < len(PARTS)))


def reasons_for(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is to be told before ``parts`` of an archive are got, a sentence each; none for all of it."""
    if not parts:
        return ()
    return (f"only {', '.join(parts)}: a prefix beside the whole; all of the archive is downloaded",)


def _parts_of(directories: list[str], name: str, *, link: bool) -> Iterator[str]:
    shared = _SHARED.fullmatch(name)
    if shared is not None:
        yield "dev" if "stubs" in directories or (link and not shared["version"]) else "runtime"
    elif name.lower().endswith(".dll"):
        yield "runtime"
    elif "include" in directories:
        yield from ("dev", "headers")
    elif _IMPORT_LIBRARY.fullmatch(name) or _FOR_BUILDERS.fullmatch(name):
        yield "dev"
    elif _STATIC.fullmatch(name):
        yield from ("dev", "static")
