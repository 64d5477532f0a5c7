"""A lock yields a plan: what will be fetched, from where, to where, and why, without asking any source. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..asking import LATEST
from ..errors import (
    ComponentNotFound,
    LabelNotFound,
    LockError,
    ManifestError,
    NotAvailableError,
    UsageError,
    VersionNotFound,
)
from ..locations import NVIDIA_ROOT
from ..locations import folders as folders_in
from ..manifest.choosing import choose
from ..manifest.labels import ReleaseLabel, newest
from ..manifest.targets import Platform
from ..notes import log
from ..parts import reasons_for
from ..planner import Plan, PlannedArchive
from .names import spelled, version_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..layout import Layout
    from ..locations import Folder
    from ..manifest.choosing import Query
    from .model import Lock, LockedArchive, LockedRelease

__all__ = ["held_releases", "named_release", "plans", "whole_plans"]


def plans(
    lock: Lock,
    labels: Sequence[ReleaseLabel | None],
    queries: Sequence[Query],
    *,
    origin: str,
    layout: Layout,
    folders: Mapping[str, Sequence[Folder]],
    product: str | None = None,
) -> tuple[Plan, ...]:
    """Return a plan for each release of ``lock`` that ``labels`` name; without labels, for each that has a fit.

    ``queries`` choose among what is locked, by the rules that hold for a manifest. One that names no component means
    those that were chosen when the lock was made, else the main one. ``folders`` are by name of the release where
    its archives may lie; without any, the URLs in the lock count. Raises ``NotAvailableError`` or ``UsageError``.
    """
    held = held_releases(lock, product, origin)
    found = [(named_release(held, label, origin), label) for label in labels]
    named = {release.name: (release, label) for release, label in found}
    made: list[Plan] = []
    refusals: list[NotAvailableError] = []
    for release, label in named.values() or [(release, None) for release in held]:
        planning = _Planning(release, origin=origin, layout=layout, folders=folders.get(release.name, ()))
        try:
            version = label and version_in(label.text, ReleaseLabel.parse(release.label))
            made.append(planning.plan([replace(query, version=version) for query in queries]))
        except NotAvailableError as error:
            if named:
                raise
            refusals.append(error)
    if not made:
        raise refusals[0]
    for refusal in refusals:
        log.warning("%s; left out", refusal)
    return tuple(made)


def whole_plans(
    lock: Lock, *, origin: str, layout: Layout, folders: Mapping[str, Sequence[Folder]]
) -> tuple[Plan, ...]:
    """Return a plan for each release of ``lock`` with all its archives, whatever they are for; else as ``plans``."""
    return tuple(
        _Planning(release, origin=origin, layout=layout, folders=folders.get(release.name, ())).whole()
        for release in lock.releases
    )


def held_releases(lock: Lock, product: str | None, origin: str) -> list[LockedRelease]:
    """Return the releases of a product, of any without one; ``LabelNotFound`` where there is none."""
    held = [release for release in lock.releases if product in (None, release.product)]
    if not held:
        raise _absent(lock.releases, str(product), origin)
    return held


def _absent(held: Sequence[LockedRelease], wanted: str, origin: str) -> LabelNotFound:
    has = [release.name for release in held]
    cause = f"the lock has no {wanted}; it has {', '.join(has)}"
    return LabelNotFound(cause, phase="lock", where=origin, available=has)


def named_release(held: Sequence[LockedRelease], label: ReleaseLabel | None, origin: str) -> LockedRelease:
    """Return the release that ``label`` names: as found, as asked, or the newest that it covers.

    Raises ``LabelNotFound``, or ``UsageError`` where several products have it.
    """
    text = LATEST if label is None else label.text
    found = [
        release
        for product in dict.fromkeys(release.product for release in held)
        if (release := _of_product([each for each in held if each.product == product], label, text))
    ]
    if not found:
        raise _absent(held, text, origin)
    if len(found) > 1:
        names = ", ".join(release.name for release in found)
        raise UsageError(f"{text} may be {names}; choose with --product", phase="lock", where=origin)
    return found[0]


def _of_product(held: Sequence[LockedRelease], label: ReleaseLabel | None, text: str) -> LockedRelease | None:
    of_label = {ReleaseLabel.parse(release.label): release for release in held}
    names = label.candidates() if label is not None else ()
    covered = newest(of_label, within=label) if label is None or label.is_partial else None
    exact = [of_label[name] for name in names if name in of_label]
    as_asked = [release for release in held if release.asked == text]
    return next(iter((*exact, *as_asked, *([of_label[covered]] if covered else []))), None)


class _Planning:
    """One release of a lock becoming a plan."""

    def __init__(
        self, release: LockedRelease, *, origin: str, layout: Layout, folders: Sequence[Folder]
    ) -> None:
        self._release = release
        self._origin = origin
        self._layout = layout
        self._folders = folders

    def whole(self) -> Plan:
        return self._plan_of([self._planned(archive) for archive in self._release.archives])

    def plan(self, queries: Sequence[Query]) -> Plan:
        chosen: dict[str, PlannedArchive] = {}
        reasons: dict[str, None] = {}
        refusals: list[NotAvailableError] = []
        for component, query in self._wishes(queries):
            try:
                archive, why = self._chosen(component, query)
            except NotAvailableError as error:
                error.where = error.where or self._origin
                if query.component is not None:
                    raise
                refusals.append(error)
            else:
                chosen[archive.relative_path] = self._planned(archive, parts=query.parts)
                reasons.update(dict.fromkeys((*why, *reasons_for(query.parts))))
        if not chosen:
            raise refusals[0]
        for refusal in refusals:
            log.warning("%s; left out", refusal)
        return self._plan_of(chosen.values(), reasons)

    def _plan_of(self, archives: Iterable[PlannedArchive], reasons: Iterable[str] = ()) -> Plan:
        release = self._release
        return Plan(
            product=release.product,
            label=release.label,
            manifest_sha256=release.manifest.sha256,
            manifest_origin=release.manifest.url or ReleaseLabel.parse(release.label).manifest_name,
            manifest_data=None,
            layout=self._layout,
            archives=tuple(archives),
            reasons=(f"release {release.label}: as {self._origin} has it", *reasons),
            lock=self._origin,
        )

    def _wishes(self, queries: Sequence[Query]) -> Iterator[tuple[str, Query]]:
        """Yield each query for each component that it means."""
        release = self._release
        main = [name for name, component in release.components.items() if component.main]
        for query in queries:
            meant = (query.component,) if query.component else release.chosen.component or main
            if not meant:
                raise UsageError(
                    f"{release.name} has no main component among {', '.join(release.components)}; "
                    "choose with --component, here or when it is locked",
                    phase="choose",
                    where=self._origin,
                )
            yield from ((component, query) for component in meant)

    def _chosen(self, component: str, query: Query) -> tuple[LockedArchive, tuple[str, ...]]:
        """Choose one archive of a component; the refusals are those of a manifest."""
        release = self._release
        archives = [archive for archive in release.archives if archive.component == component]
        if not archives:
            held = sorted({archive.component for archive in release.archives})
            cause = f"the lock has no {component!r:.60} of {release.name}; it has {', '.join(held)}"
            raise ComponentNotFound(cause, available=held)
        offers: dict[Platform, list[str | None]] = {}
        for archive in archives:
            offers.setdefault(Platform(archive.platform), []).append(archive.variant)
        choice = choose(query, offers, subject=f"{component} {release.label} in the lock")
        place = (component, choice.platform, choice.variant)
        (archive,) = (each for each in archives if each.place == place)
        if query.version is not None and query.version.text != archive.version:
            cause = f"the lock holds {spelled(place)} {archive.version}, not {query.version}"
            raise VersionNotFound(cause, available=sorted({each.version for each in archives}))
        return archive, choice.reasons

    def _planned(self, archive: LockedArchive, *, parts: tuple[str, ...] = ()) -> PlannedArchive:
        release = self._release
        component = release.components[archive.component]
        levels = (release.product, release.label, *archive.place)
        return PlannedArchive(
            product=release.product,
            label=release.label,
            component=archive.component,
            version=archive.version,
            platform=archive.platform,
            variant=archive.variant,
            relative_path=archive.relative_path,
            sha256=archive.sha256,
            size=archive.size,
            urls=self._urls(archive),
            prefix=self._layout.prefix(*levels, parts=parts),
            offered={Platform(name): names for name, names in component.offered.items()},
            is_main=component.main,
            manifest_sha256=release.manifest.sha256,
            manifest_date=release.manifest.date,
            tree=archive.tree,
            parts=parts,
        )

    def _urls(self, archive: LockedArchive) -> tuple[str, ...]:
        """Return where to get it: from the sources given, else from where the lock found it, else from NVIDIA."""
        if not self._folders and archive.url is not None:
            return (archive.url,)
        urls: list[str] = []
        refusals: list[ManifestError] = []
        for folder in self._folders or folders_in(NVIDIA_ROOT, self._release.product):
            try:
                urls.append(folder.join(archive.relative_path))
            except ManifestError as error:
                # Of the two places in a directory, a climbing path may leave one and not the other.
                refusals.append(error)
        if not urls:
            raise LockError(refusals[0].cause, where=self._origin) from refusals[0]
        return tuple(urls)
