"""Archives -> their places in a mirror as ``.tar.zst``, and a manifest that says so."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from ..errors import ManifestError, UsageError
from ..prefix.space import disk_errors
from ..renames import replace
from .filling import AT_ONCE
from .repack import LEVELS, repacked
from .tree import Listed, MirrorTree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..manifest.models import Archive
    from .filling import Filling
    from .releases import Release, WantedArchive

__all__ = ["Repacking"]

_SUFFIX: Final = ".tar.zst"
_PACKED: Final = re.compile(r"\.(?:tar(?:\.[a-z0-9]{2,4})?|tgz|zip)\Z")


class Repacking:
    """Brings archives into ``tree`` as ``.tar.zst`` of a ``level`` (``UsageError`` for one that is none).

    They are brought as published by what ``filling`` makes for a tree, a few at a time, into a hidden directory of the
    mirror, which is gone when all are done. What was repacked before is left alone, whatever its level, and what is
    published as ``.tar.zst`` is brought as it is.
    """

    def __init__(self, tree: MirrorTree, filling: Callable[[MirrorTree], Filling], *, level: int) -> None:
        if level not in LEVELS:
            raise UsageError(
                f"level {level} of zstd; {LEVELS[0]} to {LEVELS[-1]} are possible", phase="mirror"
            )
        self._tree = tree
        self._originals = MirrorTree(tree.path / ".originals")
        self._filling = filling(self._originals)
        self._as_it_is = filling(tree)
        self._level = level

    def bring(self, wanted: Mapping[str, WantedArchive]) -> tuple[str, ...]:
        """Bring the archives whose own places are given; return where those went that were not there before.

        As ``Filling.bring``; also ``ArchiveError`` for an archive that cannot be unpacked, and ``ManifestError`` for
        two that would have one name.
        """
        self._require_names(wanted)
        ready = self._as_it_is.bring({place: each for place, each in wanted.items() if _is_ready(place)})
        packed = {place: each for place, each in wanted.items() if not _is_ready(place)}
        missing = [place for place, each in packed.items() if not self._is_there(place, each)]
        for start in range(0, len(missing), AT_ONCE):
            some = {place: wanted[place] for place in missing[start : start + AT_ONCE]}
            self._filling.bring(some)
            for place, each in some.items():
                with disk_errors(self._tree.path / place, phase="mirror"):
                    self._repack(place, each)
        shutil.rmtree(self._originals.path, ignore_errors=True)
        return (*ready, *map(self.place, missing))

    @staticmethod
    def place(original: str) -> str:
        """Return where an archive goes, or the path that the manifest gives it, after the one of the original."""
        return _PACKED.sub("", original) + _SUFFIX

    def manifest(self, release: Release) -> bytes:
        """Return the manifest that names the archives of ``release`` that were repacked, now or earlier.

        Each keeps what NVIDIA says of the original (``original_relative_path``, ``original_sha256``,
        ``original_size``), and has the digest of its ``tree``. The others, which are not here, stay as published.
        """
        document = json.loads(release.manifest.data.decode("utf-8-sig"))
        entries = {}
        for archive in release.manifest.archives():
            listed = self._listed(release.product, archive)
            if listed is not None:
                entries[archive.relative_path] = self._entry(archive, listed)
        renamed = _with_entries(document, entries)
        return json.dumps({**renamed, "repacked": _SUFFIX[1:]}, indent=4).encode()

    def _repack(self, place: str, wanted: WantedArchive) -> None:
        original = self._originals.path / place
        beside = self._originals.path / f"{original.name}{_SUFFIX}"
        made = repacked(original, beside, level=self._level)
        target = self.place(place)
        told = Listed(sha256=made.sha256, size=made.size, original=wanted.expected.sha256, tree=made.tree)
        self._tree.announce({target: told})
        (self._tree.path / target).parent.mkdir(parents=True, exist_ok=True)
        replace(beside, self._tree.path / target)
        self._tree.settle({target: told})
        self._originals.remove([place])

    def _is_there(self, place: str, wanted: WantedArchive) -> bool:
        target = self.place(place)
        listed = self._tree.files.get(target)
        return (
            listed is not None
            and listed.original == wanted.expected.sha256
            and self._tree.holds(target, listed)
        )

    def _listed(self, product: str, archive: Archive) -> Listed | None:
        """Return what became of an archive, if it was repacked."""
        if archive.sha256 is None or _is_ready(archive.relative_path):
            return None
        # A path that leaves the mirror was not chosen, or nothing would be here.
        with suppress(ManifestError):
            listed = self._tree.files.get(self.place(self._tree.place(product, archive.relative_path)))
            if listed is not None and listed.original == archive.sha256:
                return listed
        return None

    def _entry(self, archive: Archive, listed: Listed) -> dict[str, str | None]:
        entry = {
            "relative_path": self.place(archive.relative_path),
            "sha256": listed.sha256,
            "size": str(listed.size),
            "tree": listed.tree,
            "original_relative_path": archive.relative_path,
            "original_sha256": archive.sha256,
        }
        if archive.size is not None:
            entry["original_size"] = str(archive.size)
        return entry

    def _require_names(self, wanted: Mapping[str, WantedArchive]) -> None:
        taken: dict[str, str] = {}
        for place in wanted:
            other = taken.setdefault(self.place(place), place)
            if other != place:
                raise ManifestError(
                    f"{other} and {place} would both be {self.place(place)}",
                    phase="mirror",
                    where=self._tree.path,
                )


def _is_ready(path: str) -> bool:
    return path.endswith(_SUFFIX)


def _with_entries(node: Any, entries: Mapping[str, Mapping[str, Any]]) -> Any:  # noqa: ANN401 - JSON
    """Return a manifest's JSON with other entries for the archives of these paths; their md5 is not ours to tell."""
    if not isinstance(node, dict):
        return node
    below = {key: _with_entries(value, entries) for key, value in node.items()}
    path = node.get("relative_path")
    if not isinstance(path, str) or path not in entries:
        return below
    return {key: value for key, value in below.items() if key != "md5"} | dict(entries[path])
