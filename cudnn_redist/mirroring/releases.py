"""Labels, ranges and a choice -> the releases to mirror, each with the files that belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..asking import parse_label
from ..digest import Expected
from ..locking.release import described
from ..manifest.labels import ReleaseLabel
from .ranges import LabelRange, is_range, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..locations import Folder
    from ..locking.model import Chosen, LockedRelease
    from ..manifest.models import Manifest
    from ..resolver import Resolved, Resolver

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

    @property
    def absent(self) -> int:
        """How many archives of the manifest were not chosen, or cannot be verified."""
        return sum(len(list(each.archives())) for each in self.manifest.components.values()) - len(
            self.locked.archives
        )

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

    Manifests are read anew: a mirror is of its source, and not of what this machine remembers. Raises ``UsageError``,
    ``NotAvailableError``, ``ManifestError`` or ``TransferError``.
    """
    found: dict[str, Release] = {}
    for text, resolved in _resolved(resolver, wanted):
        label = resolved.label
        if label.text in found:
            continue
        folder = resolved.folders[0]
        locked = described(
            resolved.manifest, product=product, asked=text, label=label, chosen=chosen, folder=folder
        )
        found[label.text] = Release(
            product=product, manifest=resolved.manifest, locked=locked, folders=resolved.folders
        )
    return tuple(found.values())


def _resolved(resolver: Resolver, wanted: Sequence[str]) -> Iterator[tuple[str, Resolved]]:
    """Yield what each label names, and each label of a range, with the text that asked for it."""
    for text in wanted:
        if is_range(text):
            for label in within(resolver.labels(), LabelRange.parse(text), text=text):
                yield label.text, resolver.manifest(label, refresh=True)
        else:
            yield text, resolver.manifest(parse_label(text), refresh=True)
