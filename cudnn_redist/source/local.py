"""What lies on this machine: directories, and bundles, whose content is named as though they were directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from ..errors import ArchiveWithdrawn, LabelNotFound, ManifestError
from ..locations import local_path
from ..manifest.labels import ReleaseLabel, label_of
from .base import MANIFEST_LIMIT, NoIndex
from .bundle import Bundle, is_bundle
from .directory import DirectorySource

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LocalSource", "is_there", "require_source"]


class LocalSource:
    """Serves ``file:`` URLs: below a directory from its files, below a bundle from what that holds."""

    def __init__(self) -> None:
        self._directory = DirectorySource()
        self._bundles: dict[Path, Bundle] = {}

    def read_labels(self, folder_url: str) -> tuple[ReleaseLabel, ...]:
        """List the manifests of a folder; see ``Source``."""
        held = self._held(f"{folder_url}/any")
        if held is None:
            return self._directory.read_labels(folder_url)
        bundle, place = held
        folder = place.rpartition("/")[0]
        labels = tuple(sorted(label for name in bundle.names(folder) if (label := label_of(name))))
        if not labels:
            raise NoIndex
        return labels

    def read_manifest(self, url: str, *, fresh: bool = False) -> bytes:
        """Read a manifest; see ``Source``. One in a bundle must be what the bundle's index says."""
        held = self._held(url)
        if held is None:
            return self._directory.read_manifest(url, fresh=fresh)
        bundle, place = held
        if place not in bundle.files:
            raise LabelNotFound("no such release label in this bundle", where=local_path(url))
        if bundle.files[place].size > MANIFEST_LIMIT:
            raise ManifestError(f"more than {MANIFEST_LIMIT} bytes", where=local_path(url))
        return bundle.read(place)

    def open_archive(self, url: str) -> BinaryIO:
        """Open an archive for reading; ``ArchiveWithdrawn`` where it is missing, ``TransferError`` if unreadable."""
        held = self._held(url)
        if held is None:
            return self._directory.open_archive(url)
        bundle, place = held
        if place not in bundle.files:
            raise ArchiveWithdrawn("promised, but this bundle lacks it", where=local_path(url))
        return bundle.open_file(place)

    def _held(self, url: str) -> tuple[Bundle, str] | None:
        """Return the bundle that a URL leads into, and the path in it, if it leads into one."""
        path = local_path(url)
        home = _bundle_above(path)
        if home is None:
            return None
        if home not in self._bundles:
            self._bundles[home] = Bundle.open(home)
        return self._bundles[home], path.relative_to(home).as_posix()


def require_source(tree: str) -> bool:
    """Return whether the source at a ``file:`` URL is there: a directory, or a bundle, which raises if damaged."""
    path = local_path(tree)
    if os.path.isfile(path):  # noqa: PTH113 - never raises
        Bundle.open(path)
        return True
    return os.path.isdir(path)  # noqa: PTH112 - never raises


def is_there(url: str) -> bool:
    """Whether a ``file:`` URL names a file of a directory or of a bundle; a damaged bundle raises."""
    path = local_path(url)
    home = _bundle_above(path)
    if home is None:
        return os.path.isfile(path)  # noqa: PTH113 - never raises
    return path.relative_to(home).as_posix() in Bundle.open(home).files


def _bundle_above(path: Path) -> Path | None:
    """Return the bundle that stands where a directory would, if one does."""
    file = next((each for each in path.parents if os.path.isfile(each)), None)  # noqa: PTH113 - never raises
    return file if file is not None and is_bundle(file) else None
