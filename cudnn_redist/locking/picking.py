"""From a manifest and a choice to the archives that belong into a lock. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ComponentNotFound, PlatformNotFound, VariantNotFound, VersionNotFound
from ..manifest.choosing import cudas_among, serving
from ..manifest.selection import archive_of, offers
from ..manifest.targets import HOST_INDEPENDENT, CudaVariant, parse_platform

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ..errors import NotAvailableError
    from ..manifest.labels import ReleaseLabel
    from ..manifest.models import Archive, Component, Manifest
    from ..manifest.targets import Platform
    from .model import Chosen

__all__ = ["Picked", "pick"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The archives of a choice, and an error for each part of the choice that found nothing."""

    archives: tuple[Archive, ...]
    missing: tuple[NotAvailableError, ...]


def pick(manifest: Manifest, chosen: Chosen, *, version: ReleaseLabel | None = None) -> Picked:
    """Return every archive that fits ``chosen`` (empty: all), and ``version``, a four-part label, where it is given.

    The rules are those of a fetch: CUDA 12.8 takes ``cuda12.8``, else ``cuda12``; what has no CUDA variant serves
    every CUDA, and what serves every host goes along with any platform.
    """
    picking = _Picking(manifest, chosen)
    fitting = tuple(picking.archives())
    missing = tuple(picking.missing(fitting))
    archives = tuple(each for each in fitting if version is None or each.version == version.text)
    if fitting and not archives:
        held = sorted({each.version for each in fitting if each.version})
        cause = f"{manifest.label} holds {', '.join(held)}, not {version}"
        missing = (*missing, VersionNotFound(cause, available=held))
    return Picked(archives=archives, missing=missing)


class _Picking:
    """One choice beside one manifest."""

    def __init__(self, manifest: Manifest, chosen: Chosen) -> None:
        self._manifest = manifest
        self._chosen = chosen
        self._platforms = {text: parse_platform(text) for text in chosen.platform}
        self._cudas = {text: CudaVariant.asked(text) for text in chosen.cuda}
        names = chosen.component or tuple(manifest.components)
        self._components = [manifest.components[name] for name in names if name in manifest.components]

    def archives(self) -> Iterator[Archive]:
        """Yield the archives that fit."""
        for component, platform, names in self._offered():
            wanted = self._variants(names)
            yield from (archive_of(component, platform, name) for name in names if name in wanted)

    def missing(self, archives: Collection[Archive]) -> Iterator[NotAvailableError]:
        """Yield what the choice names and none of the ``archives`` answers, the likeliest reason first."""
        known = tuple(self._manifest.components)
        for name in self._chosen.component:
            if name not in known:
                cause = f"{self._manifest.label} has no component {name!r:.60}; there are {', '.join(known)}"
                yield ComponentNotFound(cause, available=known)
        yield from self._missing_platforms({archive.platform for archive in archives})
        yield from self._missing_cudas()
        for name in {*self._chosen.component} - {archive.component for archive in archives}:
            cause = f"{self._manifest.label} has nothing of {name} for this choice"
            yield ComponentNotFound(cause, available=known)

    def _missing_platforms(self, found: set[Platform]) -> Iterator[NotAvailableError]:
        offered = sorted({platform for component in self._components for platform in offers(component)})
        for text, platforms in self._platforms.items():
            if found.isdisjoint(platforms) and not set(offered).issubset(HOST_INDEPENDENT):
                cause = f"{self._manifest.label} has no archive for {text}; it has {', '.join(offered)}"
                yield PlatformNotFound(cause, available=offered)

    def _missing_cudas(self) -> Iterator[NotAvailableError]:
        offered = {cuda for _, _, names in self._offered() for cuda in cudas_among(names)}
        has = [cuda.name for cuda in sorted(offered)]
        for text, cuda in self._cudas.items():
            if offered and serving(cuda, offered) is None:
                cause = f"{self._manifest.label} has no archive for CUDA {text}; it has {', '.join(has)}"
                yield VariantNotFound(cause, available=has)

    def _offered(self) -> Iterator[tuple[Component, Platform, Collection[str | None]]]:
        """Yield the variants of every component and platform that fit."""
        wanted = {each for platforms in self._platforms.values() for each in platforms}
        for component in self._components:
            for platform, names in offers(component).items():
                if not wanted or platform in wanted or platform in HOST_INDEPENDENT:
                    yield component, platform, names

    def _variants(self, names: Collection[str | None]) -> Collection[str | None]:
        offered = cudas_among(names)
        if not self._cudas or not offered:
            return names
        return {each.name for cuda in self._cudas.values() if (each := serving(cuda, offered))}
