"""A label and sources -> the manifest: kept in the root, or read from the first source that has it."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .asking import LATEST
from .errors import LabelNotFound, ManifestChanged, ManifestError, RedistError, TransferError
from .locations import Folder, redacted
from .manifest.labels import ReleaseLabel, newest
from .manifest.models import Manifest
from .prefix.installed import find_prefixes
from .source.base import NoIndex, Source, TransferOptions
from .source.directory import DirectorySource
from .source.http import HttpSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .layout import Layout

__all__ = ["Resolved", "Resolver", "Sources"]

_log = logging.getLogger("cudnn_redist")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A manifest, the label it goes by, and the folders to get its archives from, likeliest first."""

    label: ReleaseLabel
    manifest: Manifest
    folders: tuple[Folder, ...]


class Sources:
    """The sources of one run, by scheme; a context manager that holds their connections."""

    def __init__(self, options: TransferOptions) -> None:
        self.http = HttpSource(options)
        self.directory = DirectorySource()

    def __enter__(self) -> Sources:
        return self

    def __exit__(self, *exc: object) -> None:
        self.http.__exit__(*exc)

    def of(self, folder: Folder) -> Source:
        """Return who serves ``folder``."""
        return self.directory if folder.local else self.http


class Resolver:
    """Answers labels from ``folders`` (in order) and from what ``layout``'s root keeps."""

    def __init__(self, sources: Sources, folders: Sequence[Folder], layout: Layout, product: str) -> None:
        self._sources = sources
        self._folders = tuple(folders)
        self.layout = layout
        self._product = product

    def labels(self) -> tuple[ReleaseLabel, ...]:
        """Return the labels of the first source that lists any, oldest first; ``LabelNotFound`` without one."""
        _, labels = self._index(None)
        return labels

    def manifest(
        self, asked: ReleaseLabel | None, *, refresh: bool = False, pin: str | None = None
    ) -> Resolved:
        """Return the manifest that ``asked`` (``None``: the latest) names.

        An exact name comes first, then a four-part label's three-part form, then the newest that a partial label
        covers, which costs one index request. The manifest kept of an installed label is used unless ``refresh``;
        ``pin`` is the sha256 that the manifest must have. Raises ``LabelNotFound``, ``ManifestChanged``,
        ``ManifestError`` or ``TransferError``.
        """
        kept = None if asked is None or refresh else self._kept(asked, pin=pin)
        resolved = kept or self._from_sources(asked, fresh=refresh)
        if pin is not None and resolved.manifest.sha256 != pin.lower():
            raise ManifestChanged(
                f"manifest sha256 is {resolved.manifest.sha256}, pinned to {pin.lower()}",
                where=redacted(resolved.manifest.origin),
                expected=pin.lower(),
                actual=resolved.manifest.sha256,
            )
        self._tell_change(resolved)
        return resolved

    def elsewhere(self) -> Iterator[Manifest]:
        """Yield the other manifests at hand without a request: those kept here, those of directory sources."""
        kept = self.layout.kept_manifests(self._product)
        local = [folder for folder in self._folders if folder.local]
        at_hand = [Folder(url=kept.absolute().as_uri() + "/", tree=""), *local]
        for folder in at_hand:
            with suppress(NoIndex, TransferError):
                for label in self._sources.directory.read_labels(folder.url):
                    with suppress(RedistError):
                        yield self._read(folder, label)

    def _from_sources(self, asked: ReleaseLabel | None, *, fresh: bool) -> Resolved:
        if asked is not None:
            try:
                return self._exact(asked, fresh=fresh)
            except LabelNotFound:
                if not asked.is_partial:
                    raise
        folder, labels = self._index(asked)
        found = newest(labels, within=asked)
        if found is None:
            raise LabelNotFound(
                f"no release of {asked or self._product} listed",
                where=redacted(self._folders[0].url),
                available=[label.text for label in labels],
            )
        _log.warning("label %s: the newest listed is %s", asked or LATEST, found)
        return self._exact(found, fresh=fresh, first=folder)

    def _exact(self, asked: ReleaseLabel, *, fresh: bool, first: Folder | None = None) -> Resolved:
        unreachable: TransferError | None = None
        for folder in _with_first(first, self._folders):
            for label in asked.candidates():
                try:
                    manifest = self._read(folder, label, fresh=fresh)
                except LabelNotFound:
                    continue
                except TransferError as error:
                    unreachable = unreachable or error
                    break
                return Resolved(label=label, manifest=manifest, folders=_with_first(folder, self._folders))
        if unreachable is not None:
            raise unreachable
        tried = redacted(self._folders[0].join(asked.manifest_name))
        raise LabelNotFound(
            f"no such release label as {asked}; a component's version is not a label, "
            "and `list` shows the labels there are",
            where=tried,
        )

    def _read(self, folder: Folder, label: ReleaseLabel, *, fresh: bool = False) -> Manifest:
        url = folder.join(label.manifest_name)
        data = self._sources.of(folder).read_manifest(url, fresh=fresh)
        return Manifest.parse(data, origin=redacted(url), label=label)

    def _index(self, asked: ReleaseLabel | None) -> tuple[Folder, tuple[ReleaseLabel, ...]]:
        """Return the labels of the first folder that lists one of those ``asked`` for, else of the first at all."""
        listed: list[tuple[Folder, tuple[ReleaseLabel, ...]]] = []
        for folder in self._folders:
            with suppress(NoIndex):
                labels = self._sources.of(folder).read_labels(folder.url)
                if newest(labels, within=asked):
                    return folder, labels
                if labels:
                    listed.append((folder, labels))
        if not listed:
            raise LabelNotFound(
                "this source lists no releases; give a full label such as 9.27.0",
                where=redacted(self._folders[0].url),
            )
        return listed[0]

    def _kept(self, asked: ReleaseLabel, *, pin: str | None) -> Resolved | None:
        for label in asked.candidates():
            if not any(find_prefixes(self.layout, product=self._product, label=label.text)):
                continue
            manifest = self._kept_manifest(label)
            if manifest is not None and (pin is None or manifest.sha256 == pin.lower()):
                return Resolved(label=label, manifest=manifest, folders=self._folders)
        return None

    def _kept_manifest(self, label: ReleaseLabel) -> Manifest | None:
        path = self.layout.kept_manifest(self._product, label.text)
        try:
            return Manifest.parse(path.read_bytes(), origin=str(path), label=label)
        except (OSError, ManifestError):
            return None

    def _tell_change(self, resolved: Resolved) -> None:
        """Say so when a label no longer means what it meant when it was installed (C71)."""
        before = self._kept_manifest(resolved.label)
        if before is not None and before.sha256 != resolved.manifest.sha256:
            _log.warning(
                "label %s changed at its source: the manifest's sha256 was %s and is %s",
                resolved.label,
                before.sha256,
                resolved.manifest.sha256,
            )


def _with_first(first: Folder | None, folders: Sequence[Folder]) -> tuple[Folder, ...]:
    """Return ``folders`` with ``first`` before the others, where there is one."""
    return (*((first,) if first else ()), *(folder for folder in folders if folder != first))
