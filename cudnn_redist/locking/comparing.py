"""What changed between two states of one release. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .names import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import LockedArchive

__all__ = ["Change", "changes"]

ChangeKind = Literal["changed", "moved", "appeared", "vanished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How one archive changed: its bytes (``changed``), only where it lies (``moved``), or whether it is there at all.

    ``archive`` is what it is now, or was last; ``before`` is what it was, where it has ``changed`` or ``moved``.
    """

    kind: ChangeKind
    archive: LockedArchive
    before: LockedArchive | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {spelled(self.archive.place)}: {self._detail()}"

    def facts(self) -> dict[str, Any]:
        """Return the change, ready for JSON."""
        component, platform, variant = self.archive.place
        gone = self.kind == "vanished"
        return {
            "kind": self.kind,
            "component": component,
            "platform": platform,
            "variant": variant,
            "before": _facts(self.archive if gone else self.before),
            "after": _facts(None if gone else self.archive),
        }

    def _detail(self) -> str:
        if self.before is not None:
            for name in ("version", "sha256", "size", "relative_path", "url"):
                was, now = getattr(self.before, name), getattr(self.archive, name)
                if was != now:
                    return f"{name} was {was}, is {now}"
        return self.archive.relative_path


def changes(before: Iterable[LockedArchive], after: Iterable[LockedArchive]) -> tuple[Change, ...]:
    """Return how each archive changed, in the order of a lock."""
    was = {archive.place: archive for archive in before}
    found = [_change(was.pop(archive.place, None), archive) for archive in after]
    found += [Change(kind="vanished", archive=archive) for archive in was.values()]
    return tuple(sorted(filter(None, found), key=lambda change: change.archive.order))


def _change(before: LockedArchive | None, after: LockedArchive) -> Change | None:
    if before is None:
        return Change(kind="appeared", archive=after)
    # An installed prefix told a size that the manifest does not.
    sizes = {before.size, after.size} - {None}
    if before.sha256 != after.sha256 or len(sizes) > 1:
        return Change(kind="changed", archive=after, before=before)
    if (before.relative_path, before.url) != (after.relative_path, after.url):
        return Change(kind="moved", archive=after, before=before)
    return None


def _facts(archive: LockedArchive | None) -> dict[str, Any] | None:
    told = {"version", "relative_path", "url", "sha256", "size"}
    return None if archive is None else archive.model_dump(include=told)
