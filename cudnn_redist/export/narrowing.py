"""A lock narrowed to what an export is of. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..asking import parse_label
from ..errors import ComponentNotFound, PlatformNotFound, VariantNotFound
from ..locking.model import Chosen, Lock
from ..locking.names import version_in
from ..locking.planning import held_releases, named_release
from ..manifest.choosing import cudas_among, serving
from ..manifest.labels import ReleaseLabel
from ..manifest.targets import HOST_INDEPENDENT, CudaVariant, parse_platform

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ..locking.model import LockedArchive, LockedRelease

__all__ = ["narrowed"]


def narrowed(
    lock: Lock, labels: Sequence[str], chosen: Chosen, *, product: str | None = None, origin: str
) -> Lock:
    """Return the releases of ``lock`` that ``labels`` name (without any: all), each with its chosen archives.

    Of components the chosen ones, else those that were chosen when the lock was made, else the main one; of
    platforms and CUDAs the chosen ones, else all. CUDA 12.8 takes ``cuda12.8``, else ``cuda12``; what serves every CUDA
    or every host goes along. Raises ``NotAvailableError`` for a part of the choice that a release does not have.
    """
    held = held_releases(lock, product, origin)
    named = {named_release(held, parse_label(text), origin).name: text for text in labels}
    return Lock.of(
        _Narrowing(release, chosen, named.get(release.name), origin).release()
        for release in held
        if not labels or release.name in named
    )


class _Narrowing:
    """One release of a lock and a choice."""

    def __init__(self, release: LockedRelease, chosen: Chosen, asked: str | None, origin: str) -> None:
        self._release = release
        self._chosen = chosen
        self._version = asked and version_in(asked, ReleaseLabel.parse(release.label))
        self._origin = origin

    def release(self) -> LockedRelease:
        archives = self._of_cudas(self._of_platforms(self._of_components()))
        before = self._release.chosen
        chosen = Chosen(
            component=self._chosen.component or before.component,
            platform=self._chosen.platform or before.platform,
            cuda=self._chosen.cuda or before.cuda,
        )
        return self._release.model_copy(update={"archives": tuple(archives), "chosen": chosen})

    def _of_components(self) -> list[LockedArchive]:
        release = self._release
        version = self._version.text if self._version else None
        archives = [each for each in release.archives if version in (None, each.version)]
        has = sorted({each.component for each in archives})
        main = [name for name, each in release.components.items() if each.main and name in has]
        wanted = self._chosen.component or release.chosen.component or main or has
        missing = [name for name in wanted if name not in has]
        if missing or not archives:
            raise ComponentNotFound(
                f"the lock has no {', '.join(missing) or version} of {release.name}; it has {', '.join(has) or 'none'}",
                where=self._origin,
                available=has,
            )
        return [each for each in archives if each.component in wanted]

    def _of_platforms(self, archives: list[LockedArchive]) -> list[LockedArchive]:
        has = {each.platform for each in archives}
        wanted = set(has) if not self._chosen.platform else {*map(str, HOST_INDEPENDENT)}
        for text in self._chosen.platform:
            meant = {*parse_platform(text), *HOST_INDEPENDENT}
            if has.isdisjoint(meant):
                raise PlatformNotFound(
                    f"the lock has nothing of {self._release.name} for {text}; it has {', '.join(sorted(has))}",
                    where=self._origin,
                    available=sorted(has),
                )
            wanted |= meant
        return [each for each in archives if each.platform in wanted]

    def _of_cudas(self, archives: list[LockedArchive]) -> list[LockedArchive]:
        cudas = [CudaVariant.asked(text) for text in self._chosen.cuda]
        if not cudas:
            return archives
        wanted = {
            (each.component, each.platform): _serving(cudas, cudas_among(_variants(archives, each)))
            for each in archives
        }
        found = [
            each
            for each in archives
            if each.variant is None or each.variant in wanted[each.component, each.platform]
        ]
        offered = cudas_among({each.variant for each in archives})
        for cuda in cudas:
            if offered and serving(cuda, offered) is None:
                has = [each.name for each in sorted(offered)]
                raise VariantNotFound(
                    f"the lock has nothing of {self._release.name} for CUDA {cuda.version}; it has {', '.join(has)}",
                    where=self._origin,
                    available=has,
                )
        return found


def _variants(archives: Iterable[LockedArchive], like: LockedArchive) -> set[str | None]:
    return {each.variant for each in archives if each.place[:2] == like.place[:2]}


def _serving(cudas: Iterable[CudaVariant], offered: Collection[CudaVariant]) -> set[str]:
    return {each.name for cuda in cudas if (each := serving(cuda, offered))}
