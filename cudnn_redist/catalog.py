"""What there is to fetch: the labels of a source, the manifest of one, and the plan of getting a part of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .asking import Choices, ask, parse_label
from .channel import channels_of
from .errors import UsageError
from .opening import channel_folders, opened
from .planner import make_plan
from .source.base import TransferOptions
from .source.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .asking import Ask
    from .locking.model import Lock
    from .manifest.labels import ReleaseLabel
    from .manifest.models import Manifest
    from .planner import Plan

__all__ = ["channels", "labels", "manifest", "plan", "plan_asked"]


def labels(
    *,
    product: str = "cudnn",
    sources: Sequence[str] = (),
    channel: str | None = None,
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
) -> tuple[ReleaseLabel, ...]:
    """Return the labels that the first source with an index lists, or those of a ``channel``, oldest first.

    One request. Raises ``LabelNotFound`` when no source lists anything, ``ChannelNotFound`` when none has the
    channel, ``TransferError`` when one cannot be reached.
    """
    with opened(product, sources, channel=channel, root=root, transfer=transfer) as resolver:
        return resolver.labels()


def channels(
    *, sources: Sequence[str] = (), transfer: TransferOptions | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the channels of the first content-addressed source, each with its products; NVIDIA's without a source.

    Raises ``ChannelNotFound`` when no source has channels, ``TransferError`` when one cannot be reached.
    """
    with Sources(transfer or TransferOptions()) as connected:
        return channels_of(connected, channel_folders(sources))


def manifest(
    label: str,
    *,
    product: str = "cudnn",
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    channel: str | None = None,
    transfer: TransferOptions | None = None,
) -> Manifest:
    """Return the manifest of a label; the arguments are those of ``plan``, and so are the errors."""
    wanted = parse_label(label)
    with opened(product, sources, channel=channel, root=root, transfer=transfer) as resolver:
        return resolver.manifest(wanted, refresh=refresh, pin=manifest_sha256).manifest


def plan(
    label: str | None = None,
    *,
    product: str | None = None,
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    parts: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    channel: str | None = None,
    root: str | Path | None = None,
    lock: str | Path | Lock | None = None,
    locked: bool = False,
    offline: bool = False,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    transfer: TransferOptions | None = None,
) -> Plan:
    """Say what installing would do; nothing is written.

    ``label`` is a release (``9.27.0``), the newest of several (``9.27``, ``9``) or ``latest``; the ``product`` is
    cudnn without another. ``sources`` are HTTP roots, ``file:`` URLs, directories or bundles, in the order to try;
    NVIDIA's root without any. ``parts`` (runtime, dev, headers, static) of an archive make a prefix of their own, and
    the whole is downloaded all the same. With a ``channel`` they are content-addressed servers of NVIDIA's newer
    shape. Where platform or CUDA are not given, this machine decides; ``reasons`` of the plan say how. ``refresh``
    reads the manifest again though it is kept in ``root``; ``manifest_sha256`` is what its digest must be. Raises
    ``UsageError``, ``NotAvailableError``, ``ManifestError``, ``ManifestChanged`` or ``TransferError``.

    With ``lock`` (a file, or a ``Lock``) no manifest is read: the lock says what there is, ``label`` chooses among
    its releases where there are several, and ``sources`` are only where archives come from. ``locked`` reads the
    manifest after all, and raises ``LockMismatch`` where it is not the locked one. A damaged lock is a ``LockError``.
    ``offline`` asks no server; what only one could tell is an ``OfflineError``.
    """
    if offline:
        transfer = replace(transfer or TransferOptions(), offline=True)
    choices = Choices(product=product, component=component, platform=platform, cuda=cuda, parts=parts)
    if lock is not None:
        from .locking.locked import locked_plans

        if refresh or manifest_sha256 is not None or channel is not None:
            raise UsageError(
                "a lock says which manifest counts: refresh, manifest_sha256 and channel have no place beside it"
            )
        made = locked_plans(
            lock, label, **choices, sources=sources, root=root, unchanged=locked, transfer=transfer
        )
        return _only_plan(made)
    if label is None or locked:
        raise UsageError("a label is needed, or a lock" if label is None else "locked needs a lock")
    asked = ask(label, **choices, channel=channel)
    return plan_asked(
        asked, sources=sources, root=root, refresh=refresh, manifest_sha256=manifest_sha256, transfer=transfer
    )


def _only_plan(plans: Sequence[Plan]) -> Plan:
    if len(plans) > 1:
        names = ", ".join(f"{each.product} {each.label}" for each in plans)
        raise UsageError(f"the lock has {names}; a label or a product chooses one", phase="lock")
    return plans[0]


def plan_asked(
    asked: Ask,
    *,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    transfer: TransferOptions | None = None,
) -> Plan:
    """As ``plan``, of a question that was put together already: the host is asked but once."""
    with opened(asked.product, sources, channel=asked.channel, root=root, transfer=transfer) as resolver:
        resolved = resolver.manifest(asked.label, refresh=refresh, pin=manifest_sha256)
        made = make_plan(
            resolved.manifest,
            asked.queries,
            label=resolved.label.text,
            folders=resolved.folders,
            layout=resolver.layout,
            product=asked.product,
            elsewhere=resolver.elsewhere(),
        )
    reasons = made.reasons
    # What a partial label stands for was told as it was found.
    if asked.label is not None and resolved.label != asked.label and not asked.label.is_partial:
        reasons = (f"label {asked.label}: release {resolved.label}", *reasons)
    return replace(made, reasons=reasons, from_kept=resolved.kept, pinned=manifest_sha256 is not None)
