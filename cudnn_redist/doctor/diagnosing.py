"""``doctor``: everything that is found, and what follows from it. Reading is all it does."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..findings import Finding
from .consumer_faults import faults_of_consumer, several_copies
from .copies import Shelf
from .copy_faults import faults_of_copy, is_foreign
from .frameworks import consumers_of, plain_consumer
from .hardware import find_hardware
from .hardware_faults import faults_of_hardware, unfit_hardware
from .loader import Loader
from .mapped_faults import faults_of_mapped
from .packages import jetpack
from .places import find_copies
from .set_faults import copy_of, faults_of_loading, missing_companions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .copies import Copy
    from .frameworks import Consumer
    from .hardware import Hardware
    from .processes import Mapped
    from .pythons import Python
    from .system import System

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What a system has of cuDNN, who would load which of it, and what is to be said of that.

    ``mapped_apart`` are the releases of what a process in a container has mapped, which is no copy of this system's.
    """

    system: System
    hardware: Hardware
    jetpack: str | None
    pythons: tuple[Python, ...]
    copies: tuple[Copy, ...]
    consumers: tuple[Consumer, ...]
    mapped: tuple[Mapped, ...]
    mapped_apart: Mapping[str, str | None]
    findings: tuple[Finding, ...]

    def copy_for(self, consumer: Consumer) -> Copy | None:
        """Return the copy that ``consumer`` would load."""
        return copy_of(consumer.found.library, self.copies) if consumer.found else None


def diagnose(
    system: System,
    *,
    pythons: Sequence[Python] = (),
    root: Path | None = None,
    mapped: Sequence[Mapped] = (),
    hardware: Hardware | None = None,
) -> Diagnosis:
    """Find the cuDNNs of ``system``, of ``pythons`` and of our own ``root``, and say what is wrong with them.

    ``mapped`` is what processes have of them, ``hardware`` what there is to compute on (asked for where it is not
    given). Nothing that is found raises an error.
    """
    shelf = Shelf()
    loader = Loader(system, shelf)
    directories = [Path(path).parent for each in mapped if each.sees_our_files for path in each.paths]
    copies, findings = find_copies(system, shelf, pythons=pythons, root=root, mapped=directories)
    hardware = hardware or find_hardware(system)
    native = [copy for copy in copies if not is_foreign(copy, system.machine)]
    consumers = [
        *plain_consumer(loader, {copy.major for copy in native}),
        *(consumer for python in pythons for consumer in consumers_of(python, loader, shelf)),
    ]
    findings += [finding for copy in copies for finding in faults_of_copy(copy, system.machine)]
    findings += [finding for copy in native for finding in _of_native(copy, native, loader, hardware)]
    for consumer in consumers:
        findings += faults_of_consumer(consumer, native)
        new = [each for each in _of_loading(consumer, native, loader) if each not in findings]
        findings += [dataclasses.replace(each, detail=f"{consumer.name}: {each.detail}") for each in new]
    findings += several_copies(consumers, native)
    findings += _of_libc(system, native)
    findings += faults_of_hardware(hardware)
    findings += [finding for each in mapped for finding in faults_of_mapped(each, copies, shelf)]
    return Diagnosis(
        system=system,
        hardware=hardware,
        jetpack=jetpack(system),
        pythons=tuple(pythons),
        copies=tuple(copies),
        consumers=tuple(consumers),
        mapped=tuple(mapped),
        mapped_apart=_releases_apart(mapped, shelf),
        findings=tuple(dict.fromkeys(findings)),
    )


def _releases_apart(mapped: Sequence[Mapped], shelf: Shelf) -> dict[str, str | None]:
    apart = [each for each in mapped if not each.sees_our_files]
    return {path: shelf.library(each.place(path)).version for each in apart for path in each.paths}


def _of_libc(system: System, copies: Sequence[Copy]) -> Iterator[Finding]:
    """Yield each copy where no program can load any: NVIDIA builds them all for glibc."""
    for copy in copies if not system.has_glibc else ():
        detail = "the C library here is not glibc"
        yield Finding(code="libc-foreign", where=str(copy.directory), detail=detail)


def _of_native(copy: Copy, copies: Sequence[Copy], loader: Loader, hardware: Hardware) -> Iterator[Finding]:
    """Yield what happens where somebody loads ``copy`` by its path, on this hardware."""
    yield from unfit_hardware(copy, hardware)
    if copy.main is None or copy.main.binary is None:
        return
    loading = loader.load(loader.at(copy.main.path, "its path"))
    yield from faults_of_loading(loading, copies)
    if copy.main.binary.format == "elf" and (hardware.driver or hardware.driver_cuda):
        yield from missing_companions(loading, copy, loader)


def _of_loading(consumer: Consumer, copies: Sequence[Copy], loader: Loader) -> Iterator[Finding]:
    """Yield what happens where ``consumer`` loads what it finds."""
    if consumer.found is not None and consumer.found.library.binary is not None:
        yield from faults_of_loading(loader.load(consumer.found), copies)
