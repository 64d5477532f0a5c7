"""The pins inside the installer's file: a lock, read without a validation library.

``export python`` wrote them, from a lock that was judged then; who has changed the file has changed the program.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from ...errors import LockError

if TYPE_CHECKING:
    from ...locking.model import Lock

__all__ = ["Pins"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What may be installed, and the URLs of each archive, by its sha256; without any, the one in the lock counts."""

    lock: Lock
    urls: dict[str, tuple[str, ...]]

    @classmethod
    def parse(cls, text: str) -> Pins:
        """Read ``{"lock": LOCK, "urls": {SHA256: [URL, ...]}}``; ``LockError`` where that is not what it is."""
        try:
            raw = json.loads(text)
            releases = tuple(_release(each) for each in raw["lock"]["releases"])
            lock = cast("Lock", SimpleNamespace(releases=releases))
            return cls(lock=lock, urls={sha256: tuple(urls) for sha256, urls in raw["urls"].items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LockError("the pins in this file are damaged; export it again") from error


def _release(raw: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(
        **{
            **raw,
            "name": f"{raw['product']} {raw['label']}",
            "chosen": SimpleNamespace(**raw["chosen"]),
            "manifest": SimpleNamespace(**raw["manifest"]),
            "components": {name: SimpleNamespace(**each) for name, each in raw["components"].items()},
            "archives": [_archive(each) for each in raw["archives"]],
        }
    )


def _archive(raw: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**raw, place=(raw["component"], raw["platform"], raw["variant"]))
