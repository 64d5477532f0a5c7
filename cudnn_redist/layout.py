"""Every path this package uses, computed from a root and a choice: no file is looked at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = [
    "ASIDE_PATTERN",
    "LEAVING_PATTERN",
    "RECORD_NAME",
    "STAGE_PATTERN",
    "STRAY_PATTERNS",
    "Layout",
    "absolute",
    "aside_path",
    "leaving_path",
    "parted",
    "stage_path",
    "stored_archive",
]

RECORD_NAME = ".cudnn-redist.json"
STAGE_PATTERN = ".cudnn-redist-*.stage"
ASIDE_PATTERN = ".cudnn-redist-*.old"
STRAY_PATTERNS = (".turns/*", ".manifests/*/*/.*")
"""Below a root: lock files, and manifests that were being kept."""
LEAVING_PATTERN = ".cudnn-redist-*.gone"


@dataclass(frozen=True, slots=True)
class Layout:
    """A root, and where things lie below it; absolute, so that its paths outlive a change of directory."""

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", absolute(self.root))

    def prefix(self, *levels: str | None, parts: Sequence[str] = ()) -> Path:
        """Return ``<root>/<product>/<label>/<component>/<platform>[/<variant>]``; a level of ``None`` drops out.

        ``parts`` of an archive lie beside the whole: ``cuda13+dev+runtime``.
        """
        *above, last = (level for level in levels if level is not None)
        return self.root.joinpath(*above, "+".join((last, *parts)))

    def kept_manifest(self, product: str, url: str) -> Path:
        """Return where the manifest of an installed label is kept, byte for byte as it came from ``url``.

        Two sources may say different things under one label, so each has a directory of its own.
        """
        folder, _, name = url.rpartition("/")
        source = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self.kept_manifests(product) / source / name

    def kept_manifests(self, product: str) -> Path:
        """Return the directory of all manifests kept of one product, by source."""
        return self.root / ".manifests" / product

    def turn(self, sha256: str) -> Path:
        """Return the lock file of the process whose turn it is to get this archive."""
        return self.root / ".turns" / sha256

    @property
    def partials(self) -> Path:
        """Archives not yet complete."""
        return self.root / ".partial"

    @property
    def log(self) -> Path:
        """What was installed here, when, from where and by which version: one JSON object a line."""
        return self.root / ".log.jsonl"


def absolute(path: Path) -> Path:
    """Return ``path`` such that it outlives a change of directory; ``UsageError`` where it counts from none."""
    try:
        return path.absolute()
    except OSError as error:
        raise UsageError("counts from the working directory, which is gone", where=path) from error


def stage_path(target: Path, mark: str) -> Path:
    """Return a stage beside ``target``: a rename must not cross devices, so it shares the parent directory."""
    return target.with_name(f".cudnn-redist-{mark}.stage")


def aside_path(target: Path, mark: str) -> Path:
    """Return where ``target`` goes while another prefix takes its place."""
    return target.with_name(f".cudnn-redist-{mark}.old")


def leaving_path(target: Path, mark: str) -> Path:
    """Return what the record of ``target`` is called while the prefix is deleted where it stands."""
    return target / f".cudnn-redist-{mark}.gone"


def parted(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the last level of a prefix and the parts, from the name of its directory."""
    level, *parts = name.split("+")
    return level, tuple(parts)


def stored_archive(store: Path, sha256: str) -> Path:
    """Return the archive's place in a content-addressed store (``--archives``)."""
    return store / "sha256" / sha256[:2] / sha256
