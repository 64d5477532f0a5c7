"""Newer releases than those of a lock: are there any, and a lock that moves to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..asking import LATEST, parse_label
from ..errors import LabelNotFound, UsageError
from ..manifest.labels import ReleaseLabel, newest
from .checking import opened_home
from .comparing import changes
from .release import described

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..resolver import Resolved, Resolver
    from ..source.base import TransferOptions
    from .comparing import Change
    from .model import Lock, LockedArchive, LockedRelease

__all__ = ["Newer", "Upgrade", "outdated", "upgraded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """What is newer than one release of a lock.

    ``matching`` is the newest label that fits what was asked, ``newest`` the newest of all; ``None`` where that is no
    newer than what is locked. An exact label fits itself alone.
    """

    release: LockedRelease
    matching: ReleaseLabel | None
    newest: ReleaseLabel | None

    def facts(self) -> dict[str, Any]:
        """Return it, ready for JSON."""
        return {
            "product": self.release.product,
            "asked": self.release.asked,
            "label": self.release.label,
            "matching": None if self.matching is None else self.matching.text,
            "newest": None if self.newest is None else self.newest.text,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """One release of a lock before and after."""

    before: LockedRelease
    after: LockedRelease

    @property
    def changes(self) -> tuple[Change, ...]:
        """How the archives changed."""
        return changes(self.before.archives, self.after.archives)

    def differences(self) -> list[str]:
        """Return a line on the release, and one on each change; none where nothing changed."""
        before, after = self.before, self.after
        if before == after:
            return []
        lines = [f"{before.name}: {change}" for change in self.changes]
        if before.label != after.label:
            return [f"{before.name}: upgraded to {after.label}", *lines]
        if before.manifest.sha256 != after.manifest.sha256:
            was, now = before.manifest.sha256, after.manifest.sha256
            return [f"{before.name}: re-issued: the manifest's sha256 was {was}, is {now}", *lines]
        return lines or [f"{before.name}: described anew"]

    def facts(self) -> dict[str, Any]:
        """Return it, ready for JSON."""
        return {
            "product": self.before.product,
            "before": self.before.label,
            "after": self.after.label,
            "changes": [change.facts() for change in self.changes],
        }


def outdated(
    lock: Lock,
    *,
    product: str | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
) -> tuple[Newer, ...]:
    """Say what is newer than each release, by the index of ``sources``, or else of where it was locked.

    Raises ``LabelNotFound`` where that lists nothing, ``TransferError`` where it cannot be read.
    """
    found = []
    for release in _of_product(lock, product):
        with opened_home(release, sources, root=root, transfer=transfer) as resolver:
            labels = resolver.labels()
        asked = parse_label(release.asked)
        exact = asked is not None and not asked.is_partial
        matching = None if exact else newest(labels, within=asked)
        found.append(
            Newer(release=release, matching=_newer(matching, release), newest=_newer(newest(labels), release))
        )
    return tuple(found)


def upgraded(
    lock: Lock,
    label: str | None = None,
    *,
    product: str | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
) -> tuple[Lock, tuple[Upgrade, ...]]:
    """Return a lock that moved to newer releases, and how each changed; the choices stay as they were.

    Every release (of ``product``) moves to the newest that fits what was asked, never to an older one. With a
    ``label``, one release of the product moves to that, be it older: the one whose numbers begin most like it. A
    label that was re-issued is locked as it is now. The errors are those of ``lock``.
    """
    moving = _of_product(lock, product)
    if label is not None:
        moving = [_nearest(moving, label)]
    upgrades = []
    for before in moving:
        asked = before.asked if label is None else label
        with opened_home(before, sources, root=root, transfer=transfer) as resolver:
            resolved = _resolved(resolver, asked, before, may_go_back=label is not None)
        after = described(
            resolved.manifest,
            product=before.product,
            asked=asked,
            label=resolved.label,
            chosen=before.chosen,
            folder=resolved.folders[0],
            channel=before.manifest.channel,
        )
        upgrades.append(Upgrade(before=before, after=_with_known_trees(before, after)))
    return lock.replacing({each.before.name: each.after for each in upgrades}), tuple(upgrades)


def _resolved(resolver: Resolver, asked: str, before: LockedRelease, *, may_go_back: bool) -> Resolved:
    found = resolver.manifest(parse_label(asked), refresh=True)
    locked = ReleaseLabel.parse(before.label)
    if may_go_back or found.label.numbers >= locked.numbers:
        return found
    return resolver.manifest(locked, refresh=True)


def _of_product(lock: Lock, product: str | None) -> list[LockedRelease]:
    held = [release for release in lock.releases if product in (None, release.product)]
    if not held:
        available = sorted({release.product for release in lock.releases})
        raise LabelNotFound(
            f"the lock has no {product}; it has {', '.join(available)}", phase="lock", available=available
        )
    return held


def _nearest(held: Sequence[LockedRelease], label: str) -> LockedRelease:
    """Return the release that ``label`` is to replace; ``UsageError`` where that is anybody's guess."""
    wanted = parse_label(label)
    numbers = wanted.numbers if wanted is not None else ()
    alike = {release.name: _common(numbers, release) for release in held}
    nearest = [release for release in held if alike[release.name] == max(alike.values())]
    if len(nearest) > 1:
        names = ", ".join(release.name for release in nearest)
        raise UsageError(
            f"{label or LATEST} may replace {names}; choose with --product, or lock anew", phase="lock"
        )
    return nearest[0]


def _common(numbers: Sequence[int], release: LockedRelease) -> int:
    count = 0
    for mine, its in zip(numbers, ReleaseLabel.parse(release.label).numbers, strict=False):
        if mine != its:
            break
        count += 1
    return count


def _newer(found: ReleaseLabel | None, release: LockedRelease) -> ReleaseLabel | None:
    locked = ReleaseLabel.parse(release.label)
    return found if found is not None and found.numbers > locked.numbers else None


def _with_known_trees(before: LockedRelease, after: LockedRelease) -> LockedRelease:
    """Keep what installed prefixes told: the same archive unpacks to the same tree."""
    trees = {archive.sha256: archive.tree for archive in before.archives}

    def kept(archive: LockedArchive) -> LockedArchive:
        return archive.model_copy(update={"tree": archive.tree or trees.get(archive.sha256)})

    return after.model_copy(update={"archives": tuple(map(kept, after.archives))})
