"""What running programs have mapped of cuDNN."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotAvailableError, PrefixError, UsageError
from ..maps import mapped_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Mapped", "mapped_by", "watch"]

_BETWEEN_LOOKS = 0.02
_PROC = Path("/proc")
_OUR_ROOT = Path("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """The files of cuDNN that a process has mapped; ``name`` is what it runs, ``ended`` its exit code if it has.

    ``paths`` are as it sees them, with ``maps.DELETED`` where such a file is gone.
    ``root`` is where what it sees as ``/`` lies for us: another place for one that runs in a container.
    """

    pid: int
    name: str
    paths: tuple[str, ...]
    ended: int | None = None
    root: Path = _OUR_ROOT

    @property
    def sees_our_files(self) -> bool:
        """Whether its paths are ours too."""
        return self.root == _OUR_ROOT

    def place(self, path: str) -> Path:
        """Return where a path of the process lies for us."""
        return Path(path) if self.sees_our_files else self.root / path.lstrip("/")


def mapped_by(pid: int) -> Mapped:
    """Return what process ``pid`` has mapped now.

    ``NotAvailableError`` where there is none, ``PrefixError`` where it belongs to somebody else, ``UsageError`` where
    the system has no ``/proc``.
    """
    _need_proc()
    try:
        return Mapped(pid=pid, name=_name(pid), paths=tuple(sorted(_paths(pid))), root=_root(pid))
    except (FileNotFoundError, ProcessLookupError) as error:
        raise NotAvailableError(f"there is no process {pid}", phase="doctor") from error
    except OSError as error:
        raise PrefixError(
            f"what it has mapped may not be read: {error.strerror}", phase="doctor", where=f"process {pid}"
        ) from error


def watch(command: Sequence[str]) -> list[Mapped]:
    """Run ``command`` to its end, and return what it and its children had mapped, as seen every 20 ms.

    Its stdout goes to our stderr, since our results go to stdout. ``UsageError`` where it cannot be started.
    """
    _need_proc()
    try:
        process = subprocess.Popen(list(command), stdout=2)  # noqa: S603 - the command that the user gives
    except OSError as error:
        raise UsageError(f"cannot be run: {error.strerror}", where=command[0]) from error
    seen: dict[int, tuple[str, set[str]]] = {}
    try:
        while process.poll() is None:
            _look(process.pid, seen)
            time.sleep(_BETWEEN_LOOKS)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    found = [
        Mapped(
            pid=pid,
            name=name,
            paths=tuple(sorted(paths)),
            ended=process.returncode if pid == process.pid else None,
        )
        for pid, (name, paths) in seen.items()
        if paths or pid == process.pid
    ]
    return found or [Mapped(pid=process.pid, name=command[0], paths=(), ended=process.returncode)]


def _need_proc() -> None:
    if not (_PROC / "self/maps").exists():
        raise UsageError("this system does not tell what its processes have mapped (no /proc)")


def _look(pid: int, seen: dict[int, tuple[str, set[str]]]) -> None:
    for each in (pid, *_descendants(pid)):
        # It may end while it is looked at.
        with contextlib.suppress(OSError):
            paths = _paths(each)
            if each == pid or paths:
                _, known = seen.setdefault(each, (_name(each), set()))
                known |= paths


def _descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from _descendants(int(child))


def _paths(pid: int) -> set[str]:
    return {file.told for file in mapped_files(pid) if Path(file.path).name.startswith("libcudnn")}


def _root(pid: int) -> Path:
    """Return where a process' files lie (proc(5), ``/proc/PID/root``), which in its own mount namespace are others."""
    try:
        ours, its = ((_PROC / each / "ns/mnt").readlink() for each in ("self", str(pid)))
    except OSError:
        # It has just ended, or this kernel has no such namespaces.
        return _OUR_ROOT
    return _OUR_ROOT if ours == its else _PROC / str(pid) / "root"


def _name(pid: int) -> str:
    words = os.fsdecode((_PROC / str(pid) / "cmdline").read_bytes()).replace("\0", " ").split()
    return " ".join(words) or f"process {pid}"
