"""What there is to fetch: the labels of a source, the manifest of one, and the plan of getting a part of it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .asking import ask, parse_label, plain_product
from .errors import UsageError
from .host import default_root
from .layout import Layout
from .locations import NVIDIA_ROOT, folders, local_path
from .notes import log
from .planner import make_plan
from .resolver import Resolver
from .source.base import TransferOptions
from .source.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .asking import Ask
    from .locations import Folder
    from .manifest.labels import ReleaseLabel
    from .manifest.models import Manifest
    from .planner import Plan

__all__ = ["labels", "manifest", "plan", "plan_asked"]


def labels(
    *,
    product: str = "cudnn",
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
) -> tuple[ReleaseLabel, ...]:
    """Return the labels that the first source with an index lists, oldest first; one request.

    Raises ``LabelNotFound`` when no source lists anything, ``TransferError`` when one cannot be reached.
    """
    with _resolver(product=product, sources=sources, root=root, transfer=transfer) as opened:
        return opened.labels()


def manifest(
    label: str,
    *,
    product: str = "cudnn",
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    transfer: TransferOptions | None = None,
) -> Manifest:
    """Return the manifest of a label; the arguments are those of ``plan``."""
    wanted = parse_label(label)
    with _resolver(product=product, sources=sources, root=root, transfer=transfer) as opened:
        return opened.manifest(wanted, refresh=refresh, pin=manifest_sha256).manifest


def plan(
    label: str,
    *,
    product: str = "cudnn",
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    transfer: TransferOptions | None = None,
) -> Plan:
    """Say what installing would do; nothing is written.

    ``label`` is a release (``9.27.0``), the newest of several (``9.27``, ``9``) or ``latest``. ``sources`` are HTTP
    roots, ``file:`` URLs or directories, in the order to try; NVIDIA's root without any. Where platform or CUDA are
    not given, this machine decides; ``reasons`` of the plan say how. ``refresh`` reads the manifest again though it
    is kept in ``root``; ``manifest_sha256`` is what its digest must be. Raises ``UsageError``,
    ``NotAvailableError``, ``ManifestError``, ``ManifestChanged`` or ``TransferError``.
    """
    return plan_asked(
        ask(label, product=product, component=component, platform=platform, cuda=cuda),
        sources=sources,
        root=root,
        refresh=refresh,
        manifest_sha256=manifest_sha256,
        transfer=transfer,
    )


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
    with _resolver(product=asked.product, sources=sources, root=root, transfer=transfer) as opened:
        resolved = opened.manifest(asked.label, refresh=refresh, pin=manifest_sha256)
        made = make_plan(
            resolved.manifest,
            asked.queries,
            label=resolved.label.text,
            folders=resolved.folders,
            layout=opened.layout,
            product=asked.product,
            elsewhere=opened.elsewhere(),
        )
    reasons = made.reasons
    if asked.label is not None and resolved.label != asked.label:
        reasons = (f"label {asked.label}: release {resolved.label}", *reasons)
    return replace(made, reasons=reasons, from_kept=resolved.kept, pinned=manifest_sha256 is not None)


@contextmanager
def _resolver(
    *, product: str, sources: Sequence[str], root: str | Path | None, transfer: TransferOptions | None
) -> Iterator[Resolver]:
    """Open the sources (NVIDIA's root without any) and yield who answers labels from them."""
    product = plain_product(product)
    sources = (sources,) if isinstance(sources, str) else sources
    places = [folder for source in sources or (NVIDIA_ROOT,) for folder in folders(source, product)]
    _require_directories(places)
    layout = Layout(Path(root) if root is not None else default_root())
    with Sources(transfer or TransferOptions()) as opened:
        yield Resolver(opened, places, layout, product)


def _require_directories(places: Sequence[Folder]) -> None:
    """Say that a source is no directory: a misspelt one must not read as one that lacks a release."""
    missing = [place for place in places if place.local and not os.path.isdir(local_path(place.tree))]  # noqa: PTH112 - never raises
    if len(missing) == len(places):
        raise UsageError(
            "no such directory; a source is a directory, or a URL that begins with http:// or https://",
            phase="source",
            where=local_path(missing[0].tree),
        )
    for tree in dict.fromkeys(place.tree for place in missing):
        log.warning("source: %s: no such directory; the others are tried", local_path(tree))
