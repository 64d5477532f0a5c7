"""The directory of a mirror: whose it is, what belongs into it, and how a file gets its final name.

DEST/.cudnn-redist-mirror.json           every file that was ever meant to be here, with sha256 and size
DEST/.partial/                           archives not yet complete
DEST/<product>/redist/...                NVIDIA's own layout: manifests, archives, licence texts
DEST/<product>/redist/index.html         what a browser, or a fetch of a partial label, sees
"""

from __future__ import annotations

import json
import os
import posixpath
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ManifestError, PrefixError, UsageError
from ..renames import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["LIST_NAME", "Listed", "MirrorTree"]

LIST_NAME = ".cudnn-redist-mirror.json"
_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a file of the mirror must be; ``size`` in bytes, ``None`` where no manifest tells.

    Of a repacked archive, ``original`` is the sha256 of the one that it was, and ``tree`` the digest of what is in it.
    """

    sha256: str
    size: int | None
    original: str | None = None
    tree: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields that say something."""
        optional = {"original": self.original, "tree": self.tree}
        told = {name: value for name, value in optional.items() if value is not None}
        return {"sha256": self.sha256, "size": self.size, **told}


class MirrorTree:
    """A mirror at ``path``: a directory that is not there yet, is empty, or has our list in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listing = threading.Lock()
        self._files = self._read_list()

    @property
    def partials(self) -> Path:
        """Archives not yet complete."""
        return self.path / ".partial"

    @property
    def files(self) -> Mapping[str, Listed]:
        """Every file that was meant to be here, by its path below the mirror."""
        return dict(self._files)

    def place(self, product: str, relative_path: str) -> str:
        """Return where a manifest's path leads to below the mirror; ``ManifestError`` where that is outside of it."""
        home = f"{product}/redist/"
        place = posixpath.normpath(home + relative_path)
        if place.startswith(("../", "/")) or place.split("/")[0] != product or "\\" in place:
            raise ManifestError(
                f"path {relative_path!r:.200} leaves the product's folder, so it cannot be mirrored",
                phase="mirror",
                where=self.path,
            )
        return place

    def holds(self, place: str, wanted: Listed) -> bool:
        """Whether a file was put here as ``wanted`` and still has its size."""
        if self._files.get(place) != wanted:
            return False
        try:
            size = (self.path / place).stat().st_size
        except OSError:
            return False
        return wanted.size in (None, size)

    def announce(self, files: Mapping[str, Listed]) -> None:
        """List files before they are here: what a killed run leaves must be known as ours."""
        with self._listing:
            self._files |= files
            self._write_list()

    def remove(self, places: Iterable[str]) -> tuple[str, ...]:
        """Remove files that are in the list, and the directories that this empties; return their places."""
        gone = tuple(place for place in places if place in self._files)
        for place in gone:
            (self.path / place).unlink(missing_ok=True)
            for parent in (self.path / place).parents:
                if parent == self.path:
                    break
                # Only empty directories go.
                with suppress(OSError):
                    parent.rmdir()
        with self._listing:
            for place in gone:
                del self._files[place]
            self._write_list()
        return gone

    def write(self, place: str, data: bytes) -> None:
        """Give a small file its final name and content in one rename; the same bytes are left alone."""
        path = self.path / place
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            beside.write_bytes(data)
            replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)

    def _read_list(self) -> dict[str, Listed]:
        path = self.path / LIST_NAME
        try:
            raw = json.loads(path.read_bytes())
        except FileNotFoundError:
            self._require_empty()
            return {}
        except NotADirectoryError as error:
            raise UsageError(
                "a file, where a mirror needs a directory", phase="mirror", where=self.path
            ) from error
        except OSError as error:
            raise PrefixError(f"cannot be read: {error.strerror}", phase="mirror", where=path) from error
        except ValueError as error:
            raise _damaged(path) from error
        return _listed(raw, path)

    def _require_empty(self) -> None:
        try:
            names = os.listdir(self.path)  # noqa: PTH208 - of a directory that may be of any size, only whether it is empty
        except FileNotFoundError:
            return
        except OSError as error:
            raise PrefixError(f"cannot be read: {error.strerror}", phase="mirror", where=self.path) from error
        if names:
            raise UsageError(
                "this directory is no mirror of ours, and not empty; give one that is empty or not there",
                phase="mirror",
                where=self.path,
            )

    def _write_list(self) -> None:
        files = {place: each.as_json() for place, each in sorted(self._files.items())}
        self.path.mkdir(parents=True, exist_ok=True)
        self.write(LIST_NAME, json.dumps({"schema": _SCHEMA, "files": files}, indent=2).encode() + b"\n")


def _listed(raw: Any, path: Path) -> dict[str, Listed]:  # noqa: ANN401 - JSON
    if not isinstance(raw, dict) or not isinstance(raw.get("files"), dict):
        raise _damaged(path)
    if raw.get("schema") != _SCHEMA:
        raise UsageError(
            f"a mirror of schema {raw.get('schema')!r:.20}, this version writes {_SCHEMA}",
            phase="mirror",
            where=path,
        )
    files = {}
    for place, entry in raw["files"].items():
        safe = not place.startswith("/") and ".." not in place.split("/") and place != ""
        if not (safe and isinstance(entry, dict) and isinstance(entry.get("sha256"), str)):
            raise _damaged(path)
        size = entry.get("size")
        if size is not None and not isinstance(size, int):
            raise _damaged(path)
        texts = {name: entry.get(name) for name in ("original", "tree")}
        if not all(text is None or isinstance(text, str) for text in texts.values()):
            raise _damaged(path)
        files[place] = Listed(sha256=entry["sha256"], size=size, **texts)
    return files


def _damaged(path: Path) -> PrefixError:
    return PrefixError(
        "the list of the mirror's files is damaged; remove it only if all files below may be fetched again",
        phase="mirror",
        where=path,
    )
