"""From a manifest and a query to one archive, or an error that lists what does exist.

The rules on platforms and variants are in ``choosing``; this adds the component, the version inside and the
manifests at hand that have what this one lacks. No pydantic is imported: values come in, values go out.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import ComponentNotFound, PlatformNotFound, UsageError, VariantNotFound, VersionNotFound
from .choosing import choose

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .choosing import Choice, Query
    from .labels import ReleaseLabel
    from .models import Archive, Component, Manifest
    from .targets import Platform

__all__ = ["Selection", "archive_of", "main_component", "offers", "select"]

_MOST_LISTED: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The chosen archive with its component, and why it was chosen: each reason a line for a reader."""

    component: Component
    archive: Archive
    reasons: tuple[str, ...]


def select(manifest: Manifest, query: Query, *, elsewhere: Iterable[Manifest] = ()) -> Selection:
    """Choose one archive.

    ``elsewhere`` are other manifests of the product that are at hand without a request. They are read only
    where this one lacks the platform or the variant, to name the newest that has both.

    ``ComponentNotFound``, ``PlatformNotFound``, ``VariantNotFound``, ``VersionNotFound`` with what is
    ``available``; ``UsageError`` where the answer would be a guess.
    """
    component = _component(manifest, query)
    subject = f"{component.key} {manifest.label}" if manifest.label else component.key
    try:
        choice = choose(query, offers(component), subject=subject)
    except (PlatformNotFound, VariantNotFound) as refusal:
        last = _last_with(query, component.key, elsewhere)
        if last is None:
            raise
        raise type(refusal)(f"{refusal.cause}; {last}", available=refusal.available) from refusal
    archive = archive_of(component, choice.platform, choice.variant)
    _check_version(manifest, component, archive, query.version)
    return Selection(component=component, archive=archive, reasons=choice.reasons)


def offers(component: Component) -> dict[Platform, tuple[str | None, ...]]:
    """Return the variant names of every platform with archives: what ``choose`` needs, and a record keeps."""
    return {
        platform: tuple(dict.fromkeys(archive.variant_name for archive in archives))
        for platform, archives in component.platforms.items()
        if archives
    }


def archive_of(component: Component, platform: Platform, variant: str | None) -> Archive:
    """Return an offered archive; where a key and a flat entry's file name say the same variant, the key is meant."""
    named = [each for each in component.platforms[platform] if each.variant_name == variant]
    return min(named, key=lambda archive: archive.variant is None)


def _component(manifest: Manifest, query: Query) -> Component:
    known = manifest.components
    key = query.component or main_component(known.keys(), manifest.product)
    if key is None:
        raise UsageError(
            f"no main component among {_listed(known)}; choose one with --component", phase="choose"
        )
    if key not in known:
        raise ComponentNotFound(
            f"no component {key!r:.60}; there are {_listed(known)}", available=tuple(known)
        )
    return known[key]


def main_component(keys: Collection[str], product: str | None) -> str | None:
    """Return the component that bears the product's name; ``None`` where it would be a guess.

    ``release_product`` may say more than the name (``cudnn-v8-9-cuda-12``) or be absent; then the name is the
    one that all the others extend (``cudnn``, ``cudnn_jit``, ``cudnn_samples``).
    """
    if product in keys:
        return product
    named = [key for key in keys if product and product.startswith(f"{key}-")]
    if named:
        return max(named, key=len)
    return next((key for key in keys if all(f"{other}_".startswith(f"{key}_") for other in keys)), None)


def _check_version(
    manifest: Manifest, component: Component, archive: Archive, wanted: ReleaseLabel | None
) -> None:
    # A manifest of exactly the wanted name is the right one, whatever versions it holds (cutensor 2.0.2.1:
    # 2.0.2.5).
    if wanted is None or wanted == manifest.label:
        return
    version = archive.version or component.version
    if version == wanted.text:
        return
    held = [
        f"{other.platform}/{other.variant_name}"
        for other in component.archives()
        if other.version == wanted.text
    ]
    raise VersionNotFound(
        f"{manifest.label or manifest.origin} holds {component.key} {version}, not {wanted}"
        + (f", which it has for {_listed(held)}" if held else ""),
        available=sorted({other.version for other in component.archives() if other.version}),
    )


def _last_with(query: Query, key: str, elsewhere: Iterable[Manifest]) -> str | None:
    """Return where the wanted pair was last seen, as ``last in 9.20.0 (cuda12)``."""
    found: dict[ReleaseLabel, Choice] = {}
    for manifest in elsewhere:
        if manifest.label is not None and key in manifest.components:
            with suppress(PlatformNotFound, VariantNotFound, UsageError):
                found[manifest.label] = choose(query, offers(manifest.components[key]))
    if not found:
        return None
    label = max(found)
    return f"last in {label} ({found[label].variant or found[label].platform})"


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
