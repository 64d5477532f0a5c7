"""A prefix against its record: what is missing, changed or extra."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..layout import RECORD_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .installed import Prefix
    from .record import Entry

__all__ = ["Finding", "check"]

FindingKind = Literal["missing", "changed", "extra", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One difference: where, of what kind, and a sentence."""

    path: str
    kind: FindingKind
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.path}: {self.detail}"


def check(prefix: Prefix) -> tuple[Finding, ...]:
    """Read every file of ``prefix``, on all cores, and return how it differs from its record, sorted by path."""
    recorded = {entry.path: entry for entry in (*prefix.record.entries, *prefix.record.generated)}
    with ThreadPoolExecutor() as pool:
        differences = pool.map(lambda entry: _compare(prefix.path, entry, recorded), recorded.values())
        found = [finding for finding in differences if finding is not None]
    found.extend(_extras(prefix.path, recorded))
    return tuple(sorted(found, key=lambda finding: finding.path))


def _compare(root: Path, entry: Entry, recorded: dict[str, Entry]) -> Finding | None:
    try:
        detail = _difference(root / entry.path, entry, recorded)
    except (FileNotFoundError, NotADirectoryError):
        return Finding(path=entry.path, kind="missing", detail=f"the record has a {entry.kind} here")
    except OSError as error:
        return Finding(path=entry.path, kind="unreadable", detail=str(error.strerror))
    return Finding(path=entry.path, kind="changed", detail=detail) if detail else None


def _difference(path: Path, entry: Entry, recorded: dict[str, Entry]) -> str | None:
    found = path.lstat()
    kind = _kind(found.st_mode)
    if entry.kind == "link" and kind == "file" and os.name == "nt":
        # Where links may not be made, the unpacker leaves a copy of what the link leads to (C57).
        entry = _behind(entry, recorded)
    if kind != entry.kind:
        return f"is a {kind}, recorded as a {entry.kind}"
    if kind == "link":
        target = str(path.readlink())
        return None if target == entry.target else f"links to {target}, recorded as {entry.target}"
    return _file_difference(path, found, entry) if kind == "file" else None


def _behind(link: Entry, recorded: dict[str, Entry]) -> Entry:
    entry = link
    for _ in recorded:
        if entry.kind != "link":
            break
        target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), entry.target or ""))
        entry = recorded.get(target, link)
    return entry


def _file_difference(path: Path, found: os.stat_result, entry: Entry) -> str | None:
    if found.st_size != entry.size:
        return f"{found.st_size} bytes, recorded as {entry.size}"
    executable = bool(found.st_mode & 0o111)
    if os.name != "nt" and executable != entry.executable:
        return "is executable, recorded as not" if executable else "is not executable, recorded as executable"
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return None if sha256 == entry.sha256 else f"sha256 is {sha256}, recorded as {entry.sha256}"


def _extras(root: Path, recorded: dict[str, Entry]) -> Iterator[Finding]:
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(directory, name)
            relative = path.relative_to(root).as_posix()
            if relative not in recorded and relative != RECORD_NAME:
                kind = _kind(path.lstat().st_mode)
                yield Finding(path=relative, kind="extra", detail=f"a {kind} that the record does not have")


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_ISREG(mode) else "special file"
