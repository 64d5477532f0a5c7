"""Names that tell which process made a file, so that what a killed one left is known from what a live one uses.

A process number means something only on its own host; what another host made counts as left behind when nobody
touched it for an hour.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time

__all__ = ["left_behind", "own_mark"]

_HOUR = 3600.0
_UNSAFE_IN_HOST = re.compile(r"[^A-Za-z0-9]")
_MARK = re.compile(r"[.-]([A-Za-z0-9_]+)\.([0-9]+)\.[0-9a-f]{8}\.")


def own_mark() -> str:
    """Return ``<host>.<pid>.<token>`` for a name; never the same twice."""
    return f"{_host()}.{os.getpid()}.{secrets.token_hex(4)}"


def left_behind(name: str, *, touched: float) -> bool:
    """Whether the process that marked ``name`` is gone; ``touched`` is when it last wrote there (``st_mtime``)."""
    owner = _MARK.search(name)
    if owner is None or owner[1] != _host() or os.name == "nt":
        return time.time() - touched > _HOUR
    try:
        os.kill(int(owner[2]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _host() -> str:
    return _UNSAFE_IN_HOST.sub("_", socket.gethostname())[:64] or "host"
