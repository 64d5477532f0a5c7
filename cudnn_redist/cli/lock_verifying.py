"""``verify --lock``: what is installed beside what is locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import LabelNotFound, NotInstalled
from ..findings import Finding
from ..layout import RECORD_NAME
from .words import layout_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..locking.model import Lock
    from ..prefix.installed import Prefix

__all__ = ["beside_lock"]


def beside_lock(
    lock: Lock,
    arguments: argparse.Namespace,
    prefixes: Sequence[Prefix],
    damaged: Mapping[Path, tuple[str | None, ...]],
) -> tuple[dict[Path, list[Finding]], set[Path]]:
    """Return how prefixes differ from ``lock``, and which are none of its business.

    ``damaged`` are those whose record says nothing, with what their place says. Where prefixes were named, one that
    the lock does not have is a ``LabelNotFound``; where none was, the lock must have one of them (``NotInstalled``).
    """
    from ..locking.installed import deviations, locked_archive

    differing: dict[Path, list[Finding]] = {}
    apart = {path for path, levels in damaged.items() if locked_archive(lock, levels) is None}
    for prefix in prefixes:
        archive = locked_archive(lock, prefix.record.levels)
        if archive is None:
            apart.add(prefix.path)
        else:
            differing[prefix.path] = [
                Finding(code="lock-differs", where=RECORD_NAME, detail=difference)
                for difference in deviations(archive, prefix.record)
            ]
    if apart and arguments.target is not None:
        names = ", ".join(map(str, sorted(apart)))
        has = [release.name for release in lock.releases]
        raise LabelNotFound(
            f"the lock does not have {names}; it has {', '.join(has)}", where=arguments.lock, available=has
        )
    if len(apart) == len(prefixes) + len(damaged):
        raise NotInstalled(f"nothing of {arguments.lock} is installed", where=layout_of(arguments).root)
    return differing, apart
