"""How much room archives still need, and where: what is here already is not asked for again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .locations import is_local
from .source.partial import landed_size
from .source.store import ArchiveStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .layout import Layout
    from .planner import PlannedArchive

__all__ = ["needs"]


def needs(
    archives: Sequence[PlannedArchive], layout: Layout, *, store: Path | None
) -> list[tuple[Path, int]]:
    """Return paths, each with the bytes that ``archives`` will take there at most: an estimate.

    ``store`` is the content-addressed directory of ``--archives``. Raises ``ManifestError`` for an archive without
    sha256.
    """
    landing = sum(_still_to_land(archive, layout, store) for archive in archives)
    prefixes = [(archive.prefix.parent, archive.unpacked_estimate) for archive in archives]
    return [(layout.partials, landing), *prefixes]


def _still_to_land(archive: PlannedArchive, layout: Layout, store: Path | None) -> int:
    """Return the bytes of an archive that are not on this machine yet."""
    sha256 = archive.expected.sha256
    stored = store is not None and os.path.isfile(ArchiveStore(store).path(sha256))  # noqa: PTH113 - never raises
    if stored or is_local(archive.urls[0]):
        return 0
    return max((archive.size or 0) - landed_size(layout.partials, sha256), 0)
