"""The one place that joins the rooms: a plan becomes prefixes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .delivery import Delivered, Delivery, Progress
from .errors import LockMismatch, ManifestChanged, NotInstalled, PrefixError
from .needs import needs
from .notes import log
from .prefix.ground import require_apart, require_movable, require_ours, stage_places
from .prefix.installed import Prefix
from .prefix.keeping import keep_manifest, note_install, remembering
from .prefix.publish import Stage
from .prefix.removing import sweep
from .prefix.space import disk_errors, full_disk, require_space
from .prefix.strays import sweep_strays
from .prefix.turn import my_turn
from .prefix.vendor_pc import not_relocated
from .recording import completed
from .source.base import TransferOptions
from .source.partial import sweep_partials
from .source.sources import Sources
from .unpack import UnpackOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .planner import Plan, PlannedArchive

__all__ = ["InstallOptions", "install"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOptions:
    """How to install.

    ``force`` replaces a prefix that is there. ``verify_first`` unpacks only after the digest is known. ``durable``
    flushes everything to the disk before publishing. ``archives`` is a content-addressed store to look into first
    and to keep downloads in. ``longest_wait`` is how many seconds to wait for another process that gets the same
    archive.
    """

    force: bool = False
    verify_first: bool = False
    durable: bool = False
    archives: Path | None = None
    longest_wait: float = 3600.0
    transfer: TransferOptions = field(default_factory=TransferOptions)
    unpacking: UnpackOptions = field(default_factory=UnpackOptions)


def install(
    plan: Plan,
    *,
    root: str | Path | None = None,
    dest: str | Path | None = None,
    options: InstallOptions | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[Prefix, ...]:
    """Do what ``plan`` says and return its prefixes, installed or already there, in the plan's order.

    ``root`` overrides the plan's; ``dest`` installs its one archive into exactly that directory, which must be
    absent, empty or ours. ``progress`` is called from several threads. Each prefix is published whole or not at all;
    the first failure ends the run: ``UsageError`` (more than one archive for ``dest``), ``NotAvailableError``,
    ``TransferError``, ``IntegrityError`` (also for a tree that is not the promised one), ``ManifestError``,
    ``ArchiveError`` or ``PrefixError``.
    """
    options = options or InstallOptions()
    if root is not None:
        plan = plan.under(Path(root))
    if dest is not None:
        # The directory that the name leads to: "." has no name to put a stage beside, a link would be replaced.
        plan = plan.into(Path(os.path.realpath(dest)))
    with Sources(options.transfer) as sources:
        delivery = Delivery(
            layout=plan.layout,
            sources=sources,
            transfer=options.transfer,
            unpacking=options.unpacking,
            store=options.archives,
            verify_first=options.verify_first,
            progress=progress,
        )
        run = _Installation(plan, delivery, options, exact=dest is not None)
        return run.prefixes()


class _Installation:
    """One run of a plan. ``exact``: into a directory that the user named, which may hold anything."""

    def __init__(self, plan: Plan, delivery: Delivery, options: InstallOptions, *, exact: bool) -> None:
        self._plan = plan
        self._delivery = delivery
        self._options = options
        self._exact = exact
        self._warned: set[str] = set()

    def prefixes(self) -> tuple[Prefix, ...]:
        plan, archives = self._plan, self._plan.archives
        # All turns before the first is taken: an archive that has no digest is refused before any byte is fetched.
        turns = [plan.layout.turn(self._contested(archive)) for archive in archives]
        with disk_errors(plan.layout.root, phase="plan"):
            for archive in archives:
                self._require_ours(archive.prefix)
            missing = [archive for archive in archives if self._standing(archive) is None]
            for archive in missing:
                require_movable(archive.prefix)
            require_space(needs(missing, plan.layout, store=self._options.archives))
            sweep_partials(plan.layout.partials)
            sweep_strays(plan.layout.root)
            sweep([*stage_places(plan.layout), *(archive.prefix.parent for archive in archives)])
        prefixes = tuple(self._prefix(archive, turn) for archive, turn in zip(archives, turns, strict=True))
        self._keep_manifest(prefixes)
        return prefixes

    def _contested(self, archive: PlannedArchive) -> str:
        """Return what two runs must not make at the same time: an archive, or what a directory holds."""
        sha256 = archive.expected.sha256
        return hashlib.sha256(os.fsencode(archive.prefix)).hexdigest() if self._exact else sha256

    def _prefix(self, archive: PlannedArchive, turn: Path) -> Prefix:
        standing = self._standing(archive)
        if standing is None:
            with my_turn(turn, longest=self._options.longest_wait):
                standing = self._standing(archive)
                if standing is None:
                    return self._made(archive)
        self._delivery.progress(Progress(archive=archive, phase="present"))
        return standing

    def _made(self, archive: PlannedArchive) -> Prefix:
        with (
            full_disk(needed=archive.disk_size),
            disk_errors(archive.prefix, phase="unpack"),
            Stage(archive.prefix) as stage,
        ):
            delivered = self._delivery.bring(archive, stage)
            prefix = self._published(archive, stage, delivered)
        self._delivery.progress(Progress(archive=archive, phase="installed"))
        return prefix

    def _published(self, archive: PlannedArchive, stage: Stage, delivered: Delivered) -> Prefix:
        with disk_errors(archive.prefix, phase="publish"):
            record = completed(archive, delivered.unpacked, size=delivered.size)
            for note in filter(None, (*delivered.unpacked.notes, not_relocated(record))):
                log.warning("%s: %s", archive.prefix, note)
            mine = stage.publish(
                delivered.unpacked.root,
                record,
                replace=lambda: self._may_be_replaced(archive),
                durable=self._options.durable,
            )
            if not mine:
                return Prefix.open(archive.prefix)
        with remembering("a note on this installation", self._plan.layout):
            note_install(self._plan.layout, archive.prefix, record, origin=delivered.origin)
        return Prefix(archive.prefix, record)

    def _may_be_replaced(self, archive: PlannedArchive) -> bool:
        self._require_ours(archive.prefix)
        return self._standing(archive) is None

    def _keep_manifest(self, prefixes: Sequence[Prefix]) -> None:
        """Keep the manifest that the prefixes under this root are of; not one that would hide that a label changed."""
        plan = self._plan
        of_it = all(
            prefix.record.archive_sha256 == archive.sha256
            for prefix, archive in zip(prefixes, plan.archives, strict=True)
        )
        data = plan.manifest_data
        if of_it and data is not None and not self._exact and not plan.from_kept:
            with remembering("the manifest", plan.layout):
                keep_manifest(plan.layout, plan.product, data, url=plan.manifest_origin)

    def _standing(self, archive: PlannedArchive) -> Prefix | None:
        """Return the sound prefix that makes installing unnecessary."""
        if self._options.force:
            return None
        try:
            prefix = Prefix.open(archive.prefix)
        except (NotInstalled, PrefixError):
            return None
        if not prefix.looks_whole():
            self._warn(f"{archive.prefix} is damaged and is installed again")
            return None
        found, same_parts = prefix.record.archive_sha256, prefix.record.parts == archive.parts
        if found == archive.sha256 and same_parts:
            return prefix
        if self._exact or not same_parts:
            return None
        names = "lock" if self._plan.lock else "manifest now"
        cause = f"holds archive {found}, but the {names} names {archive.sha256}; --force installs that"
        if self._plan.lock:
            raise LockMismatch(cause, where=archive.prefix)
        if self._plan.pinned:
            raise ManifestChanged(
                cause,
                where=archive.prefix,
                expected=self._plan.manifest_sha256,
                actual=prefix.record.manifest_sha256,
            )
        self._warn(f"{archive.prefix} {cause}")
        return prefix

    def _warn(self, sentence: str) -> None:
        """Say a thing once: a prefix is looked at several times in one run."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            log.warning("%s", sentence)

    def _require_ours(self, directory: Path) -> None:
        """Refuse to put a prefix where it would take something else away."""
        if self._exact:
            require_ours(directory, force=self._options.force)
        else:
            require_apart(directory)
