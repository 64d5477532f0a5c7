"""What is in a prefix: the JSON file that makes a directory an installation. Pure.

The record depends on archive and manifest alone, so that two installs from two mirrors are the same bytes; where
and when an install happened goes to the log of the root. A plain dataclass: a fetch that finds everything in place
reads this file and nothing else, and must not pay for importing a validation library.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..errors import PrefixError
from ..manifest.targets import Platform

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..manifest.choosing import Offers

__all__ = ["SCHEMA", "Entry", "Record", "Whole", "tree_digest"]

SCHEMA = 1
"""Raised when an older version could no longer read what this one writes."""

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
class Whole:
    """All that an archive holds, where a prefix has parts of it: the tree digest, and the bytes of the files."""

    tree: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The contents of a prefix and where they came from.

    ``variant`` is ``None`` for an archive without one. ``offered`` is what the manifest had of this component
    (platform -> variants), ``is_main`` whether it is the one meant without a name: with both, a later question about
    the same label is answered without the manifest.
    ``entries`` came out of the archive; ``generated`` were added by this tool. ``parts`` are those of the archive
    that are here, and then ``whole`` is what they are parts of; both are left out of the file where all of it is here.
    ``unproven`` are sentences about what no manifest vouches for, where the prefix was adopted; else it is left out.
    ``manifest_sha256`` is then ``none``, and ``offered`` knows of the archive alone.
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
    offered: Offers = field(hash=False)
    is_main: bool
    entries: tuple[Entry, ...]
    generated: tuple[Entry, ...] = ()
    parts: tuple[str, ...] = ()
    whole: Whole | None = None
    unproven: tuple[str, ...] = ()

    @property
    def levels(self) -> tuple[str | None, ...]:
        """The names that lead to a prefix under a root, outermost first; its ``parts`` go on the last one.

        ``Layout.prefix`` takes both.
        """
        return (self.product, self.label, self.component, self.platform, self.variant)

    @property
    def tree(self) -> str:
        """The digest of everything that is here of the archive."""
        return tree_digest(self.entries)

    @property
    def archive_tree(self) -> str:
        """The digest of everything the archive held."""
        return self.tree if self.whole is None else self.whole.tree

    @property
    def disk_saved(self) -> int:
        """The bytes of those files of the archive that are not here."""
        return 0 if self.whole is None else self.whole.size - sum(entry.size for entry in self.entries)

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
            **self._parts_as_json(),
            **({"unproven": list(self.unproven)} if self.unproven else {}),
            "archive": {
                "path": self.archive_path,
                "sha256": self.archive_sha256,
                "size": self.archive_size,
            },
            "manifest": {"sha256": self.manifest_sha256},
            "main": self.is_main,
            "offered": {platform: list(names) for platform, names in sorted(self.offered.items())},
            "tree": self.tree,
            "files": [entry.as_json() for entry in self.entries],
            "generated": [entry.as_json() for entry in self.generated],
        }

    def _parts_as_json(self) -> dict[str, Any]:
        return {"parts": list(self.parts), "whole": asdict(self.whole)} if self.whole else {}

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
                    f"record of schema {raw['schema']!r:.60}; this version reads schema {SCHEMA}",
                    phase="record",
                    where=origin,
                )
            record = cls._of(raw)
            told, found = raw["tree"], record.tree
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PrefixError(
                f"damaged record ({type(error).__name__}: {error})", phase="record", where=origin
            ) from error
        if told != found:
            raise PrefixError(
                "damaged record: its file list does not match its own digest", phase="record", where=origin
            )
        return record

    @classmethod
    def _of(cls, raw: dict[str, Any]) -> Record:
        return cls(
            product=_text(raw["product"]),
            label=_text(raw["label"]),
            component=_text(raw["component"]),
            version=_text(raw["version"]),
            platform=_text(raw["platform"]),
            variant=_variant(raw["variant"]),
            archive_path=_text(raw["archive"]["path"]),
            archive_sha256=_text(raw["archive"]["sha256"]),
            archive_size=_number(raw["archive"]["size"]),
            manifest_sha256=_text(raw["manifest"]["sha256"]),
            offered={Platform(name): tuple(map(_variant, names)) for name, names in raw["offered"].items()},
            is_main=raw["main"] is True,
            entries=tuple(map(_entry, raw["files"])),
            generated=tuple(map(_entry, raw["generated"])),
            parts=tuple(map(_text, raw.get("parts", ()))),
            whole=_whole(raw["whole"]) if "parts" in raw else None,
            unproven=tuple(map(_text, raw.get("unproven", ()))),
        )


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


def _entry(raw: dict[str, Any]) -> Entry:
    """Read an entry, on whose path a prefix is judged: it never leaves the prefix."""
    kind = raw["kind"]
    path = _text(raw["path"])
    if kind not in ("file", "directory", "link") or path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"an entry is {raw!r:.80}")
    return Entry(
        path=path,
        kind=kind,
        size=_number(raw.get("size", 0)),
        executable=raw.get("executable") is True,
        sha256=_text(raw["sha256"]) if kind == "file" else None,
        target=_text(raw["target"]) if kind == "link" else None,
    )


def _whole(raw: dict[str, Any]) -> Whole:
    return Whole(tree=_text(raw["tree"]), size=_number(raw["size"]))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError(f"{value!r:.60} where a text is needed")
    return value


def _variant(value: object) -> str | None:
    return None if value is None else _text(value)


def _number(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r:.60} where a size is needed")
    return value
