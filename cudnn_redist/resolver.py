"""A label and sources -> the manifest: kept in the root, or read from the first source that has it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .asking import LATEST
from .blame import Failures
from .errors import LabelNotFound, ManifestChanged, ManifestError, OfflineError, RedistError, TransferError
from .locations import Folder, redacted
from .manifest.labels import ReleaseLabel, label_of, newest
from .manifest.models import Manifest
from .notes import log
from .prefix.installed import find_prefixes
from .prefix.keeping import kept_manifests
from .source.base import NoIndex
from .source.local import is_there

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .layout import Layout
    from .source.sources import Sources

__all__ = ["Resolved", "Resolver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A manifest, the label it goes by, and the folders to get its archives from, likeliest first.

    ``kept``: it was not read from a source, but is the one kept of an installed label.
    """

    label: ReleaseLabel
    manifest: Manifest
    folders: tuple[Folder, ...]
    kept: bool = False


class Resolver:
    """Answers labels from ``folders`` (in order) and from what ``layout``'s root keeps."""

    def __init__(self, sources: Sources, folders: Sequence[Folder], layout: Layout, product: str) -> None:
        self.sources = sources
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
        covers, which costs one index request (offline: the newest installed). The manifest kept of an installed
        label is used unless ``refresh``; ``pin`` is the sha256 that the manifest must have. Raises ``LabelNotFound``,
        ``ManifestChanged``, ``ManifestError`` or ``TransferError``.
        """
        pin = pin.lower() if pin is not None else None
        kept = None if asked is None or refresh else self._kept(asked, pin=pin)
        try:
            resolved = kept or self._from_sources(asked, fresh=refresh, pin=pin)
        except TransferError as error:
            found = None if refresh else self._kept_instead(asked, error, pin=pin)
            if found is None:
                raise
            return found
        self._tell_change(resolved)
        return resolved

    def elsewhere(self) -> Iterator[Manifest]:
        """Yield the other manifests at hand without a request: those kept here, those of directory sources."""
        kept = [path.as_uri() + "/" for path in self.layout.kept_manifests(self._product).glob("*")]
        local = [folder for folder in self._folders if folder.local]
        for folder in (*(Folder(url=url, tree=url) for url in kept), *local):
            with suppress(NoIndex, TransferError):
                for label in self.sources.local.read_labels(folder.url):
                    with suppress(RedistError):
                        yield self._read(folder, label)

    def _from_sources(self, asked: ReleaseLabel | None, *, fresh: bool, pin: str | None) -> Resolved:
        if asked is not None:
            try:
                return self._exact(asked, fresh=fresh, pin=pin)
            except (LabelNotFound, TransferError) as error:
                if not asked.is_partial:
                    raise
                log.info("%s", error)
        folder, labels = self._index(asked)
        found = newest(labels, within=asked)
        if found is None:
            there = f"; the newest is {labels[-1]}" if labels else ""
            raise LabelNotFound(
                f"no release of {asked or self._product} listed{there}",
                where=redacted(self._folders[0].url),
                available=[label.text for label in labels],
            )
        log.warning("label %s: the newest listed is %s", asked or LATEST, found)
        return self._exact(found, fresh=fresh, pin=pin, first=folder)

    def _exact(
        self, asked: ReleaseLabel, *, fresh: bool, pin: str | None, first: Folder | None = None
    ) -> Resolved:
        failures = Failures()
        for folder in _with_first(first, self._folders):
            for label in asked.candidates():
                if failures.has_lost(folder):
                    break
                try:
                    manifest = self._read(folder, label, fresh=fresh)
                    manifest.require_pinned(pin)
                except LabelNotFound:
                    continue
                except (TransferError, ManifestError, ManifestChanged) as error:
                    failures.note(error, folder)
                    continue
                return Resolved(label=label, manifest=manifest, folders=self._places(label, folder))
        failures.raise_first()
        raise LabelNotFound(
            f"no such release label as {asked}; a component's version is not a label, "
            "and `list` shows the labels there are",
            where=redacted(self._folders[0].join(asked.manifest_name)),
        )

    def _read(self, folder: Folder, label: ReleaseLabel, *, fresh: bool = False) -> Manifest:
        url = folder.join(label.manifest_name)
        data = self.sources.of(folder).read_manifest(url, fresh=fresh)
        return Manifest.parse(data, origin=redacted(url), label=label)

    def _index(self, asked: ReleaseLabel | None) -> tuple[Folder, tuple[ReleaseLabel, ...]]:
        """Return the labels of the first folder that lists one of those ``asked`` for, else of the first at all."""
        failures = Failures()
        listed: list[tuple[Folder, tuple[ReleaseLabel, ...]]] = []
        for folder in self._folders:
            if failures.has_lost(folder):
                continue
            try:
                labels = self.sources.of(folder).read_labels(folder.index_url)
            except NoIndex:
                continue
            except TransferError as error:
                failures.note(error, folder)
                continue
            if newest(labels, within=asked):
                return folder, labels
            if labels:
                listed.append((folder, labels))
        if listed:
            return listed[0]
        failures.raise_first()
        raise LabelNotFound(
            "this source lists no releases; give a full label such as 9.27.0",
            where=redacted(self._folders[0].url),
        )

    def _kept(self, asked: ReleaseLabel, *, pin: str | None) -> Resolved | None:
        """Return the manifest kept of an installed label, if it came from one of these folders."""
        for label in asked.candidates():
            if not any(find_prefixes(self.layout, product=self._product, label=label.text)):
                continue
            for folder in self._folders:
                manifest = self._kept_manifest(redacted(folder.join(label.manifest_name)), label)
                if manifest is not None and pin in (None, manifest.sha256):
                    places = self._places(label, folder)
                    return Resolved(label=label, manifest=manifest, folders=places, kept=True)
        return None

    def _places(self, label: ReleaseLabel, found: Folder | None = None) -> tuple[Folder, ...]:
        """Return where the archives of ``label`` may lie: ``found``, where its manifest was, before other sources.

        Paths count from the manifest, so that of a source that has it, only the folder that has it matters; of a
        directory that is known without a request.
        """
        known = {} if found is None else {found.tree: found}
        for folder in self._folders:
            if folder.local and is_there(folder.join(label.manifest_name)):
                known.setdefault(folder.tree, folder)
        places = [folder for folder in self._folders if known.get(folder.tree, folder) == folder]
        remote = [folder for folder in places if folder.tree in known or not folder.local]
        return _with_first(found, remote or places)

    def _kept_instead(
        self, asked: ReleaseLabel | None, error: TransferError, *, pin: str | None
    ) -> Resolved | None:
        """Return what is kept, and say so, where ``error`` is all that the sources answer.

        A partial label has such an answer only offline: elsewhere the newest is the newest that the source has.
        """
        found = self._kept_from_elsewhere(asked, pin=pin) if asked is not None else None
        if found is not None:
            log.warning("%s; what is kept of %s from another source has to do", error, found.label)
            return found
        partial = asked is None or asked.is_partial
        newest_here = self._newest_here(asked) if partial and isinstance(error, OfflineError) else None
        if newest_here in (None, asked):
            return None
        log.warning("%s; label %s: the newest installed is %s", error, asked or LATEST, newest_here)
        return self.manifest(newest_here, pin=pin)

    def _newest_here(self, asked: ReleaseLabel | None) -> ReleaseLabel | None:
        """Return the newest installed label that ``asked`` covers and whose manifest is kept."""
        prefixes = find_prefixes(self.layout, product=self._product)
        kept = self.layout.kept_manifests(self._product).glob("*/*.json")
        installed = {ReleaseLabel.parse(prefix.record.label) for prefix in prefixes}
        return newest(installed & {label_of(path.name) for path in kept}, within=asked)

    def _kept_from_elsewhere(self, asked: ReleaseLabel, *, pin: str | None) -> Resolved | None:
        for label in asked.candidates():
            for _, manifest in kept_manifests(self.layout, self._product, label):
                if pin in (None, manifest.sha256):
                    places = self._places(label)
                    return Resolved(label=label, manifest=manifest, folders=places, kept=True)
        return None

    def _kept_manifest(self, url: str, label: ReleaseLabel) -> Manifest | None:
        try:
            data = self.layout.kept_manifest(self._product, url).read_bytes()
            return Manifest.parse(data, origin=url, label=label)
        except (OSError, ManifestError):
            return None

    def _tell_change(self, resolved: Resolved) -> None:
        """Say so when a label no longer means what it meant when it was installed (C71)."""
        before = self._kept_manifest(resolved.manifest.origin, resolved.label)
        if before is not None and before.sha256 != resolved.manifest.sha256:
            log.warning(
                "label %s changed at its source: the manifest's sha256 was %s and is %s",
                resolved.label,
                before.sha256,
                resolved.manifest.sha256,
            )


def _with_first(first: Folder | None, folders: Sequence[Folder]) -> tuple[Folder, ...]:
    """Return ``folders`` with ``first`` before the others, where there is one."""
    return (*((first,) if first else ()), *(folder for folder in folders if folder != first))
