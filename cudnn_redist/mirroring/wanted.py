"""Labels, or a lock, and a choice -> the releases to pass on, each with the open sources that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..asking import plain_product, several
from ..errors import LabelNotFound, UsageError
from ..locking.checking import opened_home, unchanged
from ..locking.file import opened_lock, sources_beside
from ..locking.making import choice
from ..locking.model import Chosen
from ..locking.picking import pick
from ..opening import opened
from .releases import Release, releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..locking.model import Lock, LockedRelease
    from ..manifest.models import Manifest
    from ..source.base import TransferOptions
    from ..source.sources import Sources

__all__ = ["wanted_releases"]


def wanted_releases(
    labels: str | Sequence[str] | None,
    *,
    lock: str | Path | Lock | None,
    product: str | None,
    component: str | Sequence[str] | None,
    platform: str | Sequence[str] | None,
    cuda: str | Sequence[str] | None,
    sources: Sequence[str],
    root: str | Path | None,
    transfer: TransferOptions | None,
) -> Iterator[tuple[Release, Sources]]:
    """Yield what ``bundle`` packs; the sources are open until the next is asked for. Raises as ``bundle`` does."""
    names = several(labels)
    chosen = choice(component=component, platform=platform, cuda=cuda)
    if lock is None:
        if not names:
            raise UsageError("a label is needed, or a lock")
        product = plain_product(product)
        with opened(product, sources, root=root, transfer=transfer) as resolver:
            for release in releases(resolver, names, product=product, chosen=chosen):
                yield release, resolver.sources
        return
    sources = sources_beside(lock, sources)
    for locked in _named(*opened_lock(lock), labels=names, product=product):
        with opened_home(locked, sources, root=root, transfer=transfer) as resolver:
            resolved = unchanged(resolver, locked)
            yield (
                Release(
                    product=locked.product,
                    manifest=resolved.manifest,
                    locked=_narrowed(locked, resolved.manifest, chosen),
                    folders=resolved.folders,
                ),
                resolver.sources,
            )


def _named(lock: Lock, origin: str, *, labels: Sequence[str], product: str | None) -> Sequence[LockedRelease]:
    """Return the releases of a lock that labels, as asked or as found, and a product name."""
    held = [release for release in lock.releases if product in (None, release.product)]
    found = {
        label: [release for release in held if label in (release.asked, release.label)] for label in labels
    }
    absent = [label for label, releases in found.items() if not releases]
    if absent or not held:
        has = [release.name for release in lock.releases]
        cause = f"the lock has no {', '.join(absent) or product}; it has {', '.join(has)}"
        raise LabelNotFound(cause, phase="lock", where=origin, available=has)
    chosen = [release for releases in found.values() for release in releases]
    return list({release.name: release for release in chosen}.values()) if labels else held


def _narrowed(locked: LockedRelease, manifest: Manifest, chosen: Chosen) -> LockedRelease:
    """Return a locked release with what was chosen of it alone; ``NotAvailableError`` where nothing is."""
    if chosen == Chosen():
        return locked
    picked = pick(manifest, chosen)
    for error in picked.missing:
        error.where = error.where or manifest.origin
        raise error
    places = {(each.component, each.platform, each.variant_name) for each in picked.archives}
    archives = tuple(archive for archive in locked.archives if archive.place in places)
    if not archives:
        raise LabelNotFound(f"the lock has nothing of {locked.name} for this choice", phase="lock")
    return locked.model_copy(update={"archives": archives})
