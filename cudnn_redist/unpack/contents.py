"""What an unpacked tree holds, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .files import NewFile

__all__ = ["Member", "Unpacked", "listed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """One path of the tree, in POSIX spelling. ``size`` is in bytes, 0 for directories and links."""

    path: str
    kind: Literal["file", "directory", "link"]
    size: int = 0
    executable: bool = False
    sha256: str | None = None
    target: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unpacked:
    """A complete tree below ``root``: the archive's single top folder, else the destination itself.

    ``members`` are relative to ``root`` and sorted; a directory is among them whether the archive names it or
    not, so that the list depends on the archive alone. ``passed_over`` is the rest of the archive, which was not
    wanted. ``notes`` are sentences about what could not be done as the archive has it.
    """

    root: Path
    members: tuple[Member, ...]
    passed_over: tuple[Member, ...] = ()
    notes: tuple[str, ...] = ()


def listed(
    top: str, *, directories: Iterable[str], files: Mapping[str, NewFile], links: Mapping[str, str]
) -> tuple[Member, ...]:
    """Return the members of a tree, relative to its directory ``top`` (``""`` for the tree itself)."""
    skip = len(top) + 1 if top else 0
    members = [Member(path=path[skip:], kind="directory") for path in directories if path != top]
    members += [Member(path=path[skip:], kind="link", target=target) for path, target in links.items()]
    members += [
        Member(path=path[skip:], kind="file", size=file.size, executable=file.executable, sha256=file.sha256)
        for path, file in files.items()
    ]
    return tuple(sorted(members, key=lambda member: member.path))
