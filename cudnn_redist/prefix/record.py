"""What is in a prefix: the JSON file that makes a directory an installation. Pure.

The record depends on archive and manifest alone, so that two installs from two mirrors are the same bytes; where
and when an install happened goes to the log of the root. A plain dataclass: a fetch that finds everything in place
reads this file and nothing else, and must not pay for importing a validation library.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import PrefixError
from ..manifest.targets import Platform

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..manifest.choosing import Offers

__all__ = ["SCHEMA", "Entry", "Record", "tree_digest"]

SCHEMA = 1

EntryKind = Literal["file", "directory", "link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing in a prefix: ``size`` in bytes and ``sha256`` for files, ``target`` for links."""

    path: str
    kind: EntryKind
    size: int = 0
    executable: bool = False
    sha256: str | None = None
    target: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields that say something."""
        return {name: value for name, value in asdict(self).items() if value not in (None, False)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The contents of a prefix and where they came from.

    ``variant`` is ``None`` for an archive without one. ``offered`` is what the manifest had of this component
    (platform -> variants): it lets a later question about the same label be answered without the manifest.
    ``entries`` came out of the archive; ``generated`` were added by this tool.
    """

    product: str
    label: str
    component: str
    version: str
    platform: str
    variant: str | None
    archive_path: str
    archive_sha256: str
    archive_size: int
    manifest_sha256: str
    offered: Offers
    entries: tuple[Entry, ...]
    generated: tuple[Entry, ...] = ()

    @property
    def tree(self) -> str:
        """The digest of everything the archive held."""
        return tree_digest(self.entries)

    def as_json(self) -> dict[str, Any]:
        """Return the record as the JSON object that is written into the prefix."""
        return {
            "schema": SCHEMA,
            "product": self.product,
            "label": self.label,
            "component": self.component,
            "version": self.version,
            "platform": self.platform,
            "variant": self.variant,
            "archive": {
                "path": self.archive_path,
                "sha256": self.archive_sha256,
                "size": self.archive_size,
            },
            "manifest": {"sha256": self.manifest_sha256},
            "offered": {platform: list(names) for platform, names in sorted(self.offered.items())},
            "tree": self.tree,
            "files": [entry.as_json() for entry in self.entries],
            "generated": [entry.as_json() for entry in self.generated],
        }

    def to_bytes(self) -> bytes:
        """Return the file's bytes; the same record gives the same bytes."""
        return json.dumps(self.as_json(), indent=1, ensure_ascii=True).encode("ascii") + b"\n"

    @classmethod
    def parse(cls, data: bytes, *, origin: object) -> Record:
        """Read a record; ``PrefixError`` naming ``origin`` when it is damaged or of another schema."""
        try:
            raw = json.loads(data)
            if raw["schema"] != SCHEMA:
                raise PrefixError(
                    f"record of schema {raw['schema']!r}; this version reads schema {SCHEMA}",
                    phase="record",
                    where=origin,
                )
            record = cls(
                **{
                    name: raw[name]
                    for name in ("product", "label", "component", "version", "platform", "variant")
                },
                archive_path=raw["archive"]["path"],
                archive_sha256=raw["archive"]["sha256"],
                archive_size=raw["archive"]["size"],
                manifest_sha256=raw["manifest"]["sha256"],
                offered={Platform(name): tuple(names) for name, names in raw["offered"].items()},
                entries=tuple(Entry(**entry) for entry in raw["files"]),
                generated=tuple(Entry(**entry) for entry in raw["generated"]),
            )
            told = raw["tree"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PrefixError(
                f"damaged record ({type(error).__name__}: {error})", phase="record", where=origin
            ) from error
        if told != record.tree:
            raise PrefixError(
                "damaged record: its file list does not match its own digest", phase="record", where=origin
            )
        return record


def tree_digest(entries: Iterable[Entry]) -> str:
    """Return the sha256 over path, kind, execute bit, and content digest or link target of every entry.

    One line an entry, sorted by path, fields separated by NUL, which no path can hold. Equal for two archives
    of different compression exactly when they unpack to the same tree.
    """
    digest = hashlib.sha256()
    for entry in sorted(entries, key=lambda each: each.path):
        execute = "x" if entry.executable else "-"
        content = entry.sha256 or entry.target or ""
        line = f"{entry.path}\0{entry.kind}\0{execute}\0{content}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
