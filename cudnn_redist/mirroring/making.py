"""``mirror``: releases of a source -> a directory that is such a source itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import MAIN_PRODUCT, plain_product, several
from ..errors import UsageError
from ..locking.making import choice
from ..notes import log
from ..opening import opened
from ..prefix.space import disk_errors
from ..source.base import TransferOptions
from .filling import Filling
from .index_page import index_page
from .licences import licence_texts
from .releases import releases
from .tree import Listed, MirrorTree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ..source.sources import Sources
    from .releases import Release
    from .repacking import Repacking

__all__ = ["Mirrored", "mirror"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """What a mirror holds now of one call's releases.

    ``fetched`` are the archives that were not there before, ``pruned`` the files that went, as paths below ``path``;
    ``absent`` is how many archives each manifest names that are not in the mirror.
    """

    path: Path
    labels: tuple[str, ...]
    fetched: tuple[str, ...]
    pruned: tuple[str, ...]
    absent: dict[str, int]


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
    so. ``landed`` is called from several threads with a place and its bytes so far. A manifest, and then the index
    page, are written when the archives it names are there. Raises
    ``UsageError`` (``dest`` is somebody's), ``NotAvailableError``, ``ManifestError``, ``TransferError``,
    ``IntegrityError``, ``ArchiveError`` (one that cannot be repacked) or ``PrefixError``.
    """
    wanted = several(labels)
    if not wanted:
        raise UsageError("no label to mirror")
    product = plain_product(MAIN_PRODUCT if product is None else product)
    chosen = choice(component=component, platform=platform, cuda=cuda)
    tree = MirrorTree(Path(dest))
    with opened(product, sources, root=root, transfer=transfer) as resolver:
        found = releases(resolver, wanted, product=product, chosen=chosen)
        archives = {
            tree.place(product, each.relative_path): each for release in found for each in release.archives()
        }
        bringing = _bringing(
            lambda into: Filling(into, resolver.sources, transfer or TransferOptions(), landed), tree, repack
        )
        fetched = bringing.bring(archives)
        texts = {
            place: data
            for release in found
            for place, data in _texts(tree, release, bringing, resolver.sources).items()
        }
    with disk_errors(tree.path, phase="mirror"):
        _write(tree, texts)
        gone = _pruned(tree, product, keep={*map(bringing.place, archives), *texts}) if prune else ()
        _write_pages(tree, product)
    return Mirrored(
        path=tree.path,
        labels=tuple(release.label for release in found),
        fetched=fetched,
        pruned=gone,
        absent={release.label: release.absent for release in found},
    )


def _pruned(tree: MirrorTree, product: str, *, keep: Collection[str]) -> tuple[str, ...]:
    home = f"{product}/"
    gone = [place for place in tree.files if place.startswith(home) and place not in keep]
    return tree.remove(place for place in gone if not place.endswith("/index.html"))


def _bringing(
    filling: Callable[[MirrorTree], Filling], tree: MirrorTree, repack: int | None
) -> Filling | Repacking:
    if repack is None:
        return filling(tree)
    # It is zstandard that this imports.
    from .repacking import Repacking

    return Repacking(tree, filling, level=repack)


def _texts(
    tree: MirrorTree, release: Release, bringing: Filling | Repacking, sources: Sources
) -> dict[str, bytes]:
    """Return the small files of a release, place -> bytes: licence texts, and the manifest."""
    texts = {
        tree.place(release.product, path): data for path, data in licence_texts(release, sources).items()
    }
    manifest = tree.place(release.product, release.manifest_name)
    before = tree.files.get(manifest)
    data = bringing.manifest(release)
    as_published = data == release.manifest.data
    if as_published and before is not None and before.sha256 != release.manifest.sha256:
        log.warning("release %s was published anew: its manifest has changed", release.label)
    return {**texts, manifest: data}


def _write(tree: MirrorTree, texts: dict[str, bytes]) -> None:
    tree.announce(
        {
            place: Listed(sha256=hashlib.sha256(data).hexdigest(), size=len(data))
            for place, data in texts.items()
        }
    )
    for place, data in texts.items():
        tree.write(place, data)


def _write_pages(tree: MirrorTree, product: str) -> None:
    """Write the index of the product's folder, from what is listed, and the index of the mirror."""
    home = f"{product}/redist/"
    below = {place.removeprefix(home) for place in tree.files if place.startswith(home)} - {"index.html"}
    names = {f"{name}/" if rest else name for name, _, rest in (each.partition("/") for each in below)}
    products = sorted({place.split("/")[0] for place in tree.files if place.count("/") > 1})
    pages = {
        f"{home}index.html": index_page(f"{product} redist", sorted(names)),
        "index.html": index_page("cuDNN redist mirror", [f"{name}/redist/" for name in products]),
    }
    _write(tree, pages)
