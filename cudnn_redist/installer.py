"""The one place that joins the rooms: a plan becomes prefixes."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .delivery import Delivered, Delivery, Progress
from .errors import NotInstalled, PrefixError
from .prefix.installed import Prefix
from .prefix.keeping import keep_manifest, note_install
from .prefix.lib64 import add_lib64
from .prefix.publish import Stage, disk_errors, sweep
from .prefix.record import Entry, Record
from .prefix.space import require_space
from .prefix.turn import my_turn
from .resolver import Sources
from .source.base import TransferOptions
from .source.partial import sweep_partials
from .unpack import UnpackOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .planner import Plan, PlannedArchive

__all__ = ["InstallOptions", "install"]

_log = logging.getLogger("cudnn_redist")


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
    absent, empty or ours. ``progress`` is called from two threads. Each prefix is published whole or not at all; the
    first failure ends the run: ``NotAvailableError``, ``TransferError``, ``IntegrityError``, ``ManifestError``,
    ``ArchiveError`` or ``PrefixError``.
    """
    options = options or InstallOptions()
    if root is not None:
        plan = plan.under(Path(root))
    if dest is not None:
        plan = plan.into(Path(dest))
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

    def prefixes(self) -> tuple[Prefix, ...]:
        for archive in self._plan.archives:
            self._require_ours(archive.prefix)
        missing = [archive for archive in self._plan.archives if self._standing(archive) is None]
        require_space(self._needs(missing))
        with disk_errors(self._plan.layout.root, phase="sweep"):
            sweep_partials(self._plan.layout.partials)
        return tuple(self._prefix(archive) for archive in self._plan.archives)

    def _prefix(self, archive: PlannedArchive) -> Prefix:
        standing = self._standing(archive)
        if standing is None:
            turn = self._plan.layout.turn(archive.expected.sha256)
            with my_turn(turn, longest=self._options.longest_wait):
                standing = self._standing(archive)
                if standing is None:
                    return self._made(archive)
        self._delivery.progress(Progress(archive=archive, phase="present"))
        return standing

    def _made(self, archive: PlannedArchive) -> Prefix:
        with disk_errors(archive.prefix, phase="unpack"):
            sweep(archive.prefix.parent)
            with Stage(archive.prefix) as stage:
                delivered = self._delivery.bring(archive, stage)
                self._published(archive, stage, delivered)
        self._delivery.progress(Progress(archive=archive, phase="installed"))
        return Prefix.open(archive.prefix)

    def _published(self, archive: PlannedArchive, stage: Stage, delivered: Delivered) -> None:
        with disk_errors(archive.prefix, phase="publish"):
            generated = add_lib64(delivered.unpacked.root, archive.platform)
            record = _record(archive, delivered, generated)
            mine = stage.publish(
                delivered.unpacked.root,
                record,
                replace=lambda: self._standing(archive) is None,
                durable=self._options.durable,
            )
            if mine:
                keep_manifest(
                    self._plan.layout, self._plan.product, self._plan.label, self._plan.manifest_data
                )
                note_install(self._plan.layout, archive.prefix, record, origin=delivered.origin)

    def _standing(self, archive: PlannedArchive) -> Prefix | None:
        """Return the sound prefix that makes installing unnecessary."""
        if self._options.force:
            return None
        try:
            prefix = Prefix.open(archive.prefix)
        except (NotInstalled, PrefixError):
            return None
        if not prefix.looks_whole():
            _log.warning("%s is damaged and is installed again", archive.prefix)
            return None
        if prefix.record.archive_sha256 == archive.sha256:
            return prefix
        if self._exact:
            return None
        _log.warning(
            "%s holds archive %s, but the manifest now names %s; --force installs that",
            archive.prefix,
            prefix.record.archive_sha256,
            archive.sha256,
        )
        return prefix

    def _require_ours(self, directory: Path) -> None:
        """Refuse a directory that the user named and that holds something else."""
        if not self._exact or not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
            return
        try:
            Prefix.open(directory)
        except NotInstalled as error:
            raise PrefixError(
                "exists and is no installed prefix; it is left alone", where=directory
            ) from error

    def _needs(self, archives: Sequence[PlannedArchive]) -> list[tuple[Path, int]]:
        downloads = [archive.size or 0 for archive in archives if not archive.urls[0].startswith("file:")]
        needs = [(self._plan.layout.root, sum(downloads))]
        needs.extend((archive.prefix.parent, archive.unpacked_estimate) for archive in archives)
        return needs


def _record(archive: PlannedArchive, delivered: Delivered, generated: Sequence[Entry]) -> Record:
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
