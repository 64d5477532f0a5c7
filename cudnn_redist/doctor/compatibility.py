"""Whether a release can run on this machine, told before it is fetched: what is not known is not guessed at."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageError
from ..findings import Finding
from ..host import Machine, Toolkit, driver_cuda, find_toolkit, host_platform
from ..libc import glibc_version
from .hardware import Hardware, find_hardware
from .hardware_faults import unfit_release
from .support import known_fault, numbers
from .system import System

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Candidate", "Here", "misfits"]

# The newest version of glibc's symbols that any library of a release asks for, read from the wheels of 8.9.7.29,
# 9.20.0.48, 9.23.2.1, 9.27.0.42 and 9.28.1.4 for Linux x86_64 on 2026-11-30; others lie between or are not known.
_GLIBC: Mapping[tuple[tuple[int, int], tuple[int, int]], tuple[int, int]] = MappingProxyType(
    {((8, 9), (8, 9)): (2, 14), ((9, 20), (9, 28)): (2, 27)}
)
_LIBRARIES = ("cudnn", "cudnn_jit")


class Candidate(NamedTuple):
    """An archive that may be fetched, by the words of its manifest."""

    component: str
    version: str
    platform: str
    variant: str | None

    @property
    def cuda(self) -> int | None:
        """The major version of CUDA that it is for."""
        number = re.search(r"[0-9]+", self.variant or "")
        return int(number[0]) if number else None

    def __str__(self) -> str:
        return " ".join(filter(None, self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """What decides on this machine: its ``platform`` (``None``: nobody can tell), C library, hardware and toolkit.

    ``glibc`` is ``None`` where the C library is another one, or the system is not Linux.
    """

    platform: str | None
    is_linux: bool
    glibc: tuple[int, int] | None = None
    hardware: Hardware = field(default_factory=Hardware)
    toolkit: Toolkit | None = None

    @classmethod
    def this(cls) -> Here:
        """Ask this machine; its GPUs, which takes a moment, only where there is a driver."""
        return cls(
            platform=_this_platform(),
            is_linux=sys.platform == "linux",
            glibc=glibc_version(),
            hardware=find_hardware(System()) if driver_cuda() is not None else Hardware(),
            toolkit=find_toolkit(),
        )


def misfits(candidates: Iterable[Candidate], here: Here | None = None) -> tuple[Finding, ...]:
    """Return why archives of cuDNN cannot run ``here``, which is this machine, asked where there is need.

    Nothing is said of archives for other platforms, which are fetched for other machines, and of what holds no
    library. ``where`` of a finding is the candidate in words.
    """
    platform = _this_platform() if here is None else here.platform
    meant = [each for each in candidates if each.component in _LIBRARIES and each.platform == platform]
    if not meant:
        return ()
    asked = here or Here.this()
    apart = (finding for candidate in meant for finding in _of_one(candidate, asked))
    return (*apart, *_of_toolkit(meant, asked))


def _of_one(candidate: Candidate, here: Here) -> Iterator[Finding]:
    version, where = candidate.version, str(candidate)
    yield from _of_libc(here, version, where)
    yield from unfit_release(version, candidate.cuda, here.hardware, where=where)
    fault = known_fault(version)
    if fault is not None:
        yield Finding(code="release-faulty", where=where, detail=f"{version} {fault}")


def _of_toolkit(meant: Sequence[Candidate], here: Here) -> Iterator[Finding]:
    """Yield what is for another CUDA than the toolkit, unless something for that one is among them."""
    majors = {candidate.cuda for candidate in meant}
    if here.toolkit is None or here.toolkit.version.major in majors or None in majors:
        return
    for candidate in meant:
        detail = f"it is for CUDA {candidate.cuda}, and the toolkit here is {here.toolkit.found}"
        yield Finding(code="cuda-major-differs", where=str(candidate), detail=detail)


def _of_libc(here: Here, version: str, where: str) -> Iterator[Finding]:
    if not here.is_linux:
        return
    if here.glibc is None:
        yield Finding(code="libc-foreign", where=where, detail="the C library here is not glibc")
        return
    release = numbers(version)[:2]
    needed = next((glibc for (first, last), glibc in _GLIBC.items() if first <= release <= last), None)
    if needed is not None and here.glibc < needed:
        detail = f"needs glibc {needed[0]}.{needed[1]}, this machine has {here.glibc[0]}.{here.glibc[1]}"
        yield Finding(code="glibc-too-old", where=where, detail=detail)


def _this_platform() -> str | None:
    try:
        return host_platform(Machine.this())[0]
    except UsageError:
        return None
