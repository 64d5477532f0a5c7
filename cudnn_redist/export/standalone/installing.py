"""A plan becomes prefixes: each archive fetched, judged, unpacked beside its target, and renamed into its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from ...errors import ArchiveError, LockMismatch
from ...prefix.ground import require_apart, require_movable, require_ours
from ...prefix.installed import Prefix
from ...prefix.publish import Stage
from ...prefix.removing import sweep
from ...prefix.space import disk_errors, full_disk, require_space
from ...recording import completed
from ...unpack import HEAD_SIZE, Kind, kind_of, unpack, unpack_zip
from .getting import get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ...planner import Plan, PlannedArchive
    from ...unpack import Unpacked
    from .getting import Patience

__all__ = ["Installation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One run of a plan.

    ``exact``: into a directory that the user named, which may hold anything. ``force`` replaces what is there. ``tell``
    is called with an archive and the bytes of it that are here.
    """

    plan: Plan
    exact: bool
    force: bool
    patience: Patience
    tell: Callable[[PlannedArchive, int], None]

    def prefixes(self) -> Iterator[Path]:
        """Yield the path of each prefix, installed or already there, in the plan's order.

        Each is whole or absent; the first failure ends it: ``NotAvailableError``, ``TransferError``,
        ``IntegrityError``, ``ArchiveError``, ``LockMismatch`` or ``PrefixError``.
        """
        archives = self.plan.archives
        with disk_errors(self.plan.layout.root, phase="plan"):
            for archive in archives:
                self._require_ours(archive.prefix)
            missing = [archive for archive in archives if self._standing(archive) is None]
            for archive in missing:
                require_movable(archive.prefix)
            require_space((archive.prefix.parent, archive.disk_size) for archive in missing)
            sweep({archive.prefix.parent for archive in archives})
        for archive in archives:
            if self._standing(archive) is None:
                self._install(archive)
            yield archive.prefix

    def _install(self, archive: PlannedArchive) -> None:
        with full_disk(needed=archive.disk_size), disk_errors(archive.prefix, phase="unpack"):
            self._make(archive)

    def _make(self, archive: PlannedArchive) -> None:
        with Stage(archive.prefix) as stage:
            tree = stage.path / "tree"
            tree.mkdir()
            with (stage.path / "archive").open("xb+") as file:
                got = get(archive, file, self.patience, lambda done: self.tell(archive, done))
                unpacked = _unpacked(file, tree, name=got.origin)
            record = completed(archive, unpacked, size=got.size)
            stage.publish(unpacked.root, record, replace=lambda: self._may_be_replaced(archive))

    def _may_be_replaced(self, archive: PlannedArchive) -> bool:
        self._require_ours(archive.prefix)
        return self._standing(archive) is None

    def _standing(self, archive: PlannedArchive) -> Prefix | None:
        """Return the sound prefix that makes installing unnecessary."""
        prefix = None if self.force else Prefix.whole_at(archive.prefix)
        if prefix is None:
            return None
        found, same_parts = prefix.record.archive_sha256, prefix.record.parts == archive.parts
        if found == archive.sha256 and same_parts:
            return prefix
        if self.exact or not same_parts:
            return None
        cause = f"holds archive {found}, but the lock names {archive.sha256}; --force installs that"
        raise LockMismatch(cause, where=archive.prefix)

    def _require_ours(self, directory: Path) -> None:
        """Refuse to put a prefix where it would take something else away."""
        if self.exact:
            require_ours(directory, force=self.force)
        else:
            require_apart(directory)


def _unpacked(file: BinaryIO, tree: Path, *, name: str) -> Unpacked:
    """Unpack a judged archive, from the very file that was judged."""
    file.seek(0)
    kind = kind_of(file.read(HEAD_SIZE), name=name)
    file.seek(0)
    if kind is Kind.ZIP:
        return unpack_zip(file, tree, name=name)
    if kind is Kind.ZST:
        raise ArchiveError("is zstd, which this installer does not read; cudnn-redist does", where=name)
    return unpack(file, tree, name=name, kind=kind)
