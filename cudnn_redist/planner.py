"""What will be fetched, from where, to where, and why. Pure: nothing is asked, read or written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .digest import Expected
from .errors import ManifestError, RedistError, UsageError
from .layout import Layout
from .locations import Folder, redacted
from .manifest.selection import main_component, offers, select
from .parts import is_chosen, reasons_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .manifest.choosing import Offers, Query
    from .manifest.models import Manifest
    from .manifest.selection import Selection

__all__ = ["Plan", "PlannedArchive", "make_plan"]

# A cuDNN .tar.xz grows to 2.0 to 2.4 times its size, a Windows .zip to about 1.5 times; measured on cuDNN 9.27.
_EXPANSION = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedArchive:
    """One archive and the prefix it becomes.

    ``urls`` are tried in order; ``size`` is in bytes; ``sha256`` and ``size`` are ``None`` where the manifest has
    none. ``offered`` is what the manifest has of this component: its platforms, and the variants of each; ``is_main``
    whether it is the one that a fetch without ``component`` takes; ``tree`` is the digest that the unpacked tree must
    have, where a repacked mirror or a lock promises one. ``parts`` are those that the prefix has; none is all.
    """

    product: str
    label: str
    component: str
    version: str
    platform: str
    variant: str | None
    relative_path: str
    sha256: str | None
    size: int | None
    urls: tuple[str, ...]
    prefix: Path
    offered: Offers = field(hash=False)
    is_main: bool
    manifest_sha256: str
    manifest_date: str | None = None
    tree: str | None = None
    parts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The archive's file name."""
        return self.relative_path.rpartition("/")[2]

    @property
    def unpacked_estimate(self) -> int:
        """Bytes that the prefix will take at most: an estimate, since no manifest tells."""
        return int((self.size or 0) * _EXPANSION)

    @property
    def disk_size(self) -> int:
        """Bytes that the archive and its unpacked prefix need at most: an estimate."""
        return (self.size or 0) + self.unpacked_estimate

    def wants(self, path: str, *, link: bool) -> bool:
        """Whether a file of the archive, or a symbolic ``link``, is for the prefix."""
        return is_chosen(path, link=link, parts=self.parts)

    @property
    def expected(self) -> Expected:
        """What its bytes must be; ``ManifestError`` where the manifest has no sha256 (md5 is never enough)."""
        if self.sha256 is None:
            raise ManifestError(
                "the manifest has no sha256 for this archive, so it cannot be verified and is not fetched",
                phase="plan",
                where=redacted(self.urls[0]),
            )
        return Expected(sha256=self.sha256, size=self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that ``install`` will do; ``reasons`` say what was chosen and why, a sentence each.

    ``from_kept``: the manifest is the one that the root keeps of an installed label, and was not read again.
    ``pinned``: it is the one that the user demands. ``lock`` is the lock file that the plan comes from; then nobody
    has read the manifest, and there may be no ``manifest_data``.
    """

    product: str
    label: str
    manifest_sha256: str
    manifest_origin: str
    manifest_data: bytes | None
    layout: Layout
    archives: tuple[PlannedArchive, ...]
    reasons: tuple[str, ...]
    from_kept: bool = False
    pinned: bool = False
    lock: str | None = None

    @property
    def download_size(self) -> int:
        """Bytes of all archives together, as far as the manifest tells."""
        return sum(archive.size or 0 for archive in self.archives)

    @property
    def disk_size(self) -> int:
        """Bytes that the archives and their unpacked prefixes need at most: an estimate."""
        return sum(archive.disk_size for archive in self.archives)

    def under(self, root: Path) -> Plan:
        """Return the same plan with another root."""
        layout = Layout(root)
        archives = tuple(replace(each, prefix=_prefix(layout, each)) for each in self.archives)
        return replace(self, layout=layout, archives=archives)

    def into(self, directory: Path) -> Plan:
        """Return the same plan with its one archive installed into exactly ``directory``; else ``UsageError``."""
        if len(self.archives) != 1:
            raise UsageError(f"one directory holds one archive, and this asks for {len(self.archives)}")
        return replace(self, archives=(replace(self.archives[0], prefix=directory),))


def make_plan(
    manifest: Manifest,
    queries: Sequence[Query],
    *,
    label: str,
    folders: Sequence[Folder],
    layout: Layout,
    product: str,
    elsewhere: Iterable[Manifest] = (),
) -> Plan:
    """Turn each query into an archive, its URLs and its prefix.

    ``folders`` are where the product may lie, in the order to try; ``elsewhere`` are other manifests at hand, which
    only make the error better when something is not there. Raises ``NotAvailableError``, ``UsageError`` (an
    ambiguous query) or ``ManifestError`` (a path that must not be followed).
    """
    chosen: dict[str, PlannedArchive] = {}
    reasons: dict[str, None] = {}
    for query in queries:
        selection = _selected(manifest, query, elsewhere)
        path = selection.archive.relative_path
        chosen[path] = _planned(
            manifest, selection, query, label=label, folders=folders, layout=layout, product=product
        )
        reasons.update(dict.fromkeys((*selection.reasons, *reasons_for(query.parts))))
    return Plan(
        product=product,
        label=label,
        manifest_sha256=manifest.sha256,
        manifest_origin=manifest.origin,
        manifest_data=manifest.data,
        layout=layout,
        archives=tuple(chosen.values()),
        reasons=tuple(reasons),
    )


def _selected(manifest: Manifest, query: Query, elsewhere: Iterable[Manifest]) -> Selection:
    try:
        return select(manifest, query, elsewhere=elsewhere)
    except RedistError as error:
        error.where = error.where or manifest.origin
        raise


def _planned(
    manifest: Manifest,
    selection: Selection,
    query: Query,
    *,
    label: str,
    folders: Sequence[Folder],
    layout: Layout,
    product: str,
) -> PlannedArchive:
    archive = selection.archive
    planned = PlannedArchive(
        product=product,
        label=label,
        component=archive.component,
        version=archive.version or label,
        platform=archive.platform,
        variant=archive.variant_name,
        relative_path=archive.relative_path,
        sha256=archive.sha256,
        size=archive.size,
        urls=tuple(folder.join(archive.relative_path) for folder in folders),
        prefix=Path(),
        offered=offers(selection.component),
        is_main=selection.component.key == main_component(manifest.components.keys(), manifest.product),
        manifest_sha256=manifest.sha256,
        manifest_date=manifest.date,
        tree=archive.tree,
        parts=query.parts,
    )
    return replace(planned, prefix=_prefix(layout, planned))


def _prefix(layout: Layout, archive: PlannedArchive) -> Path:
    levels = (archive.product, archive.label, archive.component, archive.platform, archive.variant)
    return layout.prefix(*levels, parts=archive.parts)
