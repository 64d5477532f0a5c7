"""How many threads and how much memory decoding may take on this machine, if nobody says otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

__all__ = ["default_budget", "default_threads"]

_MIB: Final = 1 << 20
_PER_THREAD: Final = 40 * _MIB
_CONTAINER_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")
# Where a system tells nothing (Windows has no sysconf): small enough for any machine that runs CUDA.
_UNKNOWN_MEMORY: Final = 4096 * _MIB


def default_threads() -> int:
    """Return how many processors this process may use."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_budget(threads: int, memory: int | None = None) -> int:
    """Return the bytes that ``threads`` decoders may have in flight, at most a quarter of the ``memory``.

    Left out, ``memory`` is the machine's or, if that is less, the container's (cgroup v2).
    """
    # 40 MiB hold a block of xz's default size (24 MiB), its dictionary (8 MiB) and some of its compressed
    # bytes; one share more lets workers go on while the caller uses the oldest block.
    return min(_PER_THREAD * (threads + 1), (memory or _memory()) // 4)


def _memory() -> int:
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN_MEMORY
    try:
        return min(machine, int(_CONTAINER_LIMIT.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return machine
