"""Every place where this system may have a cuDNN, gathered into copies."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ..errors import PrefixError
from ..findings import Finding
from ..layout import Layout
from ..prefix.installed import find_prefixes
from .cache import DEFAULT_DIRECTORIES, cached_libraries, configured_directories
from .copies import Copy, Origin
from .packages import conda_packages, dpkg_packages, rpm_packages
from .preference import preloaded_names
from .system import real

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ..prefix.record import Record
    from .copies import Shelf
    from .pythons import Python
    from .system import System

__all__ = ["find_copies"]

_TOOLKITS = ("usr/local/cuda*/lib64", "usr/local/cuda*/targets/*/lib", "usr/local/cuda*/lib")
_UNNAMED_WHEELS = ("nvidia/*/lib", "nvidia/*/bin", "torch/lib")


def find_copies(
    system: System,
    shelf: Shelf,
    *,
    pythons: Iterable[Python],
    root: Path | None,
    mapped: Iterable[Path] = (),
) -> tuple[list[Copy], list[Finding]]:
    """Return the copies of cuDNN, and what is to be said of places that could not be read.

    ``root`` is that of our own prefixes, ``mapped`` are directories that processes have libraries of. A directory that
    several places name is one copy with several origins.
    """
    origins: dict[Path, list[Origin]] = {}
    places = (*_places(system, tuple(pythons), root), *((directory, None) for directory in mapped))
    for directory, origin in places:
        known = origins.setdefault(real(directory), [])
        if origin is not None and origin not in known:
            known.append(origin)
    copies: list[Copy] = []
    findings: list[Finding] = []
    for directory, known in origins.items():
        try:
            found = shelf.copies_in(directory)
        except OSError as error:
            findings.append(
                Finding(code="file-unreadable", where=str(directory), detail=str(error.strerror or error))
            )
            continue
        copies += [dataclasses.replace(copy, origins=_fitting(known, copy.major)) for copy in found]
    return copies, findings


def _fitting(origins: list[Origin], major: int) -> tuple[Origin, ...]:
    """Leave out what is of another major version: /usr/lib holds libcudnn8 beside libcudnn9-cuda-13."""
    return tuple(
        origin for origin in origins if origin.version is None or origin.version.split(".")[0] == str(major)
    )


def _places(
    system: System, pythons: tuple[Python, ...], root: Path | None
) -> Iterator[tuple[Path, Origin | None]]:
    yield from dpkg_packages(system)
    yield from rpm_packages(system)
    if root is not None:
        yield from _prefixes(root)
    for python in pythons:
        yield from python.wheels()
        yield from (
            (path, None) for site in python.sites for each in _UNNAMED_WHEELS for path in _glob(site, each)
        )
    conda = (system.place(system.environ["CONDA_PREFIX"]),) if system.environ.get("CONDA_PREFIX") else ()
    for environment in dict.fromkeys((*(python.prefix for python in pythons), *conda)):
        yield from conda_packages(environment)
    for pattern in _TOOLKITS:
        for directory in system.glob(pattern):
            name = str(directory.relative_to(system.root)).split("/lib")[0].split("/targets")[0]
            yield directory, Origin(kind="toolkit", name=f"/{name}")
    for directory in _listed(system):
        yield directory, None
        yield from ((folder, None) for folder in _glob(directory, "glibc-hwcaps/*"))


def _listed(system: System) -> Iterator[Path]:
    """Yield what the loader looks into."""
    yield from (system.place(name).parent for name, _ in preloaded_names(system) if "/libcudnn" in name)
    yield from system.directories_of("LD_LIBRARY_PATH")
    yield from (path for path in system.directories_of("PATH") if any(_glob(path, "cudnn*64_*.dll")))
    for name, paths in cached_libraries(system).items():
        if name.startswith("libcudnn"):
            yield from (path.parent for path in paths)
    yield from configured_directories(system)
    yield from (system.place("/" + each.format(system.machine)) for each in DEFAULT_DIRECTORIES)


def _prefixes(root: Path) -> Iterator[tuple[Path, Origin]]:
    try:
        prefixes = list(find_prefixes(Layout(root), product="cudnn"))
    except PrefixError:
        return
    for prefix in prefixes:
        directory = prefix.bin_dir or prefix.lib_dir
        yield directory, _of_record(prefix.record)


def _of_record(record: Record) -> Origin:
    digits = "".join(each for each in (record.variant or "").partition(".")[0] if each.isdigit())
    words = ["cudnn-redist", "fetch", record.label, "--force", "--component", record.component]
    words += ["--platform", record.platform, *(("--cuda", record.variant) if record.variant else ())]
    return Origin(
        kind="prefix",
        name=" ".join(filter(None, (record.component, record.version, record.platform, record.variant))),
        version=record.version,
        cuda=int(digits) if digits else None,
        mend=" ".join(words),
    )


def _glob(directory: Path, pattern: str) -> list[Path]:
    try:
        return sorted(directory.glob(pattern))
    except (OSError, ValueError):
        return []
