"""What there is to fetch: the labels of a source, the manifest of one, and the plan of getting a part of it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .asking import ask, parse_label, plain_product
from .host import default_root
from .layout import Layout
from .locations import NVIDIA_ROOT, folders
from .planner import make_plan
from .resolver import Resolver, Sources
from .source.base import TransferOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .manifest.labels import ReleaseLabel
    from .manifest.models import Manifest
    from .planner import Plan

__all__ = ["labels", "manifest", "plan"]


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
    asked = ask(label, product=product, component=component, platform=platform, cuda=cuda)
    with _resolver(product=asked.product, sources=sources, root=root, transfer=transfer) as opened:
        resolved = opened.manifest(asked.label, refresh=refresh, pin=manifest_sha256)
        return make_plan(
            resolved.manifest,
            asked.queries,
            label=resolved.label.text,
            folders=resolved.folders,
            layout=opened.layout,
            product=asked.product,
            elsewhere=opened.elsewhere(),
        )


@contextmanager
def _resolver(
    *, product: str, sources: Sequence[str], root: str | Path | None, transfer: TransferOptions | None
) -> Iterator[Resolver]:
    """Open the sources (NVIDIA's root without any) and yield who answers labels from them."""
    product = plain_product(product)
    places = [folder for source in sources or (NVIDIA_ROOT,) for folder in folders(source, product)]
    layout = Layout(Path(root) if root is not None else default_root())
    with Sources(transfer or TransferOptions()) as opened:
        yield Resolver(opened, places, layout, product)
