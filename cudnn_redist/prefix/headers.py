"""The version that cuDNN's headers state.

Up to version 7 the macros stand in ``cudnn.h``; since version 8 they stand in ``cudnn_version.h``, which ``cudnn.h``
includes (C79).
"""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["stated_below", "stated_version"]

# Where the macros may stand, the place to look first before the other.
_HEADERS = ("include/cudnn_version.h", "include/cudnn.h")
# A limit, since what stands there need not be what was installed.
_LONGEST_HEADER = 1 << 20
_MACROS = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")


def stated_below(root: Path) -> tuple[str, str] | None:
    """Return the header of a prefix that states a version, by its path below ``root``, and that version (``9.27.0``).

    ``None`` where none does, or can be read.
    """
    for path in _HEADERS:
        stated = stated_version(_beginning(root / path))
        if stated is not None:
            return path, ".".join(map(str, stated))
    return None


def stated_version(header: bytes) -> tuple[int, int, int] | None:
    """Return (major, minor, patch) as ``header`` defines them, or ``None`` where one of the macros is not there."""
    major, minor, patch = (_number(macro, header) for macro in _MACROS)
    if major is None or minor is None or patch is None:
        return None
    return major, minor, patch


def _beginning(path: Path) -> bytes:
    """Return what a header begins with; nothing of what is no regular file, since a pipe would be waited for."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(_LONGEST_HEADER)
    except OSError:
        return b""


def _number(macro: str, header: bytes) -> int | None:
    definition = rb"^[ \t]*#[ \t]*define[ \t]+" + macro.encode() + rb"[ \t]+\(?([0-9]{1,9})\b"
    found = re.search(definition, header, re.MULTILINE)
    return None if found is None else int(found[1])
