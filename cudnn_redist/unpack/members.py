"""The one policy on what may be written where; every kind of archive writes through it.

Directories and files are made as they arrive, links only in ``finish``: while content is written there is no
link on the disk that it could pass through, and a link may name a target that comes after it.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from ..errors import ArchiveError
from .contents import Unpacked, listed
from .files import NewFile, PassedOver, is_case_folded, repeat_file, restore_mtime
from .kept import kept_names, left_out
from .links import resolve
from .names import Unsafe, check_target, folded, judging, member_path, shown
from .options import DEFAULTS, UnpackOptions, everything

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from pathlib import Path

    from .links import Lead
    from .options import Wanted

__all__ = ["Tree"]

# https://learn.microsoft.com/windows/win32/debug/system-error-codes--1300-1699-
_WINDOWS_PRIVILEGE_NOT_HELD = 1314
_OWNER_ALL = 0o700


class Tree:
    """The files below ``destination``, an existing empty directory that belongs to this run.

    ``name`` is the archive's, for errors. ``folds_case`` says whether the destination's file system takes
    ``A`` and ``a`` for one name (``None``: try it out), ``windows`` whether Windows' reserved names are
    refused, and ``make_link`` is called as ``os.symlink`` is. What is not ``wanted`` is judged and not written.

    All methods raise ``ArchiveError`` for a member that must not be written, and ``OSError`` where the disk
    objects. They are for one thread; the files they return may each be written by another.
    """

    def __init__(
        self,
        destination: Path,
        *,
        name: str,
        options: UnpackOptions = DEFAULTS,
        wanted: Wanted = everything,
        folds_case: bool | None = None,
        windows: bool = os.name == "nt",
        make_link: Callable[..., None] = os.symlink,
    ) -> None:
        if any(destination.iterdir()):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(destination))
        self._destination = destination
        self._name = name
        self._options = options
        self._wanted = wanted
        self._folds_case = is_case_folded(destination) if folds_case is None else folds_case
        self._windows = windows
        self._make_link = make_link
        self._taken: dict[str, str] = {}
        self._directories: dict[str, float | None] = {}
        self._files: dict[str, NewFile] = {}
        self._links: dict[str, str] = {}
        self._link_mtimes: dict[str, float] = {}
        self._repeated: dict[str, NewFile] = {}
        self._bytes = 0

    def add_directory(self, name: str, *, mtime: float) -> None:
        """Make a directory; ``./`` is the tree itself. Its permissions are 0777 under the umask."""
        with judging(name, self._name):
            path = member_path(name, windows=self._windows)
            if not path:
                return
            if path not in self._directories:
                self._make_directories(path)
            elif self._directories[path] is not None:
                raise Unsafe("is there already, from an earlier member")
            self._directories[path] = mtime

    def add_file(self, name: str, *, mode: int, mtime: float, size: int) -> NewFile:
        """Return the file to write; ``mode`` counts for its execute bits, ``size`` is what is announced."""
        with judging(name, self._name):
            path = self._claim(name)
            self._reserve(size)
        kind = NewFile if self._wanted(path, link=False) else PassedOver
        file = kind(self._destination / path, executable=bool(mode & 0o111), mtime=mtime)
        self._files[path] = file
        return file

    def add_link(self, name: str, target: str, *, mtime: float) -> None:
        """Note a symbolic link; where it leads is judged in ``finish``, when all members are known."""
        with judging(name, self._name):
            check_target(target)
            path = self._claim(name)
        self._links[path] = target
        self._link_mtimes[path] = mtime

    def add_hard_link(self, name: str, target: str) -> None:
        """Note a second name for a file that came earlier."""
        with judging(name, self._name):
            original = self._files.get(member_path(target, windows=self._windows))
            if original is None:
                raise Unsafe(f"is a hard link to {shown(target)}, which is no earlier file")
            path = self._claim(name)
            self._reserve(original.size)
            if self._wanted(path, link=False):
                if isinstance(original, PassedOver):
                    raise Unsafe(f"is a hard link to {shown(target)}, which is in no part that is chosen")
                self._repeated[path] = original
        self._files[path] = original

    def finish(self) -> Unpacked:
        """Make the links, set the times of directories, list the tree. All files must have been written."""
        if not self._files:
            raise ArchiveError("the archive holds no file", where=self._name)
        top = self._single_top()
        leads = self._resolve_links(top)
        kept = kept_names(
            self._wanted, top=top, directories=self._directories, files=self._files, links=leads
        )
        for path, original in self._repeated.items():
            repeat_file(original, self._destination / path)
        notes = (
            *self._make_links({path: leads[path].end for path in leads if path in kept}),
            *left_out(self._wanted, kept, self._links, top=top),
        )
        self._finish_directories(kept)
        every = listed(top, directories=self._directories, files=self._files, links=self._links)
        place = f"{top}/" if top else ""
        return Unpacked(
            root=self._destination / top,
            members=tuple(member for member in every if place + member.path in kept),
            passed_over=tuple(member for member in every if place + member.path not in kept),
            notes=notes,
        )

    def _claim(self, name: str) -> str:
        path = member_path(name, windows=self._windows)
        if not path:
            raise Unsafe("is the name of the tree itself")
        if name.endswith("/"):
            # GNU tar takes it for a directory whatever its header says: two readers must not see two trees.
            raise Unsafe("ends with a slash, and is no directory")
        self._make_directories(path.rpartition("/")[0])
        self._take(path)
        return path

    def _make_directories(self, path: str) -> None:
        """Make a directory and all that it lies in, unless they are there."""
        missing = []
        while path and path not in self._directories:
            missing.append(path)
            path = path.rpartition("/")[0]
        for directory in reversed(missing):
            self._make_directory(directory)

    def _make_directory(self, path: str) -> None:
        if path in self._links:
            raise Unsafe(f"would be written through the link {shown(path)}")
        if path in self._files:
            raise Unsafe(f"needs a directory where {shown(path)} is a file")
        self._take(path)
        directory = self._destination / path
        directory.mkdir()
        granted = directory.stat().st_mode
        if granted & _OWNER_ALL != _OWNER_ALL:
            directory.chmod(granted & 0o777 | _OWNER_ALL)
        self._directories[path] = None

    def _take(self, path: str) -> None:
        """Enter a new path in the list, unless the file system takes it for one that is there."""
        key = folded(path) if self._folds_case else path
        earlier = self._taken.setdefault(key, path)
        if earlier != path:
            raise Unsafe(f"and {shown(earlier)} are one name on this file system, which folds case")
        if path in self._directories or path in self._files or path in self._links:
            raise Unsafe("is there already, from an earlier member")
        if len(self._taken) > self._options.max_members:
            raise Unsafe(f"is one member too many: at most {self._options.max_members}")

    def _reserve(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._options.max_bytes:
            raise Unsafe(f"brings the content to {self._bytes} bytes: at most {self._options.max_bytes}")

    def _single_top(self) -> str:
        """Return the one directory that everything lies in, or ``""``."""
        tops = {path.partition("/")[0] for path in self._taken.values()}
        top = tops.pop()
        return "" if tops or top not in self._directories else top

    def _finish_directories(self, kept: Container[str]) -> None:
        """Remove what has become empty, innermost first, and set the times of the rest."""
        for path in sorted(self._directories, reverse=True):
            if path not in kept:
                (self._destination / path).rmdir()
        for path, mtime in self._directories.items():
            if path in kept and mtime is not None:
                restore_mtime(self._destination / path, mtime)

    def _resolve_links(self, top: str) -> dict[str, Lead]:
        """Return where each link leads."""
        leads = {}
        for path in self._links:
            with judging(path, self._name):
                leads[path] = resolve(
                    path, links=self._links, directories=self._directories, files=self._files, top=top
                )
        return leads

    def _make_links(self, ends: dict[str, str]) -> tuple[str, ...]:
        """Make the links, or give their files a second name where this account may make none (C57)."""
        refused = []
        for path, end in ends.items():
            try:
                self._make_one_link(path, to_directory=end in self._directories)
            except OSError as error:
                if getattr(error, "winerror", None) != _WINDOWS_PRIVILEGE_NOT_HELD or end not in self._files:
                    raise
                refused.append(path)
        for path in refused:
            original = self._files[ends[path]]
            with judging(path, self._name):
                self._reserve(original.size)
            repeat_file(original, self._destination / path)
        if not refused:
            return ()
        return (
            f"{len(refused)} symbolic links became hard links or copies: this account may not make links",
        )

    def _make_one_link(self, path: str, *, to_directory: bool) -> None:
        place = self._destination / path
        target = self._links[path].replace("/", os.sep)
        self._make_link(target, place, target_is_directory=to_directory)
        if os.utime in os.supports_follow_symlinks:
            restore_mtime(place, self._link_mtimes[path], follow_symlinks=False)
