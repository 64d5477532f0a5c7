"""``mirror``: releases of a source -> a directory that is such a source itself."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import plain_product, several
from ..errors import ArchiveError, ArchiveWithdrawn, IntegrityError, ManifestError, RedistError, UsageError
from ..locking.making import choice
from ..notes import log
from ..opening import opened
from ..prefix.space import disk_errors
from ..source.base import TransferOptions
from .filling import Filling
from .index_page import INDEX_NAME, index_pages
from .licences import licence_texts
from .releases import releases
from .tree import Listed, MirrorTree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..manifest.models import Archive
    from ..source.sources import Sources
    from .releases import Release
    from .repacking import Repacking

__all__ = ["Mirrored", "mirror"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """What a mirror holds now of one call's releases.

    ``fetched`` are the archives that were not there before, ``pruned`` the files that went, as paths below ``path``;
    ``absent`` are, by label, the archives that a manifest names and the mirror does not have, as the manifest spells
    them.
    """

    path: Path
    labels: tuple[str, ...]
    fetched: tuple[str, ...]
    pruned: tuple[str, ...]
    absent: dict[str, tuple[str, ...]]


def mirror(
    dest: str | Path,
    labels: str | Sequence[str],
    *,
    product: str | None = None,
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    prune: bool = False,
    repack: int | None = None,
    transfer: TransferOptions | None = None,
    landed: Callable[[str, int], None] = lambda _place, _done: None,
) -> Mirrored:
    """Bring manifests, chosen archives and licence texts of releases into ``dest``, laid out like NVIDIA's root.

    ``labels`` are labels (``9.27.0``, ``9.27``, ``latest``) and ranges (``>=9.10,<10``); without a choice everything
    is meant. What is there is not fetched again; with ``prune`` what of the product was not asked for goes, if a mirror
    made it. ``repack`` is the level of zstd at which archives are stored as ``.tar.zst``, under a manifest that says
    so. ``landed`` is called from several threads with a place and its bytes so far.

    One release after the other: its manifest, and then the index pages, are written when the archives it names are
    there. A release that its source has spoiled or lost an archive of is left incomplete, without its manifest, and
    raised in the end, when the others are there; then nothing is pruned. Raises ``UsageError`` (``dest`` is
    somebody's), ``NotAvailableError``, ``ManifestError``, ``TransferError``, ``IntegrityError``, ``ArchiveError`` (one
    that cannot be repacked) or ``PrefixError``.
    """
    wanted = several(labels)
    if not wanted:
        raise UsageError("no label to mirror")
    product = plain_product(product)
    chosen = choice(component=component, platform=platform, cuda=cuda)
    tree = MirrorTree(Path(dest))
    with opened(product, sources, root=root, transfer=transfer) as resolver:
        found = releases(resolver, wanted, product=product, chosen=chosen)
        making = _Making(tree, resolver.sources, transfer or TransferOptions(), landed, repack)
        for release in found:
            making.add(release)
    return Mirrored(
        path=tree.path,
        labels=tuple(release.label for release in found),
        fetched=making.fetched,
        pruned=making.finished(product, prune=prune),
        absent={release.label: making.absent(release) for release in found},
    )


class _Making:
    """One mirror in the making: what was brought, and what is to stay."""

    def __init__(
        self,
        tree: MirrorTree,
        sources: Sources,
        transfer: TransferOptions,
        landed: Callable[[str, int], None],
        repack: int | None,
    ) -> None:
        self.fetched: tuple[str, ...] = ()
        self._tree = tree
        self._sources = sources
        self._filling: Callable[[MirrorTree], Filling] = lambda into: Filling(into, sources, transfer, landed)
        self._repack = repack
        self._bringing = self._fresh()
        self._promised: dict[str, str] = {}
        self._staying: set[str] = set()
        self._failures: list[RedistError] = []

    def add(self, release: Release) -> None:
        """Bring a release, unless its source fails it: that is remembered, and told in the end."""
        try:
            self._bring(release)
        except (ArchiveWithdrawn, IntegrityError, ManifestError, ArchiveError) as error:
            log.warning("%s %s is left incomplete: %s", release.product, release.label, error)
            self._failures.append(error)
            # What failed once has stopped for good.
            self._bringing = self._fresh()

    def finished(self, product: str, *, prune: bool) -> tuple[str, ...]:
        """Raise the first failure, if any; remove what is to ``prune`` of a product, and return the places of that."""
        if self._failures:
            raise self._failures[0]
        if not prune:
            return ()
        home = f"{product}/"
        gone = [place for place in self._tree.files if place.startswith(home) and place not in self._staying]
        gone = [place for place in gone if not place.endswith(f"/{INDEX_NAME}")]
        with disk_errors(self._tree.path, phase="mirror"):
            self._write_pages(without=gone)
            # Manifests before what they name.
            return self._tree.remove(sorted(gone, key=lambda place: (not place.endswith(".json"), place)))

    def absent(self, release: Release) -> tuple[str, ...]:
        """Return the archives of a release's manifest that are not in the mirror, by the manifest's paths."""
        archives = [each for each in release.manifest.archives() if not self._has(release.product, each)]
        return tuple(archive.relative_path for archive in archives)

    def _bring(self, release: Release) -> None:
        archives = {
            self._tree.place(release.product, each.relative_path): each for each in release.archives()
        }
        for place, each in archives.items():
            if self._promised.setdefault(place, each.expected.sha256) != each.expected.sha256:
                raise ManifestError(
                    f"{each.relative_path} has another sha256 in another manifest, and can be only one of the two",
                    where=release.manifest.origin,
                )
        fetched = self._bringing.bring(archives)
        self.fetched = (*self.fetched, *fetched)
        texts = self._texts(release)
        manifest = self._tree.place(release.product, release.manifest_name)
        as_published = texts[manifest] == release.manifest.data
        self._staying |= {*map(self._bringing.place, archives), *texts}
        with disk_errors(self._tree.path, phase="mirror"):
            self._write(texts, originals={} if as_published else {manifest: release.manifest.sha256})
            self._write_pages()

    def _texts(self, release: Release) -> dict[str, bytes]:
        """Return the small files of a release, place -> bytes: licence texts, and last the manifest."""
        place = self._tree.place
        licences = licence_texts(release, self._sources)
        texts = {place(release.product, path): data for path, data in licences.items()}
        manifest = place(release.product, release.manifest_name)
        before = self._tree.files.get(manifest)
        if before is not None and release.manifest.sha256 not in (before.sha256, before.original):
            log.warning("release %s was published anew: its manifest has changed", release.label)
        return {**texts, manifest: self._bringing.manifest(release)}

    def _write(self, texts: Mapping[str, bytes], *, originals: Mapping[str, str] | None = None) -> None:
        """Write small files; ``originals`` are the sha256 of those that were published with other bytes."""
        known = originals or {}
        told = {
            place: Listed(sha256=hashlib.sha256(data).hexdigest(), size=len(data), original=known.get(place))
            for place, data in texts.items()
        }
        self._tree.announce(told)
        for place, data in texts.items():
            self._tree.write(place, data)
        self._tree.settle(told)

    def _write_pages(self, *, without: Sequence[str] = ()) -> None:
        """Write the page of every directory of files that are here, and remove those of others."""
        with self._tree.turn("pages"):
            listed = [place for place in self._tree.files if place not in set(without)]
            pages = {place for place in listed if f"/{place}".endswith(f"/{INDEX_NAME}")}
            here = [place for place in listed if place not in pages and (self._tree.path / place).is_file()]
            fresh = index_pages(here)
            # A page that somebody else put here stays.
            ours = [place for place in fresh if place in pages or not (self._tree.path / place).exists()]
            self._write({place: fresh[place] for place in ours})
            self._tree.remove(pages - fresh.keys())

    def _has(self, product: str, archive: Archive) -> bool:
        # A path that leaves the mirror was not chosen.
        with suppress(ManifestError):
            place = self._bringing.place(self._tree.place(product, archive.relative_path))
            listed = self._tree.files.get(place)
            known = listed is not None and archive.sha256 in (listed.sha256, listed.original)
            return known and archive.sha256 is not None and (self._tree.path / place).is_file()
        return False

    def _fresh(self) -> Filling | Repacking:
        if self._repack is None:
            return self._filling(self._tree)
        # It is zstandard that this imports.
        from .repacking import Repacking

        return Repacking(self._tree, self._filling, level=self._repack)
