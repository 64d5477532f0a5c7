"""The list of a mirror's files: what each must be. Pure: texts in, texts out.

    {"schema": 1, "files": {PATH BELOW THE MIRROR: {"sha256": ..., "size": BYTES OR NULL}, ...}}

A repacked archive also has ``original`` (the sha256 of the one that it was) and ``tree`` (the digest of what is in it),
the manifest that names it the ``original`` alone.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import PrefixError, UsageError
from ..locations import is_relative

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LIST_NAME", "Listed", "list_bytes", "listed_files"]

LIST_NAME = ".cudnn-redist-mirror.json"
_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a file of the mirror must be; ``size`` in bytes, ``None`` where no manifest tells.

    Of a repacked archive, ``original`` is the sha256 of the one that it was, and ``tree`` the digest of what is in it;
    the manifest that names it has an ``original`` too.
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


def list_bytes(files: Mapping[str, Listed]) -> bytes:
    """Return the list as it is stored: sorted, so that equal mirrors have equal lists."""
    told = {place: each.as_json() for place, each in sorted(files.items())}
    return json.dumps({"schema": _SCHEMA, "files": told}, indent=2).encode() + b"\n"


def listed_files(data: bytes, *, origin: object) -> dict[str, Listed]:
    """Read a list; ``PrefixError`` for one that is damaged, or names what is outside of its directory.

    ``UsageError`` for one of another schema.
    """
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(origin) from error
    if not isinstance(raw, dict) or not isinstance(raw.get("files"), dict):
        raise _damaged(origin)
    if raw.get("schema") != _SCHEMA:
        schema = raw.get("schema")
        raise UsageError(
            f"a mirror of schema {schema!r:.20}, this version knows {_SCHEMA}", phase="mirror", where=origin
        )
    return {place: _listed(place, entry, origin) for place, entry in raw["files"].items()}


def _listed(place: str, entry: object, origin: object) -> Listed:
    inside = (
        is_relative(place)
        and posixpath.normpath(place) == place
        and not f"{place}/".startswith(("./", "../"))
    )
    if not inside or not isinstance(entry, dict):
        raise _damaged(origin)
    sha256, size, original, tree = (entry.get(name) for name in ("sha256", "size", "original", "tree"))
    optional = (original, tree)
    if not isinstance(sha256, str) or not all(isinstance(text, str | None) for text in optional):
        raise _damaged(origin)
    if not isinstance(size, int | None):
        raise _damaged(origin)
    return Listed(sha256=sha256, size=size, original=original, tree=tree)


def _damaged(origin: object) -> PrefixError:
    return PrefixError(
        "the list of the mirror's files is damaged; without a list nobody knows what may be removed: mirror into "
        "another directory, or remove this one",
        phase="mirror",
        where=origin,
    )
