"""Proof that a piece of code leaves the file system alone outside one directory, and leaves nothing running."""

from __future__ import annotations

import codecs
import os
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# https://docs.python.org/3/library/audit_events.html: all that open, change or list what a path names. The number
# says how many of the first arguments are paths.
_PATHS = {
    "open": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.listdir": 1,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.scandir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
}

_DESCRIPTORS = Path("/proc/self/fd")

_watching: list[list[tuple[str, Path]]] = []
# What is still under way of earlier tests, a server's thread say, is no deed of the block that is watched.
_bystanders: set[threading.Thread] = set()


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event in _PATHS and threading.current_thread() not in _bystanders:
        # The first argument of os.symlink is text, not a path that anything looks at.
        paths = arguments[1:2] if event == "os.symlink" else arguments[: _PATHS[event]]
        _watching[-1].extend((event, Path(os.fsdecode(path))) for path in paths if not isinstance(path, int))


# Python loads the encoding of old zip names from its own folder when it is first needed.
codecs.lookup("cp437")
# A hook cannot be removed; out of the context below it does nothing.
sys.addaudithook(_hook)


@contextmanager
def touching_only(directory: Path) -> Iterator[None]:
    """Fail if anything but what lies in ``directory``, resolved at that moment, is opened or changed."""
    seen: list[tuple[str, Path]] = []
    _bystanders.update(set(threading.enumerate()) - {threading.current_thread()})
    _watching.append(seen)
    try:
        yield
    finally:
        _watching.remove(seen)
        _bystanders.clear()
        inside = directory.resolve()
        strays = [(event, path) for event, path in seen if not _resolved(path).is_relative_to(inside)]
        assert not strays, strays
        assert seen


@contextmanager
def leaving_nothing_running() -> Iterator[None]:
    """Fail if a thread or descriptor of the block outlives it; what earlier tests had may end meanwhile."""
    before = _running()
    yield
    assert _running() <= before


def _running() -> set[object]:
    descriptors: set[object] = set()
    if _DESCRIPTORS.is_dir():
        for link in _DESCRIPTORS.iterdir():
            # That of the look itself is gone.
            with suppress(FileNotFoundError):
                descriptors.add((link.name, link.readlink()))
    return descriptors | set(threading.enumerate())


def _resolved(path: Path) -> Path:
    return path.parent.resolve() / path.name


def picture(directory: Path) -> dict[str, tuple[object, ...]]:
    """Return everything about a directory's entries that an unpacker could have changed."""
    entries = {}
    for path in sorted((directory, *directory.rglob("*"))):
        found = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        entries[str(path)] = (found.st_mode, found.st_nlink, found.st_mtime_ns, found.st_ctime_ns, content)
    return entries
