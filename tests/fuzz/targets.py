"""All targets by name."""

from __future__ import annotations

from fuzz import indexes, manifests, records, streams, tars, xz, zips

__all__ = ["TARGETS"]

TARGETS = {each.TARGET.name: each.TARGET for each in (manifests, xz, streams, tars, zips, indexes, records)}
