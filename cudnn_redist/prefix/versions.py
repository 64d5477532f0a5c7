"""What the files of a prefix say of their version: a set of which one part is of another release does not run (C83)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .headers import stated_below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .record import Record

__all__ = ["differing_release", "other_versions"]

_NUMBERS = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")
# The real file at the end of a chain of links: libcudnn_ops.so.9.27.0.
_LIBRARY = re.compile(rf"(?:.*/)?libcudnn[A-Za-z0-9_]*\.so\.({_NUMBERS.pattern})")


def other_versions(root: Path, record: Record) -> Iterator[tuple[str, str]]:
    """Yield (path, version) of the header and of each library below ``root`` that is not of the record's version.

    Compared are major, minor and patch. Nothing is told of files that say nothing or cannot be read.
    """
    recorded = _NUMBERS.match(record.version)
    if recorded is None:
        return
    header = stated_below(root)
    told = [*([header] if header else ()), *_of_libraries(record)]
    yield from ((path, version) for path, version in told if version != recorded[0])


def differing_release(path: str, release: str | None, record: Record) -> str | None:
    """Return the ``release`` that stands in the library at ``path``, where that is not the record's and no name tells.

    The libraries of a wheel, and DLLs, have no more than the major version in their names.
    """
    recorded = _NUMBERS.match(record.version)
    if recorded is None or release == recorded[0] or _LIBRARY.fullmatch(path):
        return None
    return release


def _of_libraries(record: Record) -> Iterator[tuple[str, str]]:
    for entry in record.entries:
        named = _LIBRARY.fullmatch(entry.path)
        if named is not None:
            yield entry.path, named[1]
