"""Labels and sources -> a lock: one manifest each, and no archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..asking import parse_label, plain_component, plain_product, several
from ..errors import UsageError
from ..manifest.targets import CudaVariant, parse_platform
from ..opening import opened
from .model import Chosen, Lock, LockedRelease
from .release import described

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..source.base import TransferOptions

__all__ = ["choice", "lock"]


def lock(
    labels: str | Sequence[str],
    *,
    product: str | None = None,
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    channel: str | None = None,
    root: str | Path | None = None,
    refresh: bool = False,
    transfer: TransferOptions | None = None,
) -> Lock:
    """Return a lock of releases, each with all that was chosen of it (everything without a choice).

    ``labels`` may be partial (``9.27``) or ``latest``; the release that is found goes into the lock beside what was
    asked. One small request a label, one more for a partial one; the manifest kept of an installed label is used
    unless ``refresh``. The other arguments are those of ``plan``, but nothing depends on this machine. Raises
    ``UsageError``, ``NotAvailableError`` (also for a part of the choice that a release does not have),
    ``ManifestError`` (also for a chosen archive without a sha256) or ``TransferError``.
    """
    chosen = choice(component=component, platform=platform, cuda=cuda)
    wanted = {text: parse_label(text) for text in several(labels)}
    if not wanted:
        raise UsageError("no label to lock")
    releases: dict[str, LockedRelease] = {}
    product = plain_product(product)
    with opened(product, sources, channel=channel, root=root, transfer=transfer) as resolver:
        for asked, label in wanted.items():
            resolved = resolver.manifest(label, refresh=refresh)
            if same := releases.get(resolved.label.text):
                raise UsageError(f"{same.asked} and {asked} are both release {same.label}; ask for it once")
            releases[resolved.label.text] = described(
                resolved.manifest,
                product=product,
                asked=asked,
                label=resolved.label,
                chosen=chosen,
                folder=resolved.folders[0],
                channel=channel,
            )
    return Lock.of(releases.values())


def choice(*, component: object = None, platform: object = None, cuda: object = None) -> Chosen:
    """Return what was chosen in the one spelling that a lock has; ``UsageError`` for a word that makes no sense."""
    platforms = {text: parse_platform(text) for text in several(platform)}
    return Chosen(
        component=tuple(sorted({plain_component(name) for name in several(component)})),
        # linux/arm64 may mean two platforms: it stays as it is, since a later release may have one of them alone.
        platform=tuple(sorted({text if len(each) > 1 else each[0] for text, each in platforms.items()})),
        cuda=tuple(each.version for each in sorted({CudaVariant.asked(text) for text in several(cuda)})),
    )
