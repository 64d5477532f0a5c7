"""What is installed under a root, beside a lock or on the way into one; no source is asked."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..asking import LATEST
from ..errors import LockMismatch, NotInstalled, UsageError
from ..manifest.labels import ReleaseLabel, newest
from ..notes import log
from ..opening import folders_of
from ..prefix.installed import find_prefixes
from .kept import folder_of_archive, kept_manifest
from .model import Chosen, Lock
from .names import spelled
from .records import recorded
from .release import described

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..layout import Layout
    from ..prefix.record import Record
    from .model import LockedArchive, LockedRelease

__all__ = ["deviations", "lock_installed", "locked_archive"]

_Name = tuple[str, ReleaseLabel]


def lock_installed(
    layout: Layout,
    labels: Sequence[ReleaseLabel | None] = (),
    *,
    product: str | None = None,
    chosen: Chosen | None = None,
    sources: Sequence[str] = (),
    base: Lock | None = None,
) -> Lock:
    """Return ``base`` (or a new lock) with the tree digests of what is installed, and with what it does not have yet.

    ``labels`` choose among what is installed; without any, everything (of ``product``) counts. A release that
    ``base`` lacks is locked whole, or as ``chosen``, from the manifest that the root keeps of it; where it keeps none,
    what is installed is all that is locked. ``sources`` are not asked, and only help to tell where the manifest came
    from. Raises ``NotInstalled``, ``UsageError`` (prefixes of two manifests under one label) and ``LockMismatch``
    where an installed archive, or its tree, is not the locked one.
    """
    known = {release.name: release for release in base.releases} if base else {}
    found: dict[str, LockedRelease] = {}
    for (of_product, label), (asked, records) in _installed(layout, labels, product).items():
        name = f"{of_product} {label}"
        release = known.get(name) or _release(layout, records, asked, chosen or Chosen(), sources)
        found[name] = _with_trees(release, records)
    return Lock.of({**known, **found}.values())


def locked_archive(lock: Lock, levels: Sequence[str | None]) -> LockedArchive | None:
    """Return what ``lock`` has at a place (see ``Record.levels``), if it has anything there."""
    return next(
        (
            archive
            for release in lock.releases
            for archive in release.archives
            if (release.product, release.label, *archive.place) == tuple(levels)
        ),
        None,
    )


def deviations(archive: LockedArchive, record: Record) -> list[str]:
    """Return how what is installed differs from what is locked: by its archive, by its tree."""
    found = []
    if record.archive_sha256 != archive.sha256:
        found.append(f"archive sha256 is {record.archive_sha256}, locked as {archive.sha256}")
    if archive.tree not in (None, record.archive_tree):
        found.append(f"tree digest is {record.archive_tree}, locked as {archive.tree}")
    return found


def _installed(
    layout: Layout, labels: Sequence[ReleaseLabel | None], product: str | None
) -> dict[_Name, tuple[str, list[Record]]]:
    """Return the records of each release that is meant, and by which words it was asked for."""
    records: dict[_Name, list[Record]] = defaultdict(list)
    for prefix in find_prefixes(layout, product=product):
        if prefix.record.unproven:
            log.warning("%s was adopted and is not locked: no manifest names it", prefix.path)
            continue
        records[prefix.record.product, ReleaseLabel.parse(prefix.record.label)].append(prefix.record)
    if not records:
        raise NotInstalled(f"no prefix{f' of {product}' if product else ''} is installed", where=layout.root)
    if not labels:
        return {name: (name[1].text, of_it) for name, of_it in records.items()}
    return {
        name: (LATEST if label is None else label.text, records[name])
        for label in labels
        for name in _meant(label, records, layout)
    }


def _meant(label: ReleaseLabel | None, installed: Iterable[_Name], layout: Layout) -> list[_Name]:
    """Return the installed release of each product that ``label`` means."""
    found: list[_Name] = []
    for product in sorted({name[0] for name in installed}):
        held = [name[1] for name in installed if name[0] == product]
        exact = [each for each in (label.candidates() if label else ()) if each in held]
        covered = newest(held, within=label) if label is None or label.is_partial else None
        found += [(product, each) for each in (*exact, covered) if each is not None][:1]
    if not found:
        there = sorted({f"{product} {each}" for product, each in installed})
        cause = f"{label or LATEST} is not installed; there: {', '.join(there)}"
        raise NotInstalled(cause, where=layout.root, available=there)
    return found


def _release(
    layout: Layout, records: Sequence[Record], asked: str, chosen: Chosen, sources: Sequence[str]
) -> LockedRelease:
    """Lock a release from its kept manifest, or from what is installed alone."""
    first = records[0]
    label = ReleaseLabel.parse(first.label)
    digests = sorted({record.manifest_sha256 for record in records})
    if len(digests) > 1:
        raise UsageError(
            f"prefixes of {first.product} {label} come from {len(digests)} manifests ({', '.join(digests)}); "
            "install those of one with --force, or remove the others",
            phase="lock",
            where=layout.root,
        )
    origins = [folder_of_archive(layout, record) for record in records]
    places = [*folders_of(sources, first.product), *(origin for origin in origins if origin is not None)]
    kept = kept_manifest(layout, first.product, label, sha256=digests[0], places=places)
    if kept is None:
        log.warning("%s %s: no manifest is kept; what is installed is locked", first.product, label)
        return recorded(layout, records, asked=asked, chosen=chosen)
    manifest, folder = kept
    return described(manifest, product=first.product, asked=asked, label=label, chosen=chosen, folder=folder)


def _with_trees(release: LockedRelease, records: Sequence[Record]) -> LockedRelease:
    """Add the tree digests that the records tell; ``LockMismatch`` where one is not of the locked archive."""
    by_place: dict[tuple[str | None, ...], list[Record]] = defaultdict(list)
    for record in records:
        by_place[record.levels[2:]].append(record)
    differences: list[str] = []
    archives: list[LockedArchive] = []
    for archive in release.archives:
        # The whole and its parts: several prefixes of one archive.
        found = by_place.pop(archive.place, [])
        differences += [
            f"{release.name} {spelled(archive.place)}: {each}"
            for record in found
            for each in deviations(archive, record)
        ]
        told = found[0].archive_tree if found else archive.tree
        archives.append(archive.model_copy(update={"tree": told}))
    if differences:
        raise LockMismatch(
            f"what is installed is not as locked: {'; '.join(differences)}", differences=differences
        )
    for place in by_place:
        log.warning("%s %s: installed, but not among what is locked", release.name, spelled(place))
    return release.model_copy(update={"archives": tuple(archives)})
