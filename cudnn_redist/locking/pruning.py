"""What lies under a root and no lock names: prefixes, unfinished downloads, stages and kept manifests."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotInstalled, PrefixError
from ..layout import ASIDE_PATTERN, STAGE_PATTERN, Layout
from ..manifest.labels import label_of
from ..owners import left_behind
from ..prefix.ground import stage_places
from ..prefix.installed import Prefix, find_directories
from ..prefix.removing import remove_empty, remove_prefix, remove_tree
from ..prefix.space import disk_errors
from ..source.partial import abandoned_partials
from .in_use import FilesInUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .model import Lock

__all__ = ["Pruning", "prunable", "prune"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """What goes, and what stays although no lock names it, each with the reason."""

    prefixes: tuple[Path, ...]
    files: tuple[Path, ...]
    left: tuple[tuple[Path, str], ...]

    @property
    def removed(self) -> tuple[Path, ...]:
        """Everything that goes."""
        return (*self.prefixes, *self.files)


def prunable(layout: Layout, locks: Sequence[Lock]) -> Pruning:
    """Say what ``prune`` would remove; ``PrefixError`` where the root may not be entered.

    A prefix is named by a lock that has its archive at its place. What a running process has mapped stays, as far as
    this user may see (``/proc/*/maps`` of other users' processes tells only root), and so does what this tool did
    not make: a directory without a sound record, and a prefix to which somebody added files.
    """
    named, in_use = _Named(locks), FilesInUse.now()
    going: list[Path] = []
    left: dict[Path, str] = {}
    manifests = set(named.manifests)
    for directory in find_directories(layout):
        try:
            prefix = Prefix.open(directory)
        except (NotInstalled, PrefixError) as error:
            left[directory] = error.cause
            continue
        reason = None if named.has(prefix) else _reason_to_stay(prefix, layout, in_use)
        if not named.has(prefix) and reason is None:
            going.append(directory)
            continue
        manifests.add(prefix.record.manifest_sha256)
        if reason is not None:
            left[directory] = reason
    with disk_errors(layout.root, phase="prune"):
        files = [
            *abandoned_partials(layout.partials, but=named.archives),
            *_leftovers(layout),
            *_manifests(layout, but=manifests),
        ]
    return Pruning(prefixes=tuple(going), files=tuple(files), left=tuple(left.items()))


def prune(layout: Layout, locks: Sequence[Lock]) -> Pruning:
    """Remove what no lock names, and return what has gone and what was left; see ``prunable``.

    ``PrefixError`` where the disk or a permission refuses it.
    """
    found = prunable(layout, locks)
    gone: list[Path] = []
    left = list(found.left)
    for directory in found.prefixes:
        # Looked at once more, right before: a program may have started since.
        if user := FilesInUse.now().user_of(directory):
            left.append((directory, user))
            continue
        with disk_errors(directory, phase="prune"):
            remove_prefix(directory, root=layout.root)
        gone.append(directory)
    for path in found.files:
        with disk_errors(path, phase="prune"):
            remove_tree(path)
            remove_empty(path.parent, ground=layout.root)
    return Pruning(prefixes=tuple(gone), files=found.files, left=tuple(left))


class _Named:
    """What the locks name."""

    def __init__(self, locks: Sequence[Lock]) -> None:
        releases = [release for lock in locks for release in lock.releases]
        self._prefixes = {
            (release.product, release.label, *archive.place, archive.sha256)
            for release in releases
            for archive in release.archives
        }
        self.archives = {archive.sha256 for release in releases for archive in release.archives}
        self.manifests = {release.manifest.sha256 for release in releases}

    def has(self, prefix: Prefix) -> bool:
        """Whether a lock names this archive at this place."""
        return (*prefix.record.levels, prefix.record.archive_sha256) in self._prefixes


def _reason_to_stay(prefix: Prefix, layout: Layout, in_use: FilesInUse) -> str | None:
    root = Layout(Path(os.path.realpath(layout.root)))
    place = root.prefix(*prefix.record.levels, parts=prefix.record.parts)
    if os.path.realpath(prefix.path) != str(place):
        return "lies behind a link, or elsewhere than its record says"
    if user := in_use.user_of(prefix.path):
        return user
    if foreign := prefix.foreign_names():
        return f"holds what is not ours ({', '.join(foreign[:3])})"
    return None


def _leftovers(layout: Layout) -> Iterator[Path]:
    """Yield the stages, and the prefixes moved aside, of processes that are gone."""
    for place in dict.fromkeys(stage_places(layout)):
        for pattern in (STAGE_PATTERN, ASIDE_PATTERN):
            for path in sorted(place.glob(pattern)):
                if left_behind(path.name, touched=path.lstat().st_mtime):
                    yield path


def _manifests(layout: Layout, *, but: set[str]) -> Iterator[Path]:
    """Yield the kept manifests with other digests than those of ``but``."""
    for path in sorted(layout.kept_manifests("").glob("*/*/*.json")):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        # That of a channel is named by its digest; any other name is none of ours.
        if sha256 not in but and (label_of(path.name) is not None or path.stem == sha256):
            yield path
