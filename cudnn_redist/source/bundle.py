"""A bundle: one file that stands for a directory laid out like NVIDIA's, for machines that see no network.

It is an uncompressed tar (POSIX.1-2017, pax), so that any ``tar`` lists and unpacks it. The first member is its
index, ``.cudnn-redist-bundle.json``:

    {"files": {PATH: {"offset": BYTES, "sha256": HEX, "size": BYTES}, ...}, "schema": 1}

``offset`` counts from the end of the index member, padding included, to the first byte of the file's content. So one
read at the beginning tells where everything is, and no later one has to walk the headers. Two blocks of zeros end the
file, and nothing follows them: a bundle that was cut, anywhere, is not as long as its index says.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from ..errors import ArchiveError, DigestMismatch, ManifestError, TransferError, UsageError
from ..manifest.reading import read_object
from .window import Window

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["INDEX_NAME", "LOCK_NAME", "SCHEMA", "Bundle", "Stored", "is_bundle", "padded"]

INDEX_NAME: Final = ".cudnn-redist-bundle.json"
LOCK_NAME: Final = "cudnn-redist.lock"
SCHEMA: Final = 1
"""Raised when an older version could no longer read what this one writes."""

_BLOCK: Final = tarfile.BLOCKSIZE
_LARGEST_INDEX: Final = 64 * 2**20
_LARGEST_TEXT: Final = 64 * 2**20
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One file of a bundle; ``offset`` counts as in the index, ``size`` is in bytes."""

    offset: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle at ``path``: what it holds, by path, and where its content begins."""

    path: Path
    files: Mapping[str, Stored]
    base: int

    @classmethod
    def open(cls, path: Path) -> Bundle:
        """Read the index of the bundle at ``path``.

        Raises ``UsageError`` where there is no bundle, ``TransferError`` where it cannot be read, and
        ``ArchiveError`` where it is cut short, damaged or of another schema.
        """
        try:
            with path.open("rb") as file:
                size = _index_size(file.read(_BLOCK), path)
                data = file.read(size)
                length = file.seek(0, 2)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise _no_bundle(path) from error
        except OSError as error:
            raise _unreadable(path, error) from error
        if len(data) < size:
            raise _cut_short(path, length, _BLOCK + size)
        bundle = cls(path, _files(data, path), _BLOCK + padded(size))
        _require_length(bundle, length)
        return bundle

    def names(self, folder: str) -> list[str]:
        """Return the names of the files that lie directly in ``folder``."""
        return [path.rpartition("/")[2] for path in self.files if path.rpartition("/")[0] == folder]

    def open_file(self, place: str) -> BinaryIO:
        """Open one of the files where it lies; ``KeyError`` where there is none, ``TransferError`` if unreadable."""
        stored = self.files[place]
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        return cast("BinaryIO", Window(file, start=self.base + stored.offset, size=stored.size))

    def read(self, place: str) -> bytes:
        """Return a small file; ``DigestMismatch`` where it is not what the index says, else as ``open_file``."""
        where = self.path / place
        if self.files[place].size > _LARGEST_TEXT:
            raise ArchiveError(f"more than {_LARGEST_TEXT} bytes", phase="bundle", where=where)
        try:
            with self.open_file(place) as file:
                data = file.read()
        except OSError as error:
            raise _unreadable(self.path, error) from error
        found, expected = hashlib.sha256(data).hexdigest(), self.files[place].sha256
        if found != expected:
            cause = f"sha256 is {found}, the bundle's index says {expected}"
            raise DigestMismatch(cause, phase="bundle", where=where, expected=expected, actual=found)
        return data


def is_bundle(path: Path) -> bool:
    """Whether a file begins as a bundle does; what cannot be read does not."""
    try:
        with path.open("rb") as file:
            _index_size(file.read(_BLOCK), path)
    except (OSError, ValueError, UsageError, ArchiveError):
        return False
    return True


def padded(size: int) -> int:
    """Return how many bytes a tar takes for content of ``size`` bytes."""
    return -(-size // _BLOCK) * _BLOCK


def _index_size(block: bytes, path: Path) -> int:
    try:
        header = tarfile.TarInfo.frombuf(block, "ascii", "strict")
    except (tarfile.HeaderError, ValueError) as error:
        raise _no_bundle(path) from error
    if header.name != INDEX_NAME or not header.isreg():
        raise _no_bundle(path)
    if not 0 <= header.size <= _LARGEST_INDEX:
        raise _damaged(path, f"an index of {header.size} bytes")
    return header.size


def _files(data: bytes, path: Path) -> dict[str, Stored]:
    try:
        index = read_object(data, origin=str(path), what="bundle's index", limit=_LARGEST_INDEX)
    except ManifestError as error:
        raise _damaged(path, f"its index: {error.cause}") from error
    if index.get("schema") != SCHEMA:
        told = f"a bundle of schema {index.get('schema')!r:.60}; this version reads schema {SCHEMA}"
        raise ArchiveError(told, phase="bundle", where=path)
    files = index.get("files")
    if not isinstance(files, dict) or not files:
        raise _damaged(path, "its index names no file")
    return {place: _stored(place, entry, path) for place, entry in files.items()}


def _stored(place: str, entry: Any, path: Path) -> Stored:  # noqa: ANN401 - JSON
    safe = not any(part in ("", ".", "..") for part in place.split("/"))
    if not safe or not isinstance(entry, dict):
        raise _damaged(path, f"its index speaks of {place!r:.80}")
    numbers = [entry.get("offset"), entry.get("size")]
    sha256 = entry.get("sha256")
    if any(type(number) is not int or number < 0 for number in numbers) or not (
        isinstance(sha256, str) and _SHA256.fullmatch(sha256)
    ):
        raise _damaged(path, f"its index says of {place!r:.80}: {entry!r:.120}")
    return Stored(offset=entry["offset"], size=entry["size"], sha256=sha256)


def _require_length(bundle: Bundle, length: int) -> None:
    end = max(stored.offset + padded(stored.size) for stored in bundle.files.values())
    expected = bundle.base + end + 2 * _BLOCK
    if length < expected:
        raise _cut_short(bundle.path, length, expected)
    if length > expected:
        raise _damaged(bundle.path, f"{length} bytes, where its index speaks of {expected}")


def _no_bundle(path: Path) -> UsageError:
    return UsageError(
        "no bundle of ours; a source is a bundle, a directory, or a URL that begins with http:// or https://",
        phase="source",
        where=path,
    )


def _cut_short(path: Path, length: int, expected: int) -> ArchiveError:
    return _damaged(path, f"cut short: {length} bytes of {expected}")


def _damaged(path: Path, cause: str) -> ArchiveError:
    return ArchiveError(f"the bundle is damaged: {cause}", phase="bundle", where=path)


def _unreadable(path: Path, error: OSError) -> TransferError:
    return TransferError(f"cannot be read: {error.strerror}", phase="bundle", where=path)
