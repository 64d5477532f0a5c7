"""The system that is looked at: its root, its variables, and what its files say. Nothing is ever written."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["System", "bytes_at", "names_in", "real", "text_at"]

# As the readers of libraries spell it.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_LONGEST = 64 << 20


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

    @property
    def is_this(self) -> bool:
        """Whether this is the system that we run on: only then can its driver and its programs be asked."""
        return self.root == Path("/")

    def place(self, path: str | Path) -> Path:
        """Return where on this disk the system's ``path`` lies; a relative one starts at the working directory."""
        absolute = Path(path).absolute()
        return absolute if self.is_this else self.root / absolute.relative_to(absolute.anchor)

    def text(self, path: str | Path) -> str:
        """Return what stands in a file of the system; nothing where it is not there or may not be read."""
        return text_at(self.place(path))

    def directories_of(self, variable: str) -> tuple[Path, ...]:
        """Return the directories that a variable lists, by their places on this disk (ld.so(8) for its empty ones)."""
        listed = self.environ.get(variable, "")
        if not listed:
            return ()
        return tuple(self.place(entry or ".") for entry in listed.replace(";", ":").split(":"))

    def glob(self, pattern: str) -> list[Path]:
        """Return what fits a pattern below the root, sorted; directories that may not be read have nothing."""
        try:
            return sorted(self.root.glob(pattern))
        except OSError:
            return []


def bytes_at(path: Path) -> bytes:
    """Return what is in a file; nothing where it is not there, no plain file (a pipe is waited for) or not readable."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_LONGEST)
    except OSError:
        return b""


def text_at(path: Path) -> str:
    """Return what ``bytes_at`` does, as text."""
    return bytes_at(path).decode("utf-8", "replace")


def real(path: Path) -> Path:
    """Return a path behind all its links; those that lead in a circle are left."""
    return Path(os.path.realpath(path))


def names_in(directory: Path) -> Iterator[str]:
    """Yield what a directory holds; ``OSError`` where it is there and may not be read."""
    try:
        yield from sorted(path.name for path in directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
