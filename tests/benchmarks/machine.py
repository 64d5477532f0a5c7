"""What a reader must know of the machine to make sense of figures."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from real.program import PROJECT

_LIBLZMA = """
import _lzma, ctypes
version = ctypes.CDLL(_lzma.__file__).lzma_version_string
version.restype = ctypes.c_char_p
print(version().decode())
"""


def cores() -> int:
    """Return how many processors this process, and what it starts, may use."""
    return len(os.sched_getaffinity(0))


def facts(python: Path) -> dict[str, str]:
    """Return the facts by name; ``python`` is the interpreter that runs ours."""
    return {
        "commit": _first_line("git", "-C", str(PROJECT), "describe", "--always", "--dirty"),
        "CPU": _after_colon(Path("/proc/cpuinfo"), "model name"),
        "cores": str(cores()),
        "memory": _after_colon(Path("/proc/meminfo"), "MemTotal"),
        "load at start": "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg()),
        "kernel": platform.release(),
        "Python": _first_line(str(python), "--version"),
        "its liblzma": _first_line(str(python), "-c", _LIBLZMA),
        "xz": _first_line("xz", "--version"),
        "curl": _first_line("curl", "--version"),
        "tar": _first_line("tar", "--version"),
    }


def _after_colon(file: Path, name: str) -> str:
    lines = (line.partition(":") for line in file.read_text(encoding="utf-8").splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "unknown")


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.partition("\n")[0]
