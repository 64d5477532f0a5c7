"""The C library of this machine."""

from __future__ import annotations

import os
import re

__all__ = ["glibc_version"]

_GLIBC = re.compile(r"glibc ([0-9]+)\.([0-9]+).*")


def glibc_version() -> tuple[int, int] | None:
    """Return the version of this machine's C library where it is glibc (confstr(3), ``_CS_GNU_LIBC_VERSION``)."""
    try:
        told = _GLIBC.fullmatch(os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):
        # Windows has no confstr, and other C libraries do not know the name.
        return None
    return (int(told[1]), int(told[2])) if told else None
