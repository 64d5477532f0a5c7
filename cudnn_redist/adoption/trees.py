"""From what is at hand to a tree in a stage, laid out as NVIDIA's archives are: archives, wheels and directories."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..digest import Expected, Judge
from ..errors import ArchiveError
from ..prefix.record import Entry
from ..source.follow import FileReader
from ..unpack import Member
from ..unpack.files import PIECE
from ..unpack.members import Tree
from ..unpacking import unpack_judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..unpack import Unpacked

__all__ = ["Gathered", "from_archive", "from_directory"]

# What NVIDIA's wheels on PyPI keep below site-packages; ``__init__.py`` is all they have for Python.
_IN_WHEEL = re.compile(r"(nvidia/cudnn(?:_jit)?)/(?:include|lib|bin)/.+")
_LICENCE_IN_WHEEL = re.compile(r"[^/]+\.dist-info/(?:.+/)?licen[cs]e(?:\.txt)?", re.IGNORECASE)
# Of a directory that may hold much else, such as that of a CUDA toolkit.
_OF_CUDNN = re.compile(
    r"(?:include/(?:.+/)?cudnn[^/]*\.h|(?:lib|lib64|bin)/(?:.+/)?(?:lib)?cudnn[^/]*|licen[cs]e[^/]*)",
    re.IGNORECASE,
)
_LIBRARY = re.compile(r"(?P<plain>(?:.*/)?libcudnn[^/]*\.so)(?P<major>\.[0-9]+)?(?:\.[0-9]+)*")
# A tree with one folder at its top is taken without it.
_TOP = "adopted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A tree below ``root``: ``members`` are what there was, ``added`` the links that wheels leave out."""

    root: Path
    members: tuple[Member, ...]
    added: tuple[Entry, ...] = ()

    @property
    def paths(self) -> list[str]:
        """Every file and link."""
        members = (member.path for member in self.members if member.kind != "directory")
        return [*members, *(link.path for link in self.added)]


def from_archive(path: Path, stage: Path, *, expected: Expected) -> Gathered:
    """Unpack an archive or a wheel into ``stage``, under the policy that every installation follows.

    Raises ``ArchiveError``, ``IntegrityError`` where it is not what it was when ``expected`` was taken, and
    ``OSError``.
    """
    with path.open("rb") as file:
        unpacked = unpack_judged(FileReader(file, Judge(expected, where=path)), stage)
    home = next((named[1] for each in unpacked.members if (named := _IN_WHEEL.fullmatch(each.path))), None)
    root, members = (unpacked.root, unpacked.members) if home is None else _out_of_wheel(unpacked, home)
    return Gathered(root=root, members=members, added=_with_links(root, members))


def from_directory(path: Path, stage: Path) -> Gathered:
    """Copy what is of cuDNN in a directory (``include``, ``lib``, ``lib64``, ``bin``, a licence) into ``stage``.

    Raises ``ArchiveError`` where there is nothing, or a link leads out, and ``OSError``.
    """
    names = list(_names_of_cudnn(path))
    if not names:
        raise ArchiveError("has nothing of cuDNN in include, lib, lib64 or bin", phase="adopt", where=path)
    tree = Tree(stage, name=str(path))
    for name in names:
        found = (path / name).lstat()
        if stat.S_ISLNK(found.st_mode):
            tree.add_link(f"{_TOP}/{name}", os.readlink(path / name), mtime=found.st_mtime)  # noqa: PTH115 - text
            continue
        if not stat.S_ISREG(found.st_mode):
            raise ArchiveError("is neither a file nor a link", phase="adopt", where=path, member=name)
        new = tree.add_file(f"{_TOP}/{name}", mode=found.st_mode, mtime=found.st_mtime, size=found.st_size)
        with (path / name).open("rb") as source, new:
            while piece := source.read(PIECE):
                new.write(piece)
    unpacked = tree.finish()
    added = _with_links(unpacked.root, unpacked.members)
    return Gathered(root=unpacked.root, members=unpacked.members, added=added)


def _names_of_cudnn(path: Path) -> Iterator[str]:
    """Yield what is of cuDNN below ``path``, in POSIX spelling; directories that are links are not entered."""

    def refuse(error: OSError) -> None:
        raise error

    for directory, below, names in os.walk(path, onerror=refuse):
        below.sort()
        for name in sorted(names):
            relative = (Path(directory) / name).relative_to(path).as_posix()
            if _OF_CUDNN.fullmatch(relative):
                yield relative


def _out_of_wheel(unpacked: Unpacked, home: str) -> tuple[Path, tuple[Member, ...]]:
    """Return the tree below ``home`` without what is Python's, and with the wheel's licence."""
    root, kept = unpacked.root / home, list[Member]()
    for member in unpacked.members:
        inside = member.path.removeprefix(f"{home}/")
        if inside != member.path and inside.rpartition("/")[2] == "__init__.py":
            (unpacked.root / member.path).unlink()
        elif inside != member.path:
            kept.append(replace(member, path=inside))
        elif _LICENCE_IN_WHEEL.fullmatch(member.path) and not (root / "LICENSE").exists():
            (unpacked.root / member.path).rename(root / "LICENSE")
            kept.append(replace(member, path="LICENSE"))
    return root, tuple(sorted(kept, key=lambda member: member.path))


def _with_links(root: Path, members: Iterable[Member]) -> tuple[Entry, ...]:
    """Make the names by which programs and linkers ask for a library, where they are not there (C86)."""
    there = {member.path for member in members if member.kind != "directory"}
    added: list[Entry] = []
    for path in sorted(there, key=len, reverse=True):
        named = _LIBRARY.fullmatch(path)
        if named is None or named["major"] is None:
            continue
        target = path
        for name in (named["plain"] + named["major"], named["plain"]):
            if name not in there:
                (root / name).symlink_to(target.rpartition("/")[2])
                added.append(Entry(path=name, kind="link", target=target.rpartition("/")[2]))
                there.add(name)
            target = name
    return tuple(sorted(added, key=lambda entry: entry.path))
