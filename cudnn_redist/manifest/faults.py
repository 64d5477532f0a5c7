"""How the faults of a manifest, or of a lock, are told: each with its place, all in one error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..errors import ManifestError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Place", "damaged", "fault", "summary"]

Place = tuple[str | int, ...]
"""The keys that lead to a value, from the top of the document."""

_LONGEST_KEY: Final = 80
_MOST_IN_TEXT: Final = 20


def fault(place: Place, what: str) -> str:
    """Return one fault as ``cudnn.linux-x86_64.cuda13.sha256: not 64 hex digits``."""
    return f"{'.'.join(map(_spelled, place))}: {what}"


def damaged(faults: Sequence[str], *, origin: str) -> ManifestError:
    """Return the error for ``faults``: its attribute has all of them, its text the ``summary``."""
    return ManifestError(summary(faults), where=origin, faults=faults)


def summary(faults: Sequence[str]) -> str:
    """Return the first twenty ``faults``, and how many more there are."""
    text = "; ".join(faults[:_MOST_IN_TEXT])
    more = len(faults) - _MOST_IN_TEXT
    return f"{text}; and {more} more" if more > 0 else text


def _spelled(key: str | int) -> str:
    """Quote a key that would garble the line (control characters, an empty or endless one)."""
    text = str(key)
    return text if text.isprintable() and 0 < len(text) <= _LONGEST_KEY else f"{text!a:.{_LONGEST_KEY}}"
