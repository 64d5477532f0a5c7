"""A label and a channel -> the manifest: NVIDIA's content-addressed server, or another of that shape."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from .errors import ChannelNotFound, LabelNotFound, ManifestChanged, NotAvailableError, TransferError
from .locations import Folder, redacted
from .manifest.channels import read_channels, read_releases
from .manifest.labels import newest
from .manifest.models import Manifest
from .resolver import Resolved, Resolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .errors import RedistError
    from .layout import Layout
    from .manifest.channels import ChannelRelease
    from .manifest.labels import ReleaseLabel
    from .source.sources import Sources

__all__ = ["ChannelResolver", "channels_of"]


class ChannelResolver(Resolver):
    """Answers labels from one ``channel`` of the servers whose product folders are ``folders``, in order.

    What the channel's list promises of a manifest, size and sha256, is enforced.
    """

    def __init__(
        self, sources: Sources, folders: Sequence[Folder], layout: Layout, product: str, channel: str
    ) -> None:
        super().__init__(sources, folders, layout, product)
        self._channel = channel

    def labels(self) -> tuple[ReleaseLabel, ...]:
        """Return the channel's labels, oldest first, of the first server that can be asked."""
        _, releases = self._listed(fresh=False)
        return tuple(release.label for release in releases)

    def _from_sources(self, asked: ReleaseLabel | None, *, fresh: bool, pin: str | None) -> Resolved:
        folder, releases = self._listed(fresh=fresh)
        release = self._picked(asked, releases, folder)
        manifest = self._read_released(folder, release, fresh=fresh)
        manifest.require_pinned(pin)
        # The archives' paths count from the manifest.
        beside = folder.join(release.manifest).partition("?")[0].rpartition("/")[0] + "/"
        places = (Folder(url=beside, tree=folder.tree, query=folder.query),)
        return Resolved(label=release.label, manifest=manifest, folders=places)

    def _newest_here(self, asked: ReleaseLabel | None) -> ReleaseLabel | None:  # noqa: ARG002 - the base's
        """Return nothing: what is installed does not tell whether this channel has it."""
        return None

    def _listed(self, *, fresh: bool) -> tuple[Folder, tuple[ChannelRelease, ...]]:
        """Return the releases of the first server that has the channel, else raise what the first one had to say."""
        failures: list[RedistError] = []
        for folder in self._folders:
            try:
                return folder, self._releases(folder, fresh=fresh)
            except (TransferError, NotAvailableError) as error:
                failures.append(error)
        raise failures[0]

    def _releases(self, folder: Folder, *, fresh: bool) -> tuple[ChannelRelease, ...]:
        url = folder.join("releases.json")
        try:
            data = self.sources.of(folder).read_manifest(url, fresh=fresh)
        except LabelNotFound as error:
            raise LabelNotFound(
                f"no channel of this source has {self._product}", phase="channel", where=redacted(url)
            ) from error
        known = read_releases(data, origin=redacted(url))
        if self._channel not in known:
            raise ChannelNotFound(
                f"no channel {self._channel} of {self._product}; there are {', '.join(sorted(known)) or 'none'}",
                where=redacted(url),
                available=sorted(known),
            )
        return known[self._channel]

    def _picked(
        self, asked: ReleaseLabel | None, releases: Sequence[ChannelRelease], folder: Folder
    ) -> ChannelRelease:
        """Return the release of exactly this label, else of its three-part form, else the newest that it covers."""
        known = {release.label: release for release in releases}
        for label in asked.candidates() if asked is not None else ():
            if label in known:
                return known[label]
        found = newest(known, within=asked)
        if found is None:
            raise LabelNotFound(
                f"no release of {asked or self._product} in channel {self._channel}",
                where=redacted(folder.url),
                available=[label.text for label in known],
            )
        return known[found]

    def _read_released(self, folder: Folder, release: ChannelRelease, *, fresh: bool) -> Manifest:
        url = folder.join(release.manifest)
        data = self.sources.of(folder).read_manifest(url, fresh=fresh)
        found = hashlib.sha256(data).hexdigest()
        if len(data) != release.size or found != release.sha256:
            raise ManifestChanged(
                f"the manifest has {len(data)} bytes with sha256 {found}, channel {self._channel} promises "
                f"{release.size} with {release.sha256}",
                where=redacted(url),
                expected=release.sha256,
                actual=found,
            )
        return Manifest.parse(data, origin=redacted(url), label=release.label)


def channels_of(sources: Sources, folders: Sequence[Folder]) -> dict[str, tuple[str, ...]]:
    """Return the products of every channel that the first server of ``folders`` that answers lists.

    Raises ``ChannelNotFound`` where none has channels, ``TransferError`` where none can be asked.
    """
    failures: list[RedistError] = []
    for folder in folders:
        url = folder.join("channels.json")
        try:
            return read_channels(sources.of(folder).read_manifest(url), origin=redacted(url))
        except LabelNotFound:
            failures.append(ChannelNotFound("this source has no channels", where=redacted(url)))
        except TransferError as error:
            failures.append(error)
    raise failures[0]
