"""The rules of choosing a platform and a CUDA variant, on names alone.

They hold for what a manifest offers and for what an installed prefix remembers of its manifest, so nothing
here needs the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import PlatformNotFound, UsageError, VariantNotFound
from .targets import HOST_INDEPENDENT, CudaVariant, Platform

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import TypeAlias

    from .labels import ReleaseLabel

__all__ = [
    "Choice",
    "Offers",
    "Query",
    "choose",
    "choose_platform",
    "choose_variant",
    "cudas_among",
    "serving",
]

Offers: TypeAlias = "Mapping[Platform, Collection[str | None]]"
"""The variant names of each platform, ``None`` for an archive without a variant; no names, no archive."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is wanted of a manifest, and why: the reasons are told with every choice and refusal.

    ``component``: ``None`` is the manifest's main one. ``platforms``: those the wish may mean, two for
    ``linux/arm64`` alone. ``cuda``: ``None`` is the newest that is offered and that ``runnable``, the newest
    CUDA of the host's driver (``None``: unknown), allows. ``version``: a four-part label that the manifest
    must hold. ``parts``: those of the archive that are wanted, sorted; none is all of it.
    """

    component: str | None
    platforms: tuple[Platform, ...]
    platform_reason: str
    cuda: CudaVariant | None
    cuda_reason: str
    runnable: CudaVariant | None = None
    version: ReleaseLabel | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A platform, the name of its variant (``None``: none), and the reasons, each a line to be told."""

    platform: Platform
    variant: str | None
    reasons: tuple[str, ...]


def choose(query: Query, offers: Offers, *, subject: str = "this release") -> Choice:
    """Choose from what a component offers; ``subject`` names that component in refusals.

    ``PlatformNotFound`` or ``VariantNotFound`` with what is ``available``; ``UsageError`` where the wish fits
    two platforms.
    """
    offered = {platform: names for platform, names in offers.items() if names}
    able = _able(query, offered)
    platform = choose_platform(query, able, subject=subject)
    variant = _variant_name(query, offered[platform], subject=f"{subject} on {platform}")
    reasons = [_platform_reason(query, platform, narrowed=len(able) < len(offered))]
    if variant_reason := _variant_reason(query, variant):
        reasons.append(variant_reason)
    return Choice(platform=platform, variant=variant, reasons=tuple(reasons))


def choose_platform(
    query: Query, offered: Collection[Platform], *, subject: str = "this release"
) -> Platform:
    """Return the wanted platform, or one that serves every host, from those that have archives."""
    found = [platform for platform in query.platforms if platform in offered]
    if len(found) > 1:
        raise UsageError(
            f"the platform ({query.platform_reason}) may be {' or '.join(found)}; choose one with --platform",
            phase="choose",
        )
    found += [platform for platform in HOST_INDEPENDENT if platform in offered]
    if not found:
        wish = " or ".join(query.platforms) or "this host"
        available = sorted(offered)
        raise PlatformNotFound(
            f"{subject} has no archive for {wish} ({query.platform_reason}); it has {_listed(available)}",
            available=available,
        )
    return found[0]


def choose_variant(
    query: Query, offered: Collection[CudaVariant], *, subject: str = "this platform"
) -> CudaVariant:
    """Return the variant for the wanted CUDA, or the newest that the driver runs.

    A bare major takes only the archive for the bare major. A CUDA with a minor takes the archive for that
    minor, else the one for the bare major.
    """
    chosen = _fitting(query, offered)
    if chosen is not None:
        return chosen
    names = [variant.name for variant in sorted(offered)]
    wish = "any CUDA"
    if query.cuda:
        wish = f"CUDA {query.cuda.version} ({query.cuda_reason})"
    elif query.runnable:
        wish = f"CUDA {query.runnable.version} or older, which the driver here runs"
    raise VariantNotFound(f"{subject} has no archive for {wish}; it has {_listed(names)}", available=names)


def serving(cuda: CudaVariant, offered: Collection[CudaVariant]) -> CudaVariant | None:
    """Return the variant that serves a wanted ``cuda``, by the rule of ``choose_variant``; ``None`` where none does."""
    return next((variant for variant in cuda.alternatives if variant in offered), None)


def cudas_among(names: Collection[str | None]) -> set[CudaVariant]:
    """Return the CUDAs that names of variants say."""
    return {cuda for name in names if name and (cuda := CudaVariant.of_key(name))}


def _fitting(query: Query, offered: Collection[CudaVariant]) -> CudaVariant | None:
    if query.cuda is not None:
        return serving(query.cuda, offered)
    limit = query.runnable
    runnable = [variant for variant in offered if limit is None or variant.within(limit)]
    newest = max(runnable, default=None)
    if newest is None:
        return None
    bare = CudaVariant(newest.major)
    return bare if bare in runnable else newest


def _able(query: Query, offered: Offers) -> Collection[Platform]:
    """Return the offered platforms that may be meant.

    Of two wanted ones, that which alone has the wanted CUDA: no Jetson build of its own exists for CUDA 13.
    """
    if query.cuda is None:
        return offered.keys()
    able = {platform for platform in query.platforms if _serves(query, offered.get(platform, ()))}
    if len(able) != 1:
        return offered.keys()
    return [platform for platform in offered if platform in able or platform not in query.platforms]


def _serves(query: Query, names: Collection[str | None]) -> bool:
    cudas = cudas_among(names)
    return _fitting(query, cudas) is not None if cudas else bool(names)


def _variant_name(query: Query, names: Collection[str | None], *, subject: str) -> str | None:
    if cudas := cudas_among(names):
        return choose_variant(query, cudas, subject=subject).name
    # Archives that say nothing of CUDA serve every CUDA, as long as there is one answer.
    if None in names or len(names) == 1:
        return None if None in names else next(iter(names))
    available = sorted(name for name in names if name)
    raise VariantNotFound(
        f"{subject} has only {_listed(available)}, which no CUDA picks from", available=available
    )


def _platform_reason(query: Query, platform: Platform, *, narrowed: bool) -> str:
    if platform not in query.platforms:
        return f"platform {platform}: serves any host"
    alone = ""
    if narrowed and query.cuda:
        alone = f", and the only one of {_listed(query.platforms)} with CUDA {query.cuda.version}"
    return f"platform {platform}: {query.platform_reason}{alone}"


def _variant_reason(query: Query, variant: str | None) -> str | None:
    if variant is None:
        return "no CUDA variant: one archive serves every CUDA" if query.cuda else None
    if CudaVariant.of_key(variant) is None:
        return f"{variant}: the only archive"
    if query.cuda is None:
        limit = query.runnable
        which = f"newest that the driver runs (CUDA {limit.version})" if limit else "newest offered"
        return f"{variant}: {which}, {query.cuda_reason}"
    serves = "" if query.cuda.name == variant else f"serves CUDA {query.cuda.version}, "
    return f"{variant}: {serves}{query.cuda_reason}"


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) or "none"
