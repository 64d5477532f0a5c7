"""Every odd shape of a manifest, folded once into the regular one that the models describe.

The shapes, as seen in 207 of NVIDIA's manifests (levels below a component):

- flat: platform -> archive
- nested: platform -> variant -> archive
- hybrid: variants and, beside them, the fields of one more archive (cudnn 9.27.0, windows-arm64)
- oldest: version -> platform -> path, without digests (nvidia-driver 450.80.02)

Keys are told apart by what they hold, never by their order and hardly by their name: components, platforms
and variants are open sets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .faults import fault
from .targets import is_plain_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from .faults import Place

__all__ = ["Folded", "fold"]

_MANIFEST_FIELDS: Final = frozenset({"release_date", "release_label", "release_product"})
_COMPONENT_FIELDS: Final = frozenset({"name", "license", "license_path", "version", "cuda_variant"})
_ARCHIVE_FIELDS: Final = frozenset({"relative_path", "sha256", "md5", "size"})

_VERSION: Final = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,10})+")
# In the oldest shape a path is told from a string beside the platforms (release_date) by how it ends.
_ARCHIVE_NAME: Final = re.compile(r".+\.(?:tar(?:\.[a-z0-9]{2,4})?|tgz|zip)", re.DOTALL)

_Object = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class Folded:
    """A manifest in the regular shape (component -> platform -> archives), unknown fields as ``extra``.

    ``tree`` is what the models validate. ``places`` leads from component, platform and index of an archive
    back to its place in the document. ``faults`` are those of the shape alone.
    """

    tree: _Object
    places: dict[tuple[str, str, int], Place] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def fold(document: _Object) -> Folded:
    """Fold a manifest's JSON object. What cannot be placed is a fault, what is not known is kept."""
    components = {key: node for key, node in document.items() if _is_component(node)}
    fields, extra = _split(document, _MANIFEST_FIELDS, taken=components)
    folded = Folded(tree={**fields, "extra": extra, "components": {}})
    for key, node in components.items():
        folded.tree["components"][key] = _ComponentFold(folded, key).fold(node)
    if not components:
        folded.faults.append("no component in it, so this is no manifest")
    return folded


class _ComponentFold:
    """One component being folded: its archives come from several levels of the document."""

    def __init__(self, folded: Folded, key: str) -> None:
        self._folded = folded
        self._key = key
        self._platforms: dict[str, list[_Object]] = {}
        self._platform_extra: dict[str, _Object] = {}
        self._seen: set[tuple[str, str | None]] = set()

    def fold(self, node: _Object) -> _Object:
        if "relative_path" in node:
            self._fault((self._key, "relative_path"), "an archive outside any platform")
        releases = {key: below for key, below in node.items() if _is_release(key, below)}
        rest = {key: below for key, below in node.items() if key not in releases}
        platforms = {key: below for key, below in rest.items() if _is_platform(key, below)}
        fields, extra = _split(rest, _COMPONENT_FIELDS, taken=platforms)
        for key, below in platforms.items():
            self._add_platform((self._key, key), below, fields.get("version"))
        # The newest release speaks for the component, and the component's own fields for themselves.
        for version in sorted(releases, key=_numbers, reverse=True):
            release_fields, release_extra = self._add_release(version, releases[version])
            fields = {"version": version} | release_fields | fields
            # Added one by one: to copy what there is, once a release, takes minutes for a hostile manifest.
            for key, value in release_extra.items():
                extra.setdefault(key, value)
        if any(self._platforms.values()):
            self._check_name((self._key,))
        found = {"platforms": self._platforms, "platform_extra": self._platform_extra}
        return {**fields, "key": self._key, **found, "extra": extra}

    def _add_release(self, version: str, node: _Object) -> tuple[_Object, _Object]:
        """Take the platforms below a version key; return the fields and unknown fields beside them."""
        paths = {key: {"relative_path": below} for key, below in node.items() if _is_path(key, below)}
        platforms = paths | {key: below for key, below in node.items() if _is_platform(key, below)}
        for key, below in platforms.items():
            self._add_platform((self._key, version, key), below, version)
        return _split(node, _COMPONENT_FIELDS, taken=platforms)

    def _add_platform(self, place: Place, node: _Object, version: object) -> None:
        platform = str(place[-1])
        variants = {key: below for key, below in node.items() if _is_variant(key, below)}
        own = {key: value for key, value in node.items() if key not in variants}
        self._platforms.setdefault(platform, [])
        for key, below in variants.items():
            self._check_name((*place, key))
            self._add_archive((*place, key), platform, key, below, version)
        if _is_archive(node):
            self._add_archive(place, platform, None, own, version)
        elif own:
            self._platform_extra.setdefault(platform, {}).update(own)
        if self._platforms[platform]:
            self._check_name(place)

    def _add_archive(
        self, place: Place, platform: str, variant: str | None, node: _Object, version: object
    ) -> None:
        if (platform, variant) in self._seen:
            self._fault(place, "a second archive for this platform")
        self._seen.add((platform, variant))
        archives = self._platforms[platform]
        self._folded.places[self._key, platform, len(archives)] = place
        fields, extra = _split(node, _ARCHIVE_FIELDS)
        keys = {"component": self._key, "platform": platform, "variant": variant}
        said = version if isinstance(version, str) else None
        archives.append({**fields, **keys, "component_version": said, "extra": extra})

    def _check_name(self, place: Place) -> None:
        """Require a key above an archive to be fit for what it becomes: a directory of a prefix."""
        if not is_plain_name(str(place[-1])):
            self._fault(place, "this key cannot be a directory name (lower-case letters, digits, . _ -)")

    def _fault(self, place: Place, what: str) -> None:
        self._folded.faults.append(fault(place, what))


def _split(node: _Object, known: Collection[str], *, taken: Collection[str] = ()) -> tuple[_Object, _Object]:
    """Part the known fields from the unknown ones; ``taken`` are keys that are neither."""
    fields = {key: value for key, value in node.items() if key in known and key not in taken}
    extra = {key: value for key, value in node.items() if key not in known and key not in taken}
    return fields, extra


def _is_component(node: object) -> bool:
    """Tell a component: it holds an archive, or describes itself as one whose archives are all gone."""
    if not isinstance(node, dict):
        return False
    below = node.items()
    if "relative_path" in node or any(_is_release(*item) or _holds_archive(item[1]) for item in below):
        return True
    described = "name" in node or "license" in node or any(_is_platform(*item) for item in below)
    return described and isinstance(node.get("version"), str)


def _is_release(key: str, node: object) -> bool:
    """Tell a level of the oldest shape: a version that holds platforms, or nothing any more."""
    if not isinstance(node, dict) or not _VERSION.fullmatch(key):
        return False
    return not node or any(_is_path(*item) or _is_platform(*item) for item in node.items())


def _is_platform(key: str, node: object) -> bool:
    """Tell a platform: it holds an archive, or it is empty and so a platform without archives."""
    if key in _COMPONENT_FIELDS or not isinstance(node, dict):
        return False
    return _holds_archive(node) or (is_plain_name(key) and all(below == {} for below in node.values()))


def _holds_archive(node: object) -> bool:
    return _is_archive(node) or (isinstance(node, dict) and any(map(_is_archive, node.values())))


def _is_variant(key: str, node: object) -> bool:
    return key not in _ARCHIVE_FIELDS and _is_archive(node)


def _is_archive(node: object) -> bool:
    """Tell an archive by any field of it; one that lacks the path is a fault and no unknown object."""
    return isinstance(node, dict) and not _ARCHIVE_FIELDS.isdisjoint(node)


def _is_path(key: str, value: object) -> bool:
    return key not in _COMPONENT_FIELDS and isinstance(value, str) and bool(_ARCHIVE_NAME.fullmatch(value))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
