"""Prefixes that are there: opened, found, and asked whether they answer a question without any manifest."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotAvailableError, NotInstalled, PrefixError
from ..layout import RECORD_NAME, Layout
from ..manifest.choosing import Choice, Query, choose
from .record import Entry, Record
from .symlinks import link_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..findings import Finding
    from ..manifest.labels import ReleaseLabel

__all__ = ["Prefix", "answer", "answer_at", "find_directories", "find_prefixes"]

# A record lies below product, label, component, platform and, mostly, variant; what begins with a dot is a stage,
# or a prefix moved aside.
_DEPTHS = (("[!.]*",) * 4, ("[!.]*",) * 5)


@dataclass(frozen=True, slots=True)
class Prefix:
    """One installed archive: where it is and what its record says."""

    path: Path
    record: Record

    @classmethod
    def open(cls, path: Path) -> Prefix:
        """Open the prefix at ``path``.

        Raises ``NotInstalled`` where there is no record (a directory alone is not an installation) and
        ``PrefixError`` where the record is damaged or cannot be read.
        """
        try:
            data = (path / RECORD_NAME).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NotInstalled("no record here, so this is not an installed prefix", where=path) from error
        except OSError as error:
            raise PrefixError(f"record unreadable: {error.strerror}", phase="record", where=path) from error
        return cls(path, Record.parse(data, origin=path / RECORD_NAME))

    @classmethod
    def whole_at(cls, path: Path) -> Prefix | None:
        """Return the prefix at ``path`` where there is one that ``looks_whole``, else ``None``."""
        with contextlib.suppress(NotInstalled, PrefixError):
            prefix = cls.open(path)
            return prefix if prefix.looks_whole() else None
        return None

    @property
    def include_dir(self) -> Path:
        """The directory of the headers."""
        return self.path / "include"

    @property
    def lib_dir(self) -> Path:
        """The directory of what a program links: ``lib``, or ``lib/x64`` and the like in a Windows archive."""
        return self._directory("lib", (".so", ".a", ".lib"))

    @property
    def bin_dir(self) -> Path | None:
        """The directory of the DLLs of a Windows archive (``bin`` or ``bin/x64``), else ``None``."""
        found = self._directory("bin", (".dll",))
        return found if found.name != "bin" or found.is_dir() else None

    def looks_whole(self) -> bool:
        """Whether every recorded name is there with its kind and size: cheap, no content is read."""
        return next(self._absent(), None) is None

    def absent_names(self) -> list[str]:
        """Return the recorded paths that are not there with their kind and size: cheap, no content is read."""
        return [entry.path for entry in self._absent()]

    def foreign_names(self) -> list[str]:
        """Return the paths of files that the record does not have, sorted."""
        known = {entry.path for entry in (*self.record.entries, *self.record.generated)} | {RECORD_NAME}
        found = (
            Path(directory, name).relative_to(self.path).as_posix()
            for directory, _, names in os.walk(self.path)
            for name in names
        )
        return sorted(name for name in found if name not in known)

    def verify(self) -> tuple[Finding, ...]:
        """Compare every file with the record, and the libraries with each other and with this machine.

        An empty tuple means that there is nothing to say; a finding may be a mere note, as its ``severity`` tells.
        """
        from .check import check

        return check(self)

    def env(self, consumer: str, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the fewest variables that make ``consumer`` find this prefix (those of ``env --for``).

        ``environment`` is what is set already, such as ``os.environ``: lists in it go on after this prefix. What may
        go wrong goes to the log. Raises ``UsageError`` for an unknown consumer, ``NotAvailableError`` where this
        prefix cannot serve it, ``VerificationFailed`` where files have gone since.
        """
        import glob

        from ..env.variables import environment_for
        from ..notes import log
        from .seen import facts_of

        found = environment_for(facts_of(self), consumer, environment or {}, look=glob.glob)
        for warning in found.warnings:
            log.warning("%s", warning)
        return found.variables

    def _absent(self) -> Iterator[Entry]:
        every = (*self.record.entries, *self.record.generated)
        return (entry for entry in every if not _stands(self.path, entry))

    def _directory(self, top: str, suffixes: tuple[str, ...]) -> Path:
        for entry in self.record.entries:
            directory, _, name = entry.path.rpartition("/")
            if directory.split("/")[0] == top and name.endswith(suffixes):
                return self.path / directory
        return self.path / top


def find_prefixes(
    layout: Layout, *, product: str | None = None, label: str | None = None, component: str | None = None
) -> Iterator[Prefix]:
    """Yield the prefixes under a root, oldest label first; directories without a sound record are passed over.

    ``PrefixError`` where the root may not be entered.
    """
    for directory in find_directories(layout, product=product, label=label, component=component):
        with contextlib.suppress(NotInstalled, PrefixError):
            yield Prefix.open(directory)


def find_directories(
    layout: Layout, *, product: str | None = None, label: str | None = None, component: str | None = None
) -> Iterator[Path]:
    """Yield the directories under a root that have a record, sound or damaged; ``PrefixError`` as above."""
    found: list[Path] = []
    for depth in _DEPTHS:
        levels = list(depth)
        for place, wanted in enumerate((product, label, component)):
            levels[place] = wanted or levels[place]
        found += (record.parent for record in _found(layout.root, "/".join((*levels, RECORD_NAME))))
    yield from sorted(found, key=lambda directory: _by_number(directory.relative_to(layout.root)))


def answer(layout: Layout, *, product: str, label: ReleaseLabel, query: Query) -> Prefix | None:
    """Return the installed prefix that ``query`` asks for, or ``None`` when only a manifest can tell.

    What the manifest offers stands in the record of any prefix of the same component, so the choice made here is
    the choice that the manifest would give; a refusal is left to the manifest, which knows more to say.
    """
    for candidate in label.candidates():
        found = find_prefixes(layout, product=product, label=candidate.text, component=query.component)
        known = next((prefix.record for prefix in found if query.component or prefix.record.is_main), None)
        if known is not None:
            choice = _choice(query, known)
            if choice is None:
                return None
            path = layout.prefix(*known.levels[:3], choice.platform, choice.variant, parts=query.parts)
            prefix = _sound(path, version=None if candidate == label else label.text)
            return prefix if prefix is not None and prefix.record.parts == query.parts else None
    return None


def answer_at(path: Path, *, product: str, label: ReleaseLabel, query: Query) -> Prefix | None:
    """Return the prefix at ``path``, a directory of the user's own, where it is what ``query`` asks for."""
    for candidate in label.candidates():
        prefix = _sound(path, version=None if candidate == label else label.text)
        if prefix is None or prefix.record.component != (query.component or prefix.record.component):
            continue
        choice = _choice(query, prefix.record)
        if choice is None or not (query.component or prefix.record.is_main):
            continue
        wanted = (product, candidate.text, prefix.record.component, choice.platform, choice.variant)
        if (prefix.record.levels, prefix.record.parts) == (wanted, query.parts):
            return prefix
    return None


def _found(root: Path, pattern: str) -> list[Path]:
    try:
        # Globbing takes a directory that may not be read for an empty one.
        with os.scandir(root):
            return list(root.glob(pattern))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise PrefixError(f"cannot be read: {error.strerror}", phase="prefix", where=root) from error


def _by_number(place: Path) -> tuple[str, list[int], Path]:
    """Order by product and label: 9.9.0 stands before 9.10.0."""
    product, label, *_ = place.parts
    return product, [int(number) for number in re.findall(r"[0-9]+", label)], place


def _choice(query: Query, record: Record) -> Choice | None:
    try:
        return choose(query, record.offered)
    except NotAvailableError:
        return None


def _sound(path: Path, *, version: str | None) -> Prefix | None:
    prefix = Prefix.whole_at(path)
    return prefix if prefix is not None and version in (None, prefix.record.version) else None


def _stands(root: Path, entry: Entry) -> bool:
    try:
        found = os.lstat(root / entry.path)
    except OSError:
        return False
    if entry.kind == "directory":
        return stat.S_ISDIR(found.st_mode)
    if entry.kind == "link" and stat.S_ISLNK(found.st_mode):
        return link_target(root / entry.path) == entry.target
    if entry.kind == "link":
        # Where links may not be made, the unpacker leaves a copy of what the link leads to (C57).
        return os.name == "nt" and stat.S_ISREG(found.st_mode)
    return stat.S_ISREG(found.st_mode) and found.st_size == entry.size
