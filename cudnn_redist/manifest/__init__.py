"""What NVIDIA published, as values, and the choosing of one archive of it: no files, no network, no clock.

The models need pydantic and, like selection, are resolved when first asked for; labels, targets and the rules of
choosing are light, so that an installed prefix is found without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .choosing import Choice, Offers, Query, choose, choose_platform, choose_variant
from .labels import ReleaseLabel, label_of, newest
from .targets import HOST_INDEPENDENT, CudaVariant, Platform, is_plain_name, parse_platform

if TYPE_CHECKING:
    from .models import Archive, Component, Manifest
    from .reading import MAX_MANIFEST_BYTES
    from .selection import Selection, offers, select

__all__ = [
    "HOST_INDEPENDENT",
    "MAX_MANIFEST_BYTES",
    "Archive",
    "Choice",
    "Component",
    "CudaVariant",
    "Manifest",
    "Offers",
    "Platform",
    "Query",
    "ReleaseLabel",
    "Selection",
    "choose",
    "choose_platform",
    "choose_variant",
    "is_plain_name",
    "label_of",
    "newest",
    "offers",
    "parse_platform",
    "select",
]

_LATE = {
    "Archive": ".models",
    "Component": ".models",
    "Manifest": ".models",
    "MAX_MANIFEST_BYTES": ".reading",
    "Selection": ".selection",
    "offers": ".selection",
    "select": ".selection",
}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name], __name__), name)
