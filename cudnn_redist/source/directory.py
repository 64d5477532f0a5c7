"""A directory, or a ``file:`` URL, laid out like NVIDIA's tree: read in place, never copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from ..errors import ArchiveWithdrawn, LabelNotFound, ManifestError, TransferError
from ..locations import local_path
from ..manifest.labels import ReleaseLabel, label_of
from .base import MANIFEST_LIMIT, NoIndex

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DirectorySource"]


class DirectorySource:
    """Serves ``file:`` URLs."""

    def read_labels(self, folder_url: str) -> tuple[ReleaseLabel, ...]:
        """List the manifests of a folder; ``NoIndex`` where there is no such folder."""
        folder = local_path(folder_url)
        try:
            names = [entry.name for entry in folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoIndex from error
        except OSError as error:
            raise _unreadable(folder, error, phase="label") from error
        return tuple(sorted(label for name in names if (label := label_of(name))))

    def read_manifest(self, url: str, *, fresh: bool = False) -> bytes:  # noqa: ARG002 - nothing is cached here
        """Read a manifest; see ``Source``."""
        path = local_path(url)
        try:
            with path.open("rb") as file:
                data = file.read(MANIFEST_LIMIT + 1)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise LabelNotFound("no such release label here", where=path) from error
        except OSError as error:
            raise _unreadable(path, error, phase="manifest") from error
        if len(data) > MANIFEST_LIMIT:
            raise ManifestError(f"more than {MANIFEST_LIMIT} bytes", where=path)
        return data

    def open_archive(self, url: str) -> BinaryIO:
        """Open an archive for reading; ``ArchiveWithdrawn`` where it is missing, ``TransferError`` if unreadable."""
        path = local_path(url)
        try:
            return path.open("rb", buffering=0)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ArchiveWithdrawn("promised, but not here", where=path) from error
        except OSError as error:
            raise _unreadable(path, error, phase="download") from error


def _unreadable(path: Path, error: OSError, *, phase: str) -> TransferError:
    return TransferError(f"cannot be read: {error.strerror}", phase=phase, where=path)
