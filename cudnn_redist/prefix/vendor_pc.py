"""The pkg-config files that an archive brings: they point to where the vendor built, and stay as they are (C88)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .record import Record

__all__ = ["not_relocated"]

_NAMED = 3


def not_relocated(record: Record) -> str | None:
    """Return a sentence on the archive's own ``.pc`` files; ``None`` where it has none."""
    paths = [
        entry.path for entry in record.entries if entry.kind != "directory" and entry.path.endswith(".pc")
    ]
    if not paths:
        return None
    more = ", ..." if len(paths) > _NAMED else ""
    return f"the vendor's pkg-config files are not relocated: {', '.join(paths[:_NAMED])}{more}"
