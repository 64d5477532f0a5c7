"""The lock file: schema 1.

    {"schema": 1, "releases": [RELEASE, ...]}

RELEASE     ``product``; ``asked``, the label as the user gave it (``9.27``); ``label``, the release that was found
            (``9.27.0``); ``chosen``, what of it was asked for: ``component``, ``platform`` and ``cuda``, each a list,
            empty for all; ``manifest``; ``components``, by name; ``archives``.
manifest    ``url`` (``null`` where nobody knows it any more), ``channel`` (of a content-addressed server that has it;
            ``null`` of the classic tree), ``sha256``, ``size`` and ``date`` (as published).
component   ``main``: whether it is the one that is meant without a name; ``offered``: platform -> variants, all that
            the manifest has, locked or not (the record of a prefix holds the same).
archive     ``component``, ``version``, ``platform``, ``variant`` (``null`` where it has none), ``relative_path`` (to
            the manifest), ``url``, ``sha256``, ``size`` (bytes), and ``tree``: the digest of the unpacked tree, where
            an installed prefix or a repacked mirror told it. ``url``, ``size`` and ``tree`` may be ``null``.

UTF-8 (ASCII as written), keys sorted, two blanks a level, a newline at the end; releases in order of product and
label, archives of component, platform and variant. Nothing in it depends on time or machine, so the same input gives
the same bytes. No URL holds a login or a query. A field that is not listed here is an error, as is another schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotations at run time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from ..errors import LockError, ManifestError, UsageError
from ..manifest.faults import fault, summary
from ..manifest.labels import ReleaseLabel
from ..manifest.reading import read_object
from .fields import (  # noqa: TC001 - pydantic reads the annotations at run time
    Asked,
    Cuda,
    Label,
    Name,
    Path,
    PlatformWord,
    Product,
    Sha256,
    Size,
    Text,
    Url,
)
from .names import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "SCHEMA",
    "Chosen",
    "Lock",
    "LockedArchive",
    "LockedComponent",
    "LockedManifest",
    "LockedRelease",
    "lockable",
]

SCHEMA: Final = 1
"""Raised when an older version could no longer read what this one writes."""

# All of NVIDIA's manifests that were seen make 4 MB of locks.
_LARGEST: Final = 64 * 2**20


class _Locked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Chosen(_Locked):
    """What of a release was asked for; empty is everything. ``cuda`` are versions: ``12``, ``12.8``."""

    component: tuple[Name, ...] = ()
    platform: tuple[PlatformWord, ...] = ()
    cuda: tuple[Cuda, ...] = ()


class LockedManifest(_Locked):
    """The manifest: ``size`` in bytes, ``date`` as published; of a ``channel``, or of the classic tree."""

    url: Url | None
    channel: Text | None = None
    sha256: Sha256
    size: Size | None
    date: Text | None


class LockedComponent(_Locked):
    """What a manifest offers of a component, locked or not; ``None`` is an archive without a variant."""

    main: bool
    offered: Mapping[Name, tuple[Name | None, ...]]


class LockedArchive(_Locked):
    """One archive; ``tree`` is the digest of what it unpacks to, where that is known."""

    component: Name
    version: Text
    platform: Name
    variant: Name | None
    relative_path: Path
    url: Url | None
    sha256: Sha256
    size: Size | None
    tree: Sha256 | None = None

    @property
    def place(self) -> tuple[str, str, str | None]:
        """What tells it from the other archives of its release."""
        return (self.component, self.platform, self.variant)

    @property
    def order(self) -> tuple[str, str, str]:
        """Where it stands among the archives of its release."""
        return (self.component, self.platform, self.variant or "")


class LockedRelease(_Locked):
    """One release, as asked and as found."""

    product: Product
    asked: Asked
    label: Label
    chosen: Chosen
    manifest: LockedManifest
    components: Mapping[Name, LockedComponent]
    archives: tuple[LockedArchive, ...]

    @property
    def name(self) -> str:
        """Product and label, as they are told."""
        return f"{self.product} {self.label}"

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if not self.archives:
            raise PydanticCustomError("empty", "archives: none in it")
        for place in _repeated(archive.place for archive in self.archives):
            raise PydanticCustomError("twice", "archives: {place} is there twice", {"place": spelled(place)})
        for archive in self.archives:
            component = self.components.get(archive.component)
            if component is None or archive.variant not in component.offered.get(archive.platform, ()):
                place = {"place": spelled(archive.place)}
                raise PydanticCustomError("unknown", "archives: {place} is not among what is offered", place)
        return self


class Lock(_Locked):
    """Releases of one or several products; a value that compares by its content."""

    schema_: int = Field(alias="schema", default=SCHEMA)
    releases: tuple[LockedRelease, ...]

    @classmethod
    def of(cls, releases: Iterable[LockedRelease]) -> Lock:
        """Return a lock of ``releases``, in the order of the file."""
        return cls(releases=tuple(sorted(releases, key=_order)))

    @classmethod
    def parse(cls, data: bytes, *, origin: str) -> Lock:
        """Read a lock; ``LockError`` naming ``origin`` and every fault where it is damaged or of another schema."""
        try:
            document = read_object(data, origin=origin, what="lock file", limit=_LARGEST)
        except ManifestError as error:
            raise LockError(error.cause, where=origin, faults=error.faults) from error
        schema = document.get("schema")
        if type(schema) is not int or schema != SCHEMA:
            told = f"lock of schema {schema!r:.60}; this version reads schema {SCHEMA}"
            newer = type(schema) is int and schema > SCHEMA
            raise LockError(f"{told}: a newer version is needed" if newer else told, where=origin)
        with lockable(origin):
            return cls.model_validate_json(json.dumps(document))

    def to_bytes(self) -> bytes:
        """Return the file's bytes; the same lock gives the same bytes."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, indent=2, sort_keys=True).encode("ascii") + b"\n"

    def with_releases(self, fresh: Iterable[LockedRelease]) -> Lock:
        """Return this lock with ``fresh`` in the place of those that were asked for, or found, under the same label."""
        fresh = tuple(fresh)
        taken = {(each.product, label) for each in fresh for label in (each.asked, each.label)}
        kept = (r for r in self.releases if taken.isdisjoint({(r.product, r.asked), (r.product, r.label)}))
        return Lock.of((*kept, *fresh))

    def replacing(self, fresh: Mapping[str, LockedRelease]) -> Lock:
        """Return this lock with other releases in the place of those that are named (``LockedRelease.name``).

        ``UsageError`` where two would be the same.
        """
        releases = [fresh.get(release.name, release) for release in self.releases]
        for name in _repeated(release.name for release in releases):
            asked = " and ".join(release.asked for release in releases if release.name == name)
            raise UsageError(f"{asked} are both {name} now; lock anew, and ask for it once", phase="lock")
        return Lock.of(releases)

    @model_validator(mode="after")
    def _names_nothing_twice(self) -> Self:
        if not self.releases:
            raise PydanticCustomError("empty", "releases: none in it")
        labels = _repeated((each.product, each.label) for each in self.releases)
        asked = _repeated((each.product, each.asked) for each in self.releases)
        for product, label in (*labels, *asked):
            release = {"release": f"{product} {label}"}
            raise PydanticCustomError("twice", "releases: {release} is there twice", release)
        return self


@contextmanager
def lockable(origin: object) -> Iterator[None]:
    """Turn what does not fit into a lock, be it from a lock file or on the way into one, into ``LockError``."""
    try:
        yield
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        faults = [
            _told(each["loc"], "missing" if each["type"] == "missing" else each["msg"]) for each in details
        ]
        raise LockError(summary(faults), where=origin, faults=faults) from error


def _order(release: LockedRelease) -> tuple[str, ReleaseLabel]:
    return (release.product, ReleaseLabel.parse(release.label))


def _repeated(values: Iterable[Any]) -> Iterator[Any]:
    seen = set()
    for value in values:
        if value in seen:
            yield value
        seen.add(value)


def _told(place: tuple[int | str, ...], what: str) -> str:
    return fault(place, what) if place else what
