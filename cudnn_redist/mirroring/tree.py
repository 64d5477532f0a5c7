"""The directory of a mirror: whose it is, what belongs into it, and how a file gets its final name.

DEST/.cudnn-redist-mirror.json           every file that was ever meant to be here, with sha256 and size
DEST/.partial/                           archives, and small files, not yet complete; empty between runs
DEST/<product>/redist/...                NVIDIA's own layout: manifests, archives, licence texts
DEST/.../index.html                      what a browser, or a fetch of a partial label, sees of each directory
"""

from __future__ import annotations

import os
import posixpath
import secrets
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ..errors import ManifestError, PrefixError, UsageError
from ..prefix.turn import my_turn
from ..renames import replace
from .listing import LIST_NAME, Listed, list_bytes, listed_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["LIST_NAME", "Listed", "MirrorTree"]

_LONGEST_TURN = 60.0


class MirrorTree:
    """A mirror at ``path``: a directory that is not there yet, is empty, or has our list in it.

    Several runs may fill one mirror at a time: each change of the list is made to what the list says by then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._changing = threading.Lock()
        self._files = self._read_list()

    @property
    def partials(self) -> Path:
        """Files not yet complete."""
        return self.path / ".partial"

    @property
    def files(self) -> Mapping[str, Listed]:
        """Every file that was meant to be here, by its path below the mirror."""
        return dict(self._files)

    def place(self, product: str, relative_path: str) -> str:
        """Return the path below the mirror that serves a manifest's path, which is a URL's and so may have escapes.

        ``ManifestError`` where that is outside of the product's folder.
        """
        place = posixpath.normpath(f"{product}/redist/{unquote(relative_path)}")
        if not place.startswith(f"{product}/") or "\\" in place or not place.isprintable():
            raise ManifestError(
                f"path {relative_path!a:.200} leaves the product's folder, so it cannot be mirrored",
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
        """List files before they are here: what a killed run leaves must be known as ours.

        A file that is listed as something else stays so until ``settle``. ``PrefixError`` where something that no
        mirror made is in the way.
        """
        with self._list_open():
            new = {place: each for place, each in files.items() if place not in self._files}
            for place in new:
                if os.path.lexists(self.path / place):
                    raise PrefixError(
                        "this is in the way, and no mirror made it", phase="mirror", where=self.path / place
                    )
            self._files |= new

    def settle(self, files: Mapping[str, Listed]) -> None:
        """List files as what they are now."""
        with self._list_open():
            self._files |= files

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
        with self._list_open():
            self._files = {place: each for place, each in self._files.items() if place not in gone}
        return gone

    def write(self, place: str, data: bytes) -> None:
        """Give a small file its final name and content in one rename; the same bytes are left alone."""
        path = self.path / place
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self.partials.mkdir(exist_ok=True)
        beside = self.partials / f"{path.name}.{secrets.token_hex(4)}.part"
        try:
            beside.write_bytes(data)
            replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)

    @contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Let one run at a time do what ``name`` says, with the list as it is by then."""
        with my_turn(self.path / ".turn" / name, longest=_LONGEST_TURN):
            self._files = self._read_list()
            yield

    @contextmanager
    def _list_open(self) -> Iterator[None]:
        """Change the list, and write it if it did change."""
        with self._changing, self.turn("list"):
            before = dict(self._files)
            yield
            if self._files != before or not (self.path / LIST_NAME).is_file():
                self.write(LIST_NAME, list_bytes(self._files))

    def _read_list(self) -> dict[str, Listed]:
        path = self.path / LIST_NAME
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            self._require_empty()
            return {}
        except NotADirectoryError as error:
            raise UsageError(
                "a file, where a mirror needs a directory", phase="mirror", where=self.path
            ) from error
        except OSError as error:
            raise PrefixError(f"cannot be read: {error.strerror}", phase="mirror", where=path) from error
        return listed_files(data, origin=path)

    def _require_empty(self) -> None:
        try:
            names = set(os.listdir(self.path))  # noqa: PTH208 - names, of a directory that may not be there
        except FileNotFoundError:
            return
        except OSError as error:
            raise PrefixError(f"cannot be read: {error.strerror}", phase="mirror", where=self.path) from error
        # A run that was killed before it had a list leaves no more than these.
        if names - {".partial", ".turn", ".originals"}:
            raise UsageError(
                "this directory is no mirror of ours, and not empty; give one that is empty or not there",
                phase="mirror",
                where=self.path,
            )
