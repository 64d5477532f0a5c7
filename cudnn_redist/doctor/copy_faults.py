"""What is wrong with one cuDNN by itself: damaged or mixed files, foreign headers, a release with a fault."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..findings import Finding
from .support import known_fault, support_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .copies import Copy, Library

__all__ = ["faults_of_copy", "is_foreign"]


def faults_of_copy(copy: Copy, machine: str) -> Iterator[Finding]:
    """Yield what is to be said of ``copy`` on a machine of a kind, whoever loads it."""
    for library in copy.libraries.values():
        if library.problem is not None:
            yield _unreadable(library, copy)
    if is_foreign(copy, machine):
        if not any(origin.kind == "prefix" for origin in copy.origins):
            built = ", ".join(
                sorted({each.binary.machine for each in copy.libraries.values() if each.binary})
            )
            yield Finding(code="machine-foreign", where=str(copy.directory), detail=f"made for {built}")
        return
    if copy.main is None:
        name = f"libcudnn.so.{copy.major}"
        yield _found(copy, "part-missing", f"{', '.join(sorted(copy.libraries))} without {name}")
    yield from _versions(copy)
    yield from _header(copy)
    yield from _release(copy)


def is_foreign(copy: Copy, machine: str) -> bool:
    """Whether all that can be read of a copy is made for another kind of machine, or another system."""
    read = [library.binary for library in copy.libraries.values() if library.binary]
    here = "pe" if os.name == "nt" else "elf"
    return bool(read) and all(binary.machine != machine or binary.format != here for binary in read)


def _found(copy: Copy, code: str, detail: str) -> Finding:
    return Finding(code=code, where=str(copy.directory), detail=detail, command=copy.mend)


def _unreadable(library: Library, copy: Copy) -> Finding:
    path, detail = library.path, library.problem or ""
    if library.unreadable and path.is_symlink() and not path.exists():
        code, detail = "file-missing", f"links to {path.readlink()}, which is not there"
    else:
        code = "file-unreadable" if library.unreadable else "library-damaged"
    return Finding(code=code, where=str(path), detail=detail, command=copy.mend)


def _versions(copy: Copy) -> Iterator[Finding]:
    """Yield what the libraries and their installers say of their release that does not fit together."""
    wheels = [origin for origin in copy.origins if origin.kind == "wheel" and origin.version]
    if len(wheels) > 1:
        names = " and ".join(origin.name for origin in wheels)
        yield _found(copy, "installed-twice", f"{names} share this directory")
    by_version: dict[str, list[str]] = {}
    for name, library in sorted(copy.libraries.items()):
        if library.version:
            by_version.setdefault(library.version, []).append(name)
    if len(by_version) > 1:
        said = "; ".join(f"{', '.join(names)} of {version}" for version, names in sorted(by_version.items()))
        yield _found(copy, "version-differs", said)
        return
    for origin in copy.origins:
        if by_version and origin.version and not copy.is_of(origin.version) and len(wheels) < 2:  # noqa: PLR2004 - else told above
            yield _found(
                copy, "version-differs", f"the libraries are of {copy.version}, installed is {origin.name}"
            )


def _header(copy: Copy) -> Iterator[Finding]:
    found = copy.header_version()
    if found is None or copy.version is None:
        return
    header, version = found
    if version.split(".")[0] == str(copy.major) and not copy.is_of(version):
        detail = f"{header} states {version}, the libraries are of {copy.version}"
        yield _found(copy, "header-differs", detail)


def _release(copy: Copy) -> Iterator[Finding]:
    if copy.version is None:
        return
    fault = known_fault(copy.version)
    if fault is not None:
        yield Finding(code="release-faulty", where=str(copy.directory), detail=f"{copy.version} {fault}")
    if support_of(copy.version) is None:
        detail = f"nothing is known here of what {copy.version} supports"
        yield Finding(code="support-unknown", where=str(copy.directory), detail=detail)
