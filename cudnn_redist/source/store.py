"""The content-addressed store of ``--archives``: looked into first, judged like any source, filled by downloads.

A name in it is a digest, but only a hope: what is found there is hashed at each use (C70).
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from ..layout import stored_archive
from ..notes import log
from .partial import sweep_partials

if TYPE_CHECKING:
    from pathlib import Path

    from .partial import Partial

__all__ = ["ArchiveStore"]


@dataclass(frozen=True, slots=True)
class ArchiveStore:
    """A directory of archives, perhaps shared, perhaps read-only: what cannot be kept is no failure."""

    directory: Path

    def path(self, sha256: str) -> Path:
        """Return where an archive lies."""
        return stored_archive(self.directory, sha256)

    def open(self, sha256: str) -> BinaryIO | None:
        """Open an archive; ``None`` where no file of this name can be read."""
        try:
            return self.path(sha256).open("rb", buffering=0)
        except OSError:
            return None

    def discard(self, sha256: str) -> None:
        """Remove an archive that is not what its name says."""
        with contextlib.suppress(OSError):
            self.path(sha256).unlink()

    def keep(self, partial: Partial, sha256: str) -> None:
        """Put a complete, judged archive in its place, whatever stands there."""
        path = self.path(sha256)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sweep_partials(path.parent)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            partial.store_at(path)
        except OSError as error:
            log.warning("the archive could not be kept as %s: %s", path, error.strerror)
