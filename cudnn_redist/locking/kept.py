"""What the root remembers of an installed label: its manifest, and the folder it came from."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import ManifestError, UsageError
from ..locations import NVIDIA_ROOT, folders, redacted
from ..prefix.keeping import kept_manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..layout import Layout
    from ..locations import Folder
    from ..manifest.labels import ReleaseLabel
    from ..manifest.models import Manifest
    from ..prefix.record import Record

__all__ = ["folder_of_archive", "kept_manifest"]


def kept_manifest(
    layout: Layout, product: str, label: ReleaseLabel, *, sha256: str, places: Sequence[Folder]
) -> tuple[Manifest, Folder | None] | None:
    """Return the kept manifest with that digest, and which of ``places`` (or NVIDIA's) it came from, if one fits."""
    for path, manifest in kept_manifests(layout, product, label):
        if manifest.sha256 == sha256:
            return manifest, _home(layout, product, label, path, places)
    return None


def folder_of_archive(layout: Layout, record: Record) -> Folder | None:
    """Return the folder that the log of the root says the archive of ``record`` came from, if it says so."""
    for origin in _origins(layout, record.archive_sha256):
        # As many levels up as the path goes down; what the path is joined to, and not how, decides.
        above = origin.rsplit("/", record.archive_path.count("/") + 1)[0]
        with suppress(UsageError, ManifestError):
            folder = folders(f"{above}/", record.product)[0]
            if redacted(folder.join(record.archive_path)) == origin:
                return folder
    return None


def _home(
    layout: Layout, product: str, label: ReleaseLabel, path: Path, places: Sequence[Folder]
) -> Folder | None:
    """Return the folder for which the root would keep a manifest at ``path``: the path is made of it."""
    for folder in (*places, *folders(NVIDIA_ROOT, product)):
        if layout.kept_manifest(product, redacted(folder.join(label.manifest_name))) == path:
            return folder
    return None


def _origins(layout: Layout, sha256: str) -> Iterator[str]:
    """Yield the URLs that an archive was installed from, the latest first."""
    try:
        lines = layout.log.read_bytes().splitlines()
    except OSError:
        return
    for line in reversed(lines):
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if isinstance(note, dict) and note.get("archive") == sha256 and isinstance(note.get("from"), str):
            yield note["from"]
