"""The version that cuDNN's headers state. Pure: bytes in, three numbers out.

Up to version 7 the macros stand in ``cudnn.h``; since version 8 they stand in ``cudnn_version.h``, which ``cudnn.h``
includes (C79).
"""

from __future__ import annotations

import re

__all__ = ["VERSION_HEADERS", "stated_version"]

VERSION_HEADERS = ("include/cudnn_version.h", "include/cudnn.h")
"""Where the macros may stand, the place to look first before the other."""

_MACROS = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")


def stated_version(header: bytes) -> tuple[int, int, int] | None:
    """Return (major, minor, patch) as ``header`` defines them, or ``None`` where one of the macros is not there."""
    major, minor, patch = (_number(macro, header) for macro in _MACROS)
    if major is None or minor is None or patch is None:
        return None
    return major, minor, patch


def _number(macro: str, header: bytes) -> int | None:
    definition = rb"^[ \t]*#[ \t]*define[ \t]+" + macro.encode() + rb"[ \t]+\(?([0-9]{1,9})\b"
    found = re.search(definition, header, re.MULTILINE)
    return None if found is None else int(found[1])
