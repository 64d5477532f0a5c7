"""The system that is looked at: its root, its variables, and what its files say. Nothing is ever written."""

from __future__ import annotations

import errno
import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["System", "bytes_at", "names_in", "real", "text_at"]

# As the readers of libraries spell it.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
_LONGEST = 64 << 20
# On Windows the drive's name is followed by a colon.
_BETWEEN = ";" if os.name == "nt" else "[:;]"
_MOST_LINKS = 40
# A directory of such a path can hold nothing: the loader passes over it, as over one that is not there.
_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def _this_machine() -> str:
    told = platform.machine().lower()
    return _MACHINES.get(told, told)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system: ``root`` is where its files lie on this disk (``/``, or where an image is mounted).

    ``environ`` are the variables of the programs that are asked about, ``machine`` its kind (``x86_64``, ``aarch64``).
    """

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    machine: str = field(default_factory=_this_machine)

    @classmethod
    def at(cls, root: Path) -> System:
        """Return the system below ``root``, of the machine that its loader is for, if it has one for one alone."""
        system = cls(root=root)
        there = [machine for machine, loader in _LOADERS.items() if system.place(loader).is_file()]
        return cls(root=root, machine=there[0]) if len(there) == 1 else system

    @property
    def is_this(self) -> bool:
        """Whether this is the system that we run on: only then can its driver and its programs be asked."""
        return self.root == Path("/")

    @property
    def has_glibc(self) -> bool:
        """Whether programs for the GNU C library run: musl may well lie beside it, or be all there is."""
        return any(self.place(each).exists() for each in _LOADERS.values()) or not self.glob("lib/ld-musl-*")

    def place(self, path: str | Path) -> Path:
        """Return where on this disk the system's ``path`` lies; a relative one starts at the working directory.

        Of another system the links are followed as they would be there: an absolute one starts at its root.
        """
        absolute = Path(path).absolute()
        return absolute if self.is_this else self._below_root(absolute)

    def text(self, path: str | Path) -> str:
        """Return what stands in a file of the system; nothing where it is not there or may not be read."""
        return text_at(self.place(path))

    def directories_of(self, variable: str) -> tuple[Path, ...]:
        """Return the directories that a variable lists, by their places on this disk (ld.so(8) for its empty ones)."""
        listed = self.environ.get(variable, "")
        if not listed:
            return ()
        return tuple(self.place(entry or ".") for entry in re.split(_BETWEEN, listed))

    def glob(self, pattern: str) -> list[Path]:
        """Return, sorted, what below the root fits a pattern, in the words of the shell; nothing where it is none.

        Directories that may not be read have nothing.
        """
        try:
            return sorted(self.root.glob(re.sub(r"\*+", "*", pattern)))
        except (OSError, ValueError):
            return []

    def _below_root(self, path: Path) -> Path:
        place, waiting, followed = self.root, list(path.parts[1:]), 0
        while waiting:
            part = waiting.pop(0)
            target = _target(place / part) if followed < _MOST_LINKS and part != ".." else None
            if target is not None:
                place, followed = self.root if target.is_absolute() else place, followed + 1
                waiting[:0] = target.parts[1:] if target.is_absolute() else target.parts
            elif part != "..":
                place /= part
            elif place != self.root:
                place = place.parent
        return place


def _target(path: Path) -> Path | None:
    """Return what a link leads to, as it is written there; ``None`` of what is none."""
    try:
        return path.readlink()
    except (OSError, ValueError):
        return None


def bytes_at(path: Path) -> bytes:
    """Return what is in a file; nothing where it is not there, no plain file (a pipe is waited for) or not readable."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_LONGEST)
    except (OSError, ValueError):
        return b""


def text_at(path: Path) -> str:
    """Return what ``bytes_at`` does, as text, in which names keep the bytes that are no UTF-8 (PEP 383)."""
    return bytes_at(path).decode("utf-8", "surrogateescape")


def real(path: Path) -> Path:
    """Return a path behind all its links; those that lead in a circle are left, and so is what can be no path."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


def names_in(directory: Path) -> Iterator[str]:
    """Yield what a directory holds; ``OSError`` where it is there and may not be read."""
    try:
        yield from sorted(path.name for path in directory.iterdir())
    except ValueError:
        # No path has NUL in it, or half a surrogate pair, whatever a damaged database says.
        return
    except OSError as error:
        if error.errno not in _NOWHERE:
            raise
