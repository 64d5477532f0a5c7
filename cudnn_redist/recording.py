"""An unpacked archive on its way to a prefix: what is added to it, and the record of it all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ArchiveError, DigestMismatch, NotAvailableError
from .generated.files import generated_files
from .layout import RECORD_NAME
from .parts import PARTS, held_parts
from .prefix.additions import add_files
from .prefix.lib64 import add_lib64
from .prefix.record import Entry, Record, Whole, tree_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .planner import PlannedArchive
    from .unpack import Member, Unpacked

__all__ = ["completed", "entry_of"]


def completed(archive: PlannedArchive, unpacked: Unpacked, *, size: int) -> Record:
    """Add to the tree what build systems look for and the archive lacks; return the record of both.

    ``size`` is the archive's, in bytes. Raises ``ArchiveError`` (it brings a record of its own), ``DigestMismatch``
    (not the promised tree), ``NotAvailableError`` (it has no such part) and ``OSError`` from the disk.
    """
    _require_parts(archive, unpacked)
    record = _record(archive, unpacked, _added(archive, unpacked), size)
    _require_tree(archive, record)
    return record


def _added(archive: PlannedArchive, unpacked: Unpacked) -> tuple[Entry, ...]:
    files = {}
    if archive.product == "cudnn" and (not archive.parts or "dev" in archive.parts):
        paths = [member.path for member in unpacked.members if member.kind != "directory"]
        files = generated_files(paths, version=archive.version, platform=archive.platform)
    return (*add_lib64(unpacked.root, archive.platform), *add_files(unpacked.root, files))


def _require_tree(archive: PlannedArchive, record: Record) -> None:
    """Refuse a tree that is not the promised one: whoever repacked an archive has to have kept every file."""
    if archive.tree not in (None, record.archive_tree):
        raise DigestMismatch(
            f"unpacks to a tree with digest {record.archive_tree}, promised is {archive.tree}",
            phase="unpack",
            where=archive.name,
            expected=archive.tree,
            actual=record.archive_tree,
        )


def _require_parts(archive: PlannedArchive, unpacked: Unpacked) -> None:
    """Refuse a part of which the archive has nothing but the licence; no manifest could have told."""
    held, passed_over = (
        held_parts((member.path, member.kind == "link") for member in members if member.kind != "directory")
        for members in (unpacked.members, unpacked.passed_over)
    )
    lacking = [part for part in archive.parts if part not in held]
    if lacking:
        available = [part for part in PARTS if part in held | passed_over]
        raise NotAvailableError(
            f"has no {' and no '.join(lacking)} part; it has {', '.join(available) or 'none'}",
            phase="unpack",
            where=archive.name,
            available=available,
        )


def _record(archive: PlannedArchive, unpacked: Unpacked, generated: Sequence[Entry], size: int) -> Record:
    every = (*unpacked.members, *unpacked.passed_over)
    if any(member.path == RECORD_NAME for member in every):
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
        archive_size=size,
        manifest_sha256=archive.manifest_sha256,
        offered=archive.offered,
        is_main=archive.is_main,
        entries=tuple(map(entry_of, unpacked.members)),
        generated=tuple(generated),
        parts=archive.parts,
        whole=_whole(every) if archive.parts else None,
    )


def _whole(members: Sequence[Member]) -> Whole:
    return Whole(tree=tree_digest(map(entry_of, members)), size=sum(member.size for member in members))


def entry_of(member: Member) -> Entry:
    """Return a member of an archive as a record has it."""
    return Entry(
        path=member.path,
        kind=member.kind,
        size=member.size,
        executable=member.executable,
        sha256=member.sha256,
        target=member.target,
    )
