"""A lock against its source: whether a label is still what it was, and if not, how it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import LabelNotFound, LockMismatch, ManifestChanged
from ..locations import CHANNELS_BELOW, Folder, folders
from ..manifest.labels import ReleaseLabel
from ..opening import opened
from .comparing import changes
from .model import Chosen
from .names import version_in
from .picking import pick
from .release import described_archives

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ..manifest.models import Manifest
    from ..resolver import Resolved, Resolver
    from ..source.base import TransferOptions
    from .comparing import Change
    from .model import Lock, LockedArchive, LockedRelease

__all__ = ["Checked", "check", "home", "opened_home", "require_unchanged", "unchanged"]

_EDITED = "the lock was edited: its manifest is the same, and names other archives"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One release of a lock beside what its source has.

    ``manifest_sha256`` is that of the source (``None``: it has no such label any more). ``changes`` are those of the
    locked archives, and those that appeared within what was chosen; where the manifest is the locked one, what of the
    lock is not what that manifest says.
    """

    release: LockedRelease
    manifest_sha256: str | None
    changes: tuple[Change, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the source has the very manifest that was locked, with the archives that were."""
        return self._same_manifest and not self.changes

    @property
    def _same_manifest(self) -> bool:
        return self.manifest_sha256 == self.release.manifest.sha256

    def differences(self) -> list[str]:
        """Return a line on the release, and one on each change; none where it is the same."""
        if self.same:
            return []
        name, was = self.release.name, self.release.manifest.sha256
        if self.manifest_sha256 is None:
            return [f"{name}: vanished: the source has no such label any more"]
        if self._same_manifest:
            told = f"{name}: {_EDITED}"
        else:
            told = f"{name}: re-issued: the manifest's sha256 was {was}, is {self.manifest_sha256}"
        if not self.changes:
            told += "; every archive is the same"
        return [told, *(f"{name}: {change}" for change in self.changes)]

    def facts(self) -> dict[str, Any]:
        """Return the comparison, ready for JSON."""
        return {
            "product": self.release.product,
            "label": self.release.label,
            "locked": self.release.manifest.sha256,
            "found": self.manifest_sha256,
            "changes": [change.facts() for change in self.changes],
        }


def check(
    lock: Lock,
    *,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
) -> tuple[Checked, ...]:
    """Read the manifest of every release again, from ``sources`` or else from where it was locked, and compare.

    What a kept manifest says does not count. Raises ``ManifestError``, ``TransferError`` or ``UsageError`` (a source
    that is none).
    """
    return tuple(_checked(each, sources=sources, root=root, transfer=transfer) for each in lock.releases)


def require_unchanged(
    release: LockedRelease,
    *,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
) -> Manifest:
    """Return the manifest of ``release``, read again.

    ``LockMismatch`` unless it is the very one that was locked, and names the locked archives.
    """
    with opened_home(release, sources, root=root, transfer=transfer) as resolver:
        return unchanged(resolver, release).manifest


def unchanged(resolver: Resolver, release: LockedRelease) -> Resolved:
    """Return the manifest of ``release`` from open sources, as ``require_unchanged`` does, and where it lies."""
    try:
        resolved = resolver.manifest(
            ReleaseLabel.parse(release.label), refresh=True, pin=release.manifest.sha256
        )
    except (LabelNotFound, ManifestChanged) as error:
        cause = f"{release.name} is not as locked: {error.cause}"
        raise LockMismatch(cause, where=error.where, differences=[str(error)]) from error
    if edited := _edited(release, resolved.manifest):
        differences = [f"{release.name}: {change}" for change in edited]
        cause = f"{release.name}: {_EDITED} ({edited[0]})"
        raise LockMismatch(cause, where=resolved.manifest.origin, differences=differences)
    return resolved


def opened_home(
    release: LockedRelease,
    sources: Sequence[str],
    *,
    root: str | Path | None,
    transfer: TransferOptions | None,
) -> AbstractContextManager[Resolver]:
    """Open ``sources``, or else where the manifest of ``release`` lay when it was locked, and the same channel."""
    channel, url = release.manifest.channel, release.manifest.url
    if channel is not None and url is not None and not sources:
        sources = (url.partition(CHANNELS_BELOW)[0],)
    return opened(
        release.product, sources, channel=channel, root=root, transfer=transfer, otherwise=home(release)
    )


def home(release: LockedRelease) -> tuple[Folder, ...]:
    """Return the folder in which the manifest of ``release`` lay when it was locked, if anybody knows."""
    url = release.manifest.url
    if url is None:
        return ()
    beside = f"{url.rpartition('/')[0]}/"
    if release.manifest.channel is not None:
        # Paths climb from the manifest into the pool, which is elsewhere on the same server.
        return (Folder(url=beside, tree=url.partition(CHANNELS_BELOW)[0]),)
    return folders(beside, release.product)[:1]


def _checked(
    release: LockedRelease,
    *,
    sources: Sequence[str],
    root: str | Path | None,
    transfer: TransferOptions | None,
) -> Checked:
    label = ReleaseLabel.parse(release.label)
    with opened_home(release, sources, root=root, transfer=transfer) as resolver:
        try:
            resolved = resolver.manifest(label, refresh=True)
        except LabelNotFound:
            return Checked(release=release, manifest_sha256=None)
    if resolved.label != label:
        # Another release that the label covers, or the one with a version of that name inside.
        return Checked(release=release, manifest_sha256=None)
    manifest = resolved.manifest
    same = manifest.sha256 == release.manifest.sha256
    found = _edited(release, manifest) if same else changes(release.archives, _now(release, manifest))
    return Checked(release=release, manifest_sha256=manifest.sha256, changes=found)


def _edited(release: LockedRelease, manifest: Manifest) -> tuple[Change, ...]:
    """Return what of the lock is not what its own manifest says; a choice, and a URL, may be narrower or other."""
    found = changes(release.archives, _now(release, manifest))
    return tuple(change for change in found if change.kind in ("changed", "vanished"))


def _now(release: LockedRelease, manifest: Manifest) -> tuple[LockedArchive, ...]:
    """Return what the lock would say of the archives today, as though the manifest lay where it lay then."""
    label = ReleaseLabel.parse(release.label)
    picked = pick(manifest, release.chosen, version=version_in(release.asked, label)).archives
    locked = {archive.place for archive in release.archives}
    rest = [each for each in pick(manifest, Chosen()).archives if each not in picked]
    folder = next(iter(home(release)), None)
    still = [each for each in rest if (each.component, each.platform, each.variant_name) in locked]
    return described_archives((*picked, *still), label=label, folder=folder)
