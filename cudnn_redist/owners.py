"""Names that tell which process made a file, so that what a killed one left is known from what a live one uses.

A process number means something only on its own host, and there only within one PID namespace: containers that share
the host's network have its name too. What others made counts as left behind when nobody touched it for an hour.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["left_behind", "own_mark"]

_HOUR = 3600.0
_UNSAFE_IN_HOST = re.compile(r"[^A-Za-z0-9]")
_MARK = re.compile(r"[.-]([A-Za-z0-9_]+)\.([0-9]+)\.[0-9a-f]{8}(?:-([0-9a-f]+)-([0-9a-f]+))?\.")
# PF_EXITING, which a process has before it gives back its locks and until it is buried.
_EXITING = 0x4


class _Life(NamedTuple):
    """What Linux tells of a process: whether it is on its way out, and its birth in clock ticks since the boot."""

    is_ending: bool
    born: int


def own_mark() -> str:
    """Return ``<host>.<pid>.<token>`` for a name, with PID namespace and birth added on Linux; never the same twice."""
    mark = f"{_host()}.{os.getpid()}.{secrets.token_hex(4)}"
    life = _life(os.getpid())
    return mark if life is None else f"{mark}-{_namespace():x}-{life.born:x}"


def left_behind(name: str, *, touched: float) -> bool:
    """Whether the process that marked ``name`` is gone; ``touched`` is when it last wrote there (``st_mtime``)."""
    owner = _MARK.search(name)
    if owner is None or owner[1] != _host() or os.name == "nt":
        return time.time() - touched > _HOUR
    if owner[3] is not None and int(owner[3], 16) != _namespace():
        return time.time() - touched > _HOUR
    return not _lives(int(owner[2]), born=owner[4])


def _lives(number: int, *, born: str | None) -> bool:
    """Whether there is such a process: not one that was killed just now, nor a later one of the same number."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    life = _life(number)
    if life is None:
        return True
    return not life.is_ending and (born is None or life.born == int(born, 16))


def _life(number: int) -> _Life | None:
    """Read proc(5)'s ``stat``, of which fields 9 and 22 are needed; ``None`` where there is no such thing."""
    try:
        stat = Path(f"/proc/{number}/stat").read_bytes()
        # The second field is the program's name, in brackets: it may hold anything.
        fields = stat.rpartition(b")")[2].decode().split()
        return _Life(bool(int(fields[6]) & _EXITING), int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def _namespace() -> int:
    """Return the number of the PID namespace (namespaces(7)), 0 where the system has none."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116 - the link's own target is no path
    except OSError:
        return 0


def _host() -> str:
    return _UNSAFE_IN_HOST.sub("_", socket.gethostname())[:64] or "host"
