"""One release of a manifest, as a lock describes it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ManifestError
from ..locations import redacted
from ..manifest.selection import main_component, offers
from ..notes import log
from .model import Chosen, LockedArchive, LockedComponent, LockedManifest, LockedRelease, lockable
from .names import version_in
from .picking import pick

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..locations import Folder
    from ..manifest.labels import ReleaseLabel
    from ..manifest.models import Archive, Manifest

__all__ = ["described", "described_archives"]


def described(
    manifest: Manifest,
    *,
    product: str,
    asked: str,
    label: ReleaseLabel,
    chosen: Chosen,
    folder: Folder | None,
    channel: str | None = None,
    partly: bool = False,
) -> LockedRelease:
    """Return what a lock says of ``manifest``, which lies in ``folder`` (``None``: nobody knows where).

    The manifest of a ``channel`` has a name of its own, and is where it says that it came from.
    ``NotAvailableError`` for a part of the choice that the manifest does not have; ``partly``: only where it has
    nothing of the choice, and what it lacks is told. An archive without a sha256 cannot be locked: where it was
    chosen, or nothing else is there, that is a ``ManifestError``, else it is left out and told.
    """
    picked = pick(manifest, chosen, version=version_in(asked, label))
    for error in picked.missing:
        error.where = error.where or manifest.origin
        if not (partly and picked.archives):
            raise error
        log.warning("%s; left out", error)
    with lockable(manifest.origin):
        archives = described_archives(picked.archives, label=label, folder=folder)
    if len(archives) < len(picked.archives) or not archives:
        _tell_unverifiable(manifest, picked.archives, fatal=not archives or chosen != Chosen())
    with lockable(manifest.origin):
        return LockedRelease(
            product=product,
            asked=asked,
            label=label.text,
            chosen=chosen,
            manifest=LockedManifest(
                url=_url(manifest, label, folder, channel),
                channel=channel,
                sha256=manifest.sha256,
                size=len(manifest.data),
                date=manifest.date or None,
            ),
            components=_components(manifest),
            archives=archives,
        )


def described_archives(
    archives: Iterable[Archive], *, label: ReleaseLabel, folder: Folder | None
) -> tuple[LockedArchive, ...]:
    """Return what a lock says of ``archives``, in its order; those without a sha256 are left out."""
    found = [
        LockedArchive(
            component=archive.component,
            version=archive.version or label.text,
            platform=archive.platform,
            variant=archive.variant_name,
            relative_path=archive.relative_path,
            url=None if folder is None else redacted(folder.join(archive.relative_path)),
            sha256=archive.sha256,
            size=archive.size,
            tree=archive.tree,
        )
        for archive in archives
        if archive.sha256 is not None
    ]
    return tuple(sorted(found, key=lambda each: each.order))


def _url(manifest: Manifest, label: ReleaseLabel, folder: Folder | None, channel: str | None) -> str | None:
    if channel is not None:
        return manifest.origin
    return None if folder is None else redacted(folder.join(label.manifest_name))


def _components(manifest: Manifest) -> dict[str, LockedComponent]:
    main = main_component(manifest.components.keys(), manifest.product)
    return {
        key: LockedComponent(
            main=key == main,
            offered={str(name): names for name, names in offers(component).items()},
        )
        for key, component in manifest.components.items()
    }


def _tell_unverifiable(manifest: Manifest, archives: Sequence[Archive], *, fatal: bool) -> None:
    left = [archive.relative_path for archive in archives if archive.sha256 is None]
    if not left:
        raise ManifestError(
            "no archive in it, so there is nothing to lock", phase="lock", where=manifest.origin
        )
    cause = f"the manifest has no sha256 for {', '.join(left)}, which cannot be locked"
    if fatal:
        raise ManifestError(cause, phase="lock", where=manifest.origin)
    log.warning("%s: %s: left out", manifest.origin, cause)
