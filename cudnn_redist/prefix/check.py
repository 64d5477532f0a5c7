"""A prefix against its record, and its libraries against each other and this machine."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from ..findings import Finding
from ..host import Machine, is_platform_of
from ..layout import RECORD_NAME
from ..libc import glibc_version
from .libraries import examine
from .symlinks import link_target
from .versions import other_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .installed import Prefix
    from .record import Entry

__all__ = ["check"]

# Large enough that reading costs nothing beside hashing, small enough that a signal is heard between two.
_PIECE = 1024 * 1024


def check(prefix: Prefix) -> tuple[Finding, ...]:
    """Read every file of ``prefix``, on all cores, and return what is to be said of it, sorted by path.

    A note is a finding too: ``findings.faults`` picks those that make the prefix unfit.
    """
    comparison = _Comparison(prefix)
    with ThreadPoolExecutor() as pool:
        try:
            libraries = pool.submit(comparison.libraries)
            found = [
                *filter(None, pool.map(comparison.of, comparison.recorded.values())),
                *comparison.extras(),
                *comparison.versions(),
                *comparison.unproven(),
                *libraries.result(),
            ]
        finally:
            # Of what is under way nobody wants to hear any more when Ctrl-C comes.
            comparison.stopped.set()
    return tuple(sorted(found, key=lambda finding: finding.where))


class _Buffer(threading.local):
    """What a thread reads a piece of a file into: each its own."""

    def __init__(self) -> None:
        self.view = memoryview(bytearray(_PIECE))


class _Comparison:
    """A prefix beside its record; ``stopped`` ends what other threads still read."""

    def __init__(self, prefix: Prefix) -> None:
        self.recorded = {entry.path: entry for entry in (*prefix.record.entries, *prefix.record.generated)}
        self.stopped = threading.Event()
        self._prefix = prefix
        self._root = prefix.path
        self._buffer = _Buffer()

    def of(self, entry: Entry) -> Finding | None:
        """Return how what is at the path of ``entry`` differs from it."""
        try:
            detail = self._difference(self._root / entry.path, entry)
        except (FileNotFoundError, NotADirectoryError):
            return Finding(
                code="file-missing", where=entry.path, detail=f"the record has a {entry.kind} here"
            )
        except OSError as error:
            return _unreadable(entry.path, error)
        return Finding(code="file-changed", where=entry.path, detail=detail) if detail else None

    def extras(self) -> Iterator[Finding]:
        """Yield what the record does not have, and where none can look for it."""
        closed: list[OSError] = []
        for directory, names, files in os.walk(self._root, onerror=closed.append):
            for name in (*names, *files):
                path = self._relative(Path(directory, name))
                if path not in self.recorded and path != RECORD_NAME:
                    yield self._extra(path)
        for error in closed:
            yield _unreadable(self._relative(Path(error.filename)), error)

    def versions(self) -> Iterator[Finding]:
        """Yield the header and the libraries that speak of another version than the record."""
        record = self._prefix.record
        for path, version in other_versions(self._root, record):
            detail = f"says {version}, recorded as {record.version}"
            yield Finding(code="version-differs", where=path, detail=detail)

    def unproven(self) -> Iterator[Finding]:
        """Yield what nobody vouches for in a prefix that was adopted."""
        for sentence in self._prefix.record.unproven:
            yield Finding(code="unproven", where=RECORD_NAME, detail=sentence)

    def libraries(self) -> list[Finding]:
        """Return what the libraries say of themselves that does not fit."""
        record = self._prefix.record
        glibc = glibc_version() if is_platform_of(Machine.this(), record.platform) else None
        return list(examine(self._root, record, glibc=glibc))

    def _extra(self, path: str) -> Finding:
        try:
            kind = _kind((self._root / path).lstat().st_mode)
        except OSError as error:
            return _unreadable(path, error)
        return Finding(code="file-extra", where=path, detail=f"a {kind} that the record does not have")

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _difference(self, path: Path, entry: Entry) -> str | None:
        found = path.lstat()
        kind = _kind(found.st_mode)
        if entry.kind == "link" and kind == "file" and os.name == "nt":
            # Where links may not be made, the unpacker leaves a copy of what the link leads to (C57).
            entry = _behind(entry, self.recorded)
        if kind != entry.kind:
            return f"is a {kind}, recorded as a {entry.kind}"
        if kind == "link":
            target = link_target(path)
            return None if target == entry.target else f"links to {target}, recorded as {entry.target}"
        return self._file_difference(path, found, entry) if kind == "file" else None

    def _file_difference(self, path: Path, found: os.stat_result, entry: Entry) -> str | None:
        if found.st_size != entry.size:
            return f"{found.st_size} bytes, recorded as {entry.size}"
        executable = bool(found.st_mode & 0o111)
        if os.name != "nt" and executable != entry.executable:
            return (
                "is executable, recorded as not"
                if executable
                else "is not executable, recorded as executable"
            )
        sha256 = self._sha256(path)
        return None if sha256 in (None, entry.sha256) else f"sha256 is {sha256}, recorded as {entry.sha256}"

    def _sha256(self, path: Path) -> str | None:
        """Return the digest of a file's bytes, or ``None`` after ``stopped``."""
        digest, view = hashlib.sha256(), self._buffer.view
        with path.open("rb", buffering=0) as file:
            while not self.stopped.is_set():
                size = file.readinto(view)
                if not size:
                    return digest.hexdigest()
                digest.update(view[:size])
        return None


def _unreadable(path: str, error: OSError) -> Finding:
    return Finding(code="file-unreadable", where=path, detail=str(error.strerror))


def _behind(link: Entry, recorded: dict[str, Entry]) -> Entry:
    entry = link
    for _ in recorded:
        if entry.kind != "link":
            break
        target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), entry.target or ""))
        entry = recorded.get(target, link)
    return entry


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_ISREG(mode) else "special file"
