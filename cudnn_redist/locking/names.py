"""What an archive of a lock, and the version that a label asks of it, are called. Pure; needs no models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..asking import parse_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..manifest.labels import ReleaseLabel

__all__ = ["spelled", "version_in"]


def spelled(place: Iterable[str | None]) -> str:
    """Return the place of an archive as it is told: ``cudnn linux-x86_64 cuda13``."""
    return " ".join(part for part in place if part is not None)


def version_in(asked: str, label: ReleaseLabel) -> ReleaseLabel | None:
    """Return the version that the archives must have: that of a four-part label whose release has three parts."""
    wanted = parse_label(asked)
    return wanted if wanted is not None and label in wanted.candidates()[1:] else None
