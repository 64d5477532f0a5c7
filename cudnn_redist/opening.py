"""The user's sources, opened for one product."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .asking import plain_product, several
from .channel import ChannelResolver
from .errors import UsageError
from .host import default_root
from .layout import Layout
from .locations import NVIDIA_CHANNELS, NVIDIA_ROOT, channel_folder, folders, local_path
from .notes import log
from .resolver import Resolver
from .source.base import TransferOptions
from .source.local import require_source
from .source.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .locations import Folder

__all__ = ["channel_folders", "folders_of", "opened"]


@contextmanager
def opened(
    product: str,
    sources: Sequence[str] = (),
    *,
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
    otherwise: Sequence[Folder] = (),
    channel: str | None = None,
) -> Iterator[Resolver]:
    """Open the sources and yield what resolves labels by them, or by a ``channel`` of theirs.

    Without ``sources`` those of ``otherwise`` are meant, and without these NVIDIA's root, or NVIDIA's server of
    channels. Raises ``UsageError`` for a source that is none.
    """
    product = plain_product(product)
    if channel is not None:
        places = channel_folders(sources, product)
    else:
        places = folders_of(sources, product) or tuple(otherwise) or folders(NVIDIA_ROOT, product)
    _require_directories(places)
    layout = Layout(Path(root) if root is not None else default_root())
    with Sources(transfer or TransferOptions()) as connected:
        if channel is not None:
            yield ChannelResolver(connected, places, layout, product, channel)
        else:
            yield Resolver(connected, places, layout, product)


def folders_of(sources: Sequence[str], product: str) -> tuple[Folder, ...]:
    """Return the places where ``sources``, in their order, may hold ``product``; ``UsageError`` as ``opened``."""
    return tuple(folder for source in several(sources) for folder in folders(source, product))


def channel_folders(sources: Sequence[str], product: str = "") -> tuple[Folder, ...]:
    """Return where ``sources``, or NVIDIA's server without any, list their channels, or a ``product``'s releases."""
    return tuple(channel_folder(source, product) for source in several(sources) or (NVIDIA_CHANNELS,))


def _require_directories(places: Sequence[Folder]) -> None:
    """Say that a source is neither directory nor bundle: a misspelt one must not read as one that lacks a release."""
    missing = [place for place in places if place.local and not require_source(place.tree)]
    if len(missing) == len(places):
        raise UsageError(
            "no such directory; a source is a directory, a bundle, or a URL that begins with http:// or https://",
            phase="source",
            where=local_path(missing[0].tree),
        )
    for tree in dict.fromkeys(place.tree for place in missing):
        log.warning("source: %s: no such directory or bundle; the others are tried", local_path(tree))
