"""The one place that joins the rooms: a plan becomes prefixes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .delivery import Delivered, Delivery, Progress
from .errors import ArchiveError, ManifestChanged, NotInstalled, PrefixError
from .layout import RECORD_NAME
from .notes import log
from .prefix.ground import require_apart, require_ours, stage_places
from .prefix.installed import Prefix
from .prefix.keeping import keep_manifest, note_install
from .prefix.lib64 import add_lib64
from .prefix.publish import Stage
from .prefix.record import Entry, Record
from .prefix.removing import sweep
from .prefix.space import disk_errors, full_disk, require_space
from .prefix.turn import my_turn
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
    and to keep downloads in. ``longest_wait`` is for how many seconds another process that gets the same archive is
    waited for.
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
    ``TransferError``, ``IntegrityError``, ``ManifestError``, ``ArchiveError`` or ``PrefixError``.
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
            require_space(self._needs([archive for archive in archives if self._standing(archive) is None]))
            sweep_partials(plan.layout.partials)
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
        needed = (archive.size or 0) + archive.unpacked_estimate
        with (
            disk_errors(archive.prefix, phase="unpack"),
            full_disk(archive.prefix, needed=needed),
            Stage(archive.prefix) as stage,
        ):
            delivered = self._delivery.bring(archive, stage)
            prefix = self._published(archive, stage, delivered)
        self._delivery.progress(Progress(archive=archive, phase="installed"))
        return prefix

    def _published(self, archive: PlannedArchive, stage: Stage, delivered: Delivered) -> Prefix:
        for note in delivered.unpacked.notes:
            log.warning("%s: %s", archive.prefix, note)
        with disk_errors(archive.prefix, phase="publish"):
            generated = add_lib64(delivered.unpacked.root, archive.platform)
            record = _record(archive, delivered, generated)
            mine = stage.publish(
                delivered.unpacked.root,
                record,
                replace=lambda: self._may_be_replaced(archive),
                durable=self._options.durable,
            )
            if not mine:
                return Prefix.open(archive.prefix)
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
        if of_it and not self._exact and not plan.from_kept:
            with disk_errors(plan.layout.root, phase="publish"):
                keep_manifest(plan.layout, plan.product, plan.manifest_data, url=plan.manifest_origin)

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
        found = prefix.record.archive_sha256
        if found == archive.sha256:
            return prefix
        if self._exact:
            return None
        cause = f"holds archive {found}, but the manifest now names {archive.sha256}; --force installs that"
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

    def _needs(self, archives: Sequence[PlannedArchive]) -> list[tuple[Path, int]]:
        downloads = [archive.size or 0 for archive in archives if not archive.urls[0].startswith("file:")]
        needs = [(self._plan.layout.root, sum(downloads))]
        needs.extend((archive.prefix.parent, archive.unpacked_estimate) for archive in archives)
        return needs


def _record(archive: PlannedArchive, delivered: Delivered, generated: Sequence[Entry]) -> Record:
    if any(member.path == RECORD_NAME for member in delivered.unpacked.members):
        raise ArchiveError(
            "holds a file of the name that the record has: it was made from an installed prefix",
            where=archive.name,
            member=RECORD_NAME,
        )
    return Record(
        product=archive.product,
        label=archive.label,
        component=archive.component,
        version=archive.version,
        platform=archive.platform,
        variant=archive.variant,
        archive_path=archive.relative_path,
        archive_sha256=archive.expected.sha256,
        archive_size=delivered.size,
        manifest_sha256=archive.manifest_sha256,
        offered=archive.offered,
        is_main=archive.is_main,
        entries=tuple(
            Entry(
                path=member.path,
                kind=member.kind,
                size=member.size,
                executable=member.executable,
                sha256=member.sha256,
                target=member.target,
            )
            for member in delivered.unpacked.members
        ),
        generated=tuple(generated),
    )
