"""A lock file and a choice -> plans, in one call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import LATEST, ask, parse_label, several
from ..host import default_root
from ..layout import Layout
from ..locations import CHANNELS_BELOW
from ..manifest.labels import ReleaseLabel
from ..opening import channel_folders, folders_of
from ..source.local import is_there
from .checking import home, require_unchanged
from .file import opened_lock, sources_beside
from .planning import plans, whole_plans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..locations import Folder
    from ..planner import Plan
    from ..source.base import TransferOptions
    from .model import Lock, LockedRelease

__all__ = ["locked_plans", "whole_locked_plans"]


def locked_plans(
    lock: str | Path | Lock,
    labels: str | Sequence[str] | None = None,
    *,
    product: str | None = None,
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    parts: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    unchanged: bool = False,
    transfer: TransferOptions | None = None,
) -> tuple[Plan, ...]:
    """Return a plan for each release of a lock (a file, or the value) that ``labels`` name, or that fits this machine.

    The lock of a bundle counts where the bundle is named as the lock; without ``sources`` it is the source too. No
    source is asked, unless the manifests must be ``unchanged``: then they are read, and one that is not the locked
    one is a ``LockMismatch``. Raises ``UsageError``, ``LockError`` (a damaged lock), ``NotAvailableError`` (the lock
    does not have it) or ``PrefixError`` (the lock may not be read).
    """
    held, origin = opened_lock(lock)
    sources = sources_beside(lock, sources)
    asked = ask(LATEST, product=product, component=component, platform=platform, cuda=cuda, parts=parts)
    made = plans(
        held,
        [parse_label(text) for text in several(labels)],
        asked.queries,
        origin=origin,
        layout=Layout(Path(root) if root is not None else default_root()),
        folders={release.name: _folders(sources, release) for release in held.releases},
        product=None if product is None else asked.product,
    )
    if not unchanged:
        return made
    releases = {(release.product, release.label): release for release in held.releases}
    found: list[Plan] = []
    for plan in made:
        release = releases[plan.product, plan.label]
        manifest = require_unchanged(release, sources=sources, root=root, transfer=transfer)
        found.append(replace(plan, manifest_data=manifest.data, manifest_origin=manifest.origin))
    return tuple(found)


def whole_locked_plans(lock: Lock, *, origin: str, sources: Sequence[str] = ()) -> tuple[Plan, ...]:
    """Return a plan for each release of ``lock`` with all that it locks, for whatever machine; no source is asked.

    Raises ``UsageError`` or ``LockError`` (a path that leaves its source).
    """
    folders = {release.name: _folders(sources, release) for release in lock.releases}
    return whole_plans(lock, origin=origin, layout=Layout(Path()), folders=folders)


def _folders(sources: Sequence[str], release: LockedRelease) -> list[Folder]:
    """Return where the archives of ``release`` may lie, as far as it can be told without a request.

    Of the two places in a source, the one that has the manifest counts alone: a directory shows it, and of the source
    that the lock was made from the lock says so.
    """
    if release.manifest.channel is not None:
        return _channel_folders(sources, release)
    name = ReleaseLabel.parse(release.label).manifest_name
    locked_in = {folder.url for folder in home(release)}
    places = folders_of(sources, release.product)
    known = {
        folder.tree: folder
        for folder in places
        if folder.url in locked_in or (folder.local and is_there(folder.join(name)))
    }
    return [folder for folder in places if known.get(folder.tree, folder) == folder]


def _channel_folders(sources: Sequence[str], release: LockedRelease) -> list[Folder]:
    """Return where content-addressed ``sources`` have the manifest: its path is the same on every server."""
    path = (release.manifest.url or "").partition(CHANNELS_BELOW)[2]
    beside = path[: path.rfind("/") + 1]
    return [
        replace(folder, url=folder.url + beside) for folder in (channel_folders(sources) if sources else ())
    ]
