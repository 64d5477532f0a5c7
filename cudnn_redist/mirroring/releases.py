"""Labels, ranges and a choice -> the releases to mirror, each with the files that belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..asking import parse_label
from ..digest import Expected
from ..errors import NotAvailableError
from ..locking.release import described
from ..manifest.labels import ReleaseLabel
from ..notes import log
from .ranges import LabelRange, is_range, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..locations import Folder
    from ..locking.model import Chosen, LockedRelease
    from ..manifest.models import Manifest
    from ..resolver import Resolver

__all__ = ["Release", "WantedArchive", "releases"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedArchive:
    """One archive: its manifest's path, what its bytes must be, and the URLs to try in order."""

    relative_path: str
    expected: Expected
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release: its manifest, what was chosen of it, and the folders where its files lie."""

    product: str
    manifest: Manifest
    locked: LockedRelease
    folders: tuple[Folder, ...]

    @property
    def label(self) -> str:
        """The release's label."""
        return self.locked.label

    @property
    def manifest_name(self) -> str:
        """The manifest's file name."""
        return ReleaseLabel.parse(self.label).manifest_name

    def archives(self) -> Iterator[WantedArchive]:
        """Yield the chosen archives."""
        for each in self.locked.archives:
            yield WantedArchive(
                relative_path=each.relative_path,
                expected=Expected(sha256=each.sha256, size=each.size),
                urls=tuple(folder.join(each.relative_path) for folder in self.folders),
            )

    def licences(self) -> dict[str, tuple[str, ...]]:
        """Return the licence texts of the chosen components: path -> the URLs to try."""
        chosen = {each.component for each in self.locked.archives}
        paths = [self.manifest.components[name].license_path for name in sorted(chosen)]
        return {path: tuple(folder.join(path) for folder in self.folders) for path in paths if path}


def releases(
    resolver: Resolver, wanted: Sequence[str], *, product: str, chosen: Chosen
) -> tuple[Release, ...]:
    """Return the releases that labels and ranges mean, each once, with what ``chosen`` picks of them.

    Manifests are read anew: a mirror is of its source, and not of what this machine remembers. A label must have all
    of the choice; of a range, each release gives what it has of it, and one of them must have some. Raises
    ``UsageError``, ``NotAvailableError``, ``ManifestError`` or ``TransferError``.
    """
    picking = _Picking(resolver, product, chosen)
    for text in wanted:
        if is_range(text):
            picking.take_range(text)
        else:
            picking.take(text, parse_label(text))
    return tuple(picking.found.values())


class _Picking:
    """Releases by label, as they are found."""

    def __init__(self, resolver: Resolver, product: str, chosen: Chosen) -> None:
        self.found: dict[str, Release] = {}
        self._resolver = resolver
        self._product = product
        self._chosen = chosen

    def take(self, asked: str, label: ReleaseLabel | None, *, partly: bool = False) -> None:
        resolved = self._resolver.manifest(label, refresh=True)
        if resolved.label.text in self.found:
            return
        locked = described(
            resolved.manifest,
            product=self._product,
            asked=asked,
            label=resolved.label,
            chosen=self._chosen,
            folder=resolved.folders[0],
            partly=partly,
        )
        self.found[resolved.label.text] = Release(
            product=self._product, manifest=resolved.manifest, locked=locked, folders=resolved.folders
        )

    def take_range(self, text: str) -> None:
        labels = within(self._resolver.labels(), LabelRange.parse(text), text=text)
        refusals: list[NotAvailableError] = []
        for label in labels:
            try:
                self.take(label.text, label, partly=True)
            except NotAvailableError as error:
                refusals.append(error)
        if len(refusals) == len(labels):
            raise refusals[0]
        for refusal in refusals:
            log.warning("%s; left out", refusal)
