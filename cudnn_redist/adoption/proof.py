"""Whether a manifest names an archive at hand: then it is installed as if it had been fetched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..catalog import manifest, plan
from ..errors import DigestMismatch, NotAvailableError
from ..manifest.labels import ReleaseLabel
from ..prefix.keeping import kept_manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..digest import Expected
    from ..layout import Layout
    from ..manifest.models import Archive, Component, Manifest
    from ..planner import Plan
    from ..source.base import TransferOptions

__all__ = ["proving_plan"]

_PRODUCT = "cudnn"


def proving_plan(
    path: Path,
    expected: Expected,
    version: str,
    *,
    layout: Layout,
    sources: Sequence[str],
    transfer: TransferOptions | None,
) -> Plan | None:
    """Return the plan of installing the file at ``path``, where a manifest of this release names its sha256.

    Asked are ``sources``, or else the manifests that the root keeps, which costs no request. ``DigestMismatch``
    where a manifest has another digest for the file's name, and none has this one.
    """
    of_this_name: list[tuple[Manifest, Archive]] = []
    for witness in _witnesses(version, layout, sources, transfer):
        for found, component, archive in witness.archives():
            if archive.sha256 == expected.sha256:
                return witness.plan(component, archive, path)
            if archive.relative_path.rpartition("/")[2] == path.name:
                of_this_name.append((found, archive))
    for found, archive in of_this_name:
        raise DigestMismatch(
            f"is not the archive that {found.origin} has by this name",
            phase="adopt",
            where=path,
            expected=archive.sha256,
            actual=expected.sha256,
        )
    return None


def _witnesses(
    version: str, layout: Layout, sources: Sequence[str], transfer: TransferOptions | None
) -> Iterator[_Witness]:
    for label in ReleaseLabel.parse(version).candidates():
        words = {"root": layout.root, "product": _PRODUCT, "transfer": transfer}
        if sources:
            yield _Witness(label=label, words={**words, "sources": sources}, kept=False)
            continue
        for path, _ in kept_manifests(layout, _PRODUCT, label):
            # A directory of kept manifests is as good a source as any.
            yield _Witness(label=label, words={**words, "sources": [str(path.parent)]}, kept=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Witness:
    """Something that may have the manifest of a label, by the ``words`` with which to ask for it."""

    label: ReleaseLabel
    words: dict[str, Any]
    kept: bool

    def archives(self) -> Iterator[tuple[Manifest, Component, Archive]]:
        """Yield all that the manifest names; nothing where there is none."""
        try:
            found = manifest(self.label.text, **self.words)
        except NotAvailableError:
            return
        for component in found.components.values():
            yield from ((found, component, archive) for archive in component.archives())

    def plan(self, component: Component, archive: Archive, path: Path) -> Plan:
        """Return the plan of this archive alone, with the file at ``path`` in place of any URL."""
        made = plan(
            self.label.text,
            component=component.key,
            platform=archive.platform,
            cuda=archive.variant_name,
            **self.words,
        )
        (planned,) = made.archives
        return replace(
            made,
            archives=(replace(planned, urls=(path.as_uri(),)),),
            from_kept=self.kept or made.from_kept,
        )
