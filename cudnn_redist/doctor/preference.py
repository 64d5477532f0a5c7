"""What the loader prefers to what its directories hold: libraries that are preloaded, and folders for this CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..libc import glibc_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from .system import System

__all__ = ["folders_for_cpu", "in_order", "preloaded_names"]

_FOLDERS = "glibc-hwcaps"
_FIRST_WITH_FOLDERS = (2, 33)
# The levels of the psABI of x86-64, by the names that Linux has for what each adds; of Arm glibc knows no levels.
_LEVELS = (
    ("x86-64-v2", "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3"),
    ("x86-64-v3", "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"),
    ("x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"),
)


def preloaded_names(system: System) -> Iterator[tuple[str, str]]:
    """Yield what is loaded into every program before it starts, paths and names, each with what says so (ld.so(8))."""
    for way, listed in (
        ("LD_PRELOAD", system.environ.get("LD_PRELOAD", "")),
        ("/etc/ld.so.preload", system.text("/etc/ld.so.preload")),
    ):
        yield from ((name, way) for name in listed.replace(":", " ").split())


def folders_for_cpu(system: System) -> tuple[str, ...]:
    """Return the folders that the loader looks into first in every directory, the most preferred first (ld.so(8)).

    None where nobody knows the CPU, as of an image that runs nowhere now.
    """
    lines = system.text("/proc/cpuinfo").splitlines()
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), [])
    if system.is_this and (glibc_version() or (0, 0)) < _FIRST_WITH_FOLDERS:
        return ()
    found: list[str] = []
    for level, added in _LEVELS:
        if not set(added.split()) <= set(flags):
            break
        found.insert(0, f"{_FOLDERS}/{level}")
    return tuple(found)


def in_order(paths: Sequence[Path], folders: Sequence[str]) -> tuple[Path, ...]:
    """Return what the loader's cache has for one name as this CPU takes it: folders first, and none for other CPUs."""
    apart = {path: f"{_FOLDERS}/{path.parent.name}" for path in paths if path.parent.parent.name == _FOLDERS}
    fitting = [path for path in paths if path not in apart or apart[path] in folders]
    return tuple(
        sorted(fitting, key=lambda path: folders.index(apart[path]) if path in apart else len(folders))
    )
