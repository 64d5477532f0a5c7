"""What a manifest says, as values: a ``Manifest`` of ``Component``s of ``Archive``s."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotations at run time
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import ManifestChanged
from .faults import damaged, fault
from .fields import (  # noqa: TC001 - pydantic reads the annotations at run time
    Hints,
    Label,
    Md5,
    ReadOnly,
    RelativePath,
    Sha256,
    Size,
    Text,
)
from .folding import fold
from .labels import ReleaseLabel, label_of
from .reading import read_object
from .targets import CudaVariant, Platform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .faults import Place
    from .folding import Folded

__all__ = ["Archive", "Component", "Manifest"]

_VERSION_IN_FILE_NAME: Final = re.compile(r"-([0-9]+(?:\.[0-9]+)+)(?:_[a-z0-9.]+)?-archive\.")


class _Published(BaseModel):
    """A frozen value whose unknown fields are kept as published."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    extra: ReadOnly[str, Any]


class Archive(_Published):
    """One archive. ``variant`` is the manifest's own key, ``None`` for a flat entry; ``size`` is in bytes.

    ``component_version`` is what the component says. The archive's own ``version`` may differ: in cudnn
    9.15.0 those for CUDA 12 and CUDA 13 do.
    """

    component: str
    platform: Platform
    variant: str | None
    relative_path: RelativePath
    sha256: Sha256 = None
    md5: Md5 = None
    size: Size = None
    component_version: str | None

    @property
    def file_name(self) -> str:
        """The last part of the path."""
        return self.relative_path.rpartition("/")[2]

    @property
    def version(self) -> str | None:
        """The version in ``<component>-<platform>-<version>[_cuda<N>]-archive.<ext>``, or the component's."""
        match = _VERSION_IN_FILE_NAME.search(self.file_name)
        return match[1] if match else self.component_version

    @property
    def cuda(self) -> CudaVariant | None:
        """The CUDA that the key says, or for a flat entry the file name; ``None`` where neither does."""
        if self.variant is None:
            return CudaVariant.in_file_name(self.relative_path)
        return CudaVariant.of_key(self.variant)

    @property
    def tree(self) -> str | None:
        """The digest of the unpacked tree (``Record.tree``), which the manifest of a repacked mirror promises."""
        promised = self.extra.get("tree")
        return promised if isinstance(promised, str) else None

    @property
    def variant_name(self) -> str | None:
        """The level of a prefix that tells this archive from others of its platform, if one is needed."""
        return self.cuda.name if self.cuda else self.variant


class Component(_Published):
    """One component. A platform without archives is there, but empty: what it holds is not available.

    ``cuda_variant`` is NVIDIA's summary of the variants, as published (``("12", "13")``). It is not always
    complete; the archives are. ``platform_extra`` has the unknown fields beside the variants of a platform.
    """

    key: str
    name: Text = None
    version: Text = None
    license: Text = None
    license_path: Text = None
    cuda_variant: Hints = ()
    platforms: ReadOnly[Platform, tuple[Archive, ...]]
    platform_extra: ReadOnly[Platform, Mapping[str, Any]]

    def archives(self) -> Iterator[Archive]:
        """Iterate over the archives of all platforms."""
        for archives in self.platforms.values():
            yield from archives


class Manifest(_Published):
    """One release. ``data`` are the original bytes, never re-serialised, and ``sha256`` is their digest.

    ``origin`` is where the bytes came from. ``product`` and ``date`` are as published and only told: the
    product is not always the folder's name, the date may be that of a re-publication.
    """

    label: Label = Field(validation_alias="release_label")
    product: Text = Field(default=None, validation_alias="release_product")
    date: Text = Field(default=None, validation_alias="release_date")
    components: ReadOnly[str, Component]
    origin: str
    sha256: str
    data: bytes = Field(repr=False, exclude=True)

    @classmethod
    def parse(cls, data: bytes, *, origin: str, label: ReleaseLabel | None = None) -> Manifest:
        """Return the manifest that ``data`` spells, in any shape NVIDIA has published.

        ``label`` is the one it was asked for by. A manifest without ``release_label`` takes it, or else the
        one in the file name that ``origin`` ends in. ``ManifestError`` names ``origin`` and every fault with
        its place; a ``release_label`` that contradicts ``label`` is one.
        """
        folded = fold(read_object(data, origin=origin))
        faults = folded.faults
        if contradiction := _settle_label(folded.tree, label, origin):
            faults.append(fault(("release_label",), contradiction))
        tree = {**folded.tree, "origin": origin, "sha256": hashlib.sha256(data).hexdigest(), "data": data}
        try:
            manifest = cls.model_validate(tree)
        except ValidationError as error:
            raise damaged([*faults, *_faults_of(error, folded)], origin=origin) from error
        if faults:
            raise damaged(faults, origin=origin)
        return manifest

    def require_pinned(self, sha256: str | None) -> None:
        """Raise ``ManifestChanged`` where this is not the manifest of that digest; ``None`` pins none."""
        if sha256 not in (None, self.sha256):
            raise ManifestChanged(
                f"manifest sha256 is {self.sha256}, pinned to {sha256}",
                where=self.origin,
                expected=sha256,
                actual=self.sha256,
            )

    def archives(self) -> Iterator[Archive]:
        """Iterate over the archives of all components."""
        for component in self.components.values():
            yield from component.archives()

    def versions(self) -> frozenset[str]:
        """Return every version of a component or an archive, against which a four-part label is checked."""
        said = {component.version for component in self.components.values()}
        said |= {archive.version for archive in self.archives()}
        return frozenset(version for version in said if version is not None)


def _settle_label(tree: dict[str, Any], label: ReleaseLabel | None, origin: str) -> str | None:
    """Give the tree a label if it says none; return the contradiction if it says another one."""
    stated = tree.get("release_label")
    if stated is None:
        tree["release_label"] = label or label_of(_file_name(origin))
    elif label and isinstance(stated, str) and stated != label.text:
        return f"{stated!r:.60}, but this was asked for as {label}"
    return None


def _file_name(origin: str) -> str:
    """Return the last part of a URL (without its query) or of a path of either system."""
    return re.split(r"[/\\]", re.split(r"[?#]", origin, maxsplit=1)[0])[-1]


def _faults_of(error: ValidationError, folded: Folded) -> Iterator[str]:
    for details in error.errors(include_url=False, include_context=False, include_input=False):
        what = "missing" if details["type"] == "missing" else details["msg"]
        yield fault(_place(details["loc"], folded), what)


def _place(location: Place, folded: Folded) -> Place:
    """Lead from a value in the folded tree back to its place in the document."""
    match location:
        case ("components", str(key), "platforms", str(platform), int(index), *below):
            return (*folded.places[key, platform, index], *below)
        case ("components", *below):
            return tuple(below)
        case _:
            return location
