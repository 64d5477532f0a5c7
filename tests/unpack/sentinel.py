"""Neighbours of a stage that any unsafe member could reach, and the kernel's word on whether one did."""

from __future__ import annotations

import ctypes
import os
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

from unpack.watch import picture, touching_only

# Imported late by the product, and Python's own reading of it would be an event.
import cudnn_redist.unpack.zst  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STAGE = "tree"
# inotify(7): every event there is, reading and listing included.
_ALL_EVENTS = 0xFFF
_NONBLOCK = os.O_NONBLOCK
_EVENT = struct.Struct("iIII")
_libc = ctypes.CDLL(None, use_errno=True)


def build_sentinel(around: Path) -> Path:
    """Make ``sentinel``, a directory with a file, a link and a directory in it, where a stage will lie beside it."""
    sentinel = around / "sentinel"
    (sentinel / "d").mkdir(parents=True)
    (sentinel / "file").write_text("untouched")
    (sentinel / "d/below").write_text("untouched")
    (sentinel / "link").symlink_to("file")
    (sentinel / "file").chmod(0o400)
    return sentinel


@contextmanager
def untouched(around: Path) -> Iterator[None]:
    """Fail if anything at or below ``around`` but the stage is opened, read, listed, linked or changed.

    Python's audit events tell what paths were named, the kernel what happened to files, and a picture before and
    after what became of modes, link counts, times and content.
    """
    before = picture(around / "sentinel")
    with without_events(around), touching_only(around / STAGE):
        yield
    assert picture(around / "sentinel") == before
    assert {path.name for path in around.iterdir()} <= {STAGE, "sentinel"}


@contextmanager
def without_events(around: Path) -> Iterator[None]:
    """Fail if the kernel saw anything happen below ``around`` but to the stage."""
    sentinel = around / "sentinel"
    watched = [path for path in (around, sentinel, *sentinel.rglob("*")) if not path.is_symlink()]
    with _Inotify(watched) as seen:
        yield
        strays = [name for name in seen.names() if name != STAGE]
    assert not strays, f"events on {strays}"


class _Inotify:
    """Events on some files and directories, by the name in the directory, or that of the file itself."""

    def __init__(self, watched: list[Path]) -> None:
        self._watched = watched
        self._names: dict[int, str] = {}

    def __enter__(self) -> _Inotify:
        self._handle = _libc.inotify_init1(_NONBLOCK)
        assert self._handle >= 0, os.strerror(ctypes.get_errno())
        for path in self._watched:
            number = _libc.inotify_add_watch(self._handle, os.fsencode(path), _ALL_EVENTS)
            assert number >= 0, os.strerror(ctypes.get_errno())
            self._names[number] = path.name
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self._handle)

    def names(self) -> list[str]:
        """Return what the events so far were on."""
        try:
            data = os.read(self._handle, 1 << 20)
        except BlockingIOError:
            return []
        names = []
        while data:
            number, _, _, length = _EVENT.unpack_from(data)
            name = data[_EVENT.size : _EVENT.size + length].rstrip(b"\0")
            names.append(os.fsdecode(name) or self._names[number])
            data = data[_EVENT.size + length :]
        return names
