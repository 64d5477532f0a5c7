"""What is wrong with the cuDNNs that a process has mapped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..findings import Finding
from ..maps import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .copies import Copy, Shelf
    from .processes import Mapped

__all__ = ["faults_of_mapped"]


def faults_of_mapped(mapped: Mapped, copies: Sequence[Copy], shelf: Shelf) -> Iterator[Finding]:
    """Yield what does not fit together among the files that a process has mapped, each major version apart."""
    majors: dict[str, dict[str, list[str]]] = {}
    for path in mapped.paths:
        if path.endswith(DELETED):
            detail = f"{Path(path).name.removesuffix(DELETED)} is used by process {mapped.pid}, and gone"
            yield Finding(code="file-missing", where=path.removesuffix(DELETED), detail=detail)
            continue
        major = Path(path).name.partition(".so.")[2].partition(".")[0]
        majors.setdefault(major, {}).setdefault(str(Path(path).parent), []).append(path)
    for directories in majors.values():
        if len(directories) > 1:
            yield from _mixed(mapped, directories, copies, shelf)


def _mixed(
    mapped: Mapped, directories: dict[str, list[str]], copies: Sequence[Copy], shelf: Shelf
) -> Iterator[Finding]:
    known = copies if mapped.sees_our_files else ()
    versions = {
        directory: _version(directory, [mapped.place(path) for path in paths], known, shelf)
        for directory, paths in directories.items()
    }
    told = "; ".join(
        f"{', '.join(sorted(Path(path).name for path in paths))} of {versions[directory] or 'unknown'} in {directory}"
        for directory, paths in sorted(directories.items())
    )
    same = len(set(versions.values())) == 1 and None not in versions.values()
    yield Finding(
        code="shadowed" if same else "set-mixed", where=f"process {mapped.pid}", detail=f"has mapped {told}"
    )


def _version(directory: str, paths: list[Path], copies: Sequence[Copy], shelf: Shelf) -> str | None:
    stated = (shelf.library(path).version for path in paths)
    known = (copy.version for copy in copies if copy.directory == Path(directory))
    return next(filter(None, (*stated, *known)), None)
