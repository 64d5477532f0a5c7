"""The driver, the GPUs and the toolkit of a system."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..host import find_toolkit
from .child import run_apart

if TYPE_CHECKING:
    from .system import System

__all__ = ["Gpu", "Hardware", "find_hardware"]

_WORK = Path(__file__).with_name("device_work.py")
_DRIVER = re.compile(r"\b([0-9]{3}(?:\.[0-9]+){1,2})\b")
_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU: its name and compute capability."""

    name: str
    capability: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """What there is to compute on: the ``driver``'s version, the newest CUDA it runs, GPUs, and the CUDA toolkit.

    ``trouble`` is what the driver said where it is there and does not answer.
    """

    driver: str | None = None
    driver_cuda: tuple[int, int] | None = None
    gpus: tuple[Gpu, ...] = ()
    toolkit: str | None = None
    trouble: str | None = None


def find_hardware(system: System) -> Hardware:
    """Return what ``system`` has; of one that is not this, what its files say."""
    told = _asked(system) if system.is_this else {}
    version = _DRIVER.search(system.text("/proc/driver/nvidia/version"))
    toolkit = find_toolkit(system.environ if system.is_this else {}, root=system.root)
    number = told.get("driver_cuda")
    return Hardware(
        driver=version[1] if version else None,
        driver_cuda=(number // 1000, number % 1000 // 10) if number else None,
        gpus=tuple(Gpu(name=name, capability=(major, minor)) for name, major, minor in told.get("gpus", ())),
        toolkit=toolkit.found if toolkit else None,
        trouble=told.get("trouble"),
    )


def _asked(system: System) -> dict[str, Any]:
    """Ask the driver in a child: a driver that is broken may end whoever asks, and one that waits keeps nobody."""
    try:
        told = run_apart(_WORK, environment=system.environ, timeout=_SECONDS)
    except OSError:
        return {}
    facts = dict(told.facts)
    if told.ended != "well":
        facts["trouble"] = told.how
    return facts
