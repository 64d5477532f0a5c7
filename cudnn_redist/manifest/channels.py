"""NVIDIA's content-addressed server: its channels, and the releases of a product in each.

    <host>/bin-archive/release/channels.json              {channel: [{"product": ...}, ...], ...}
    <host>/bin-archive/release/<product>/releases.json    {channel: [{"version": ..., "manifest": <path>,
                                                           "sha256": ..., "size": ...}, ...], ...}

The path counts from the product's folder, and the archives' paths from the manifest: they climb into a pool. These
are the shapes that nvidia-binarchive 0.7.0 reads; fields it does not know are left alone, by it as here.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from .faults import damaged, fault
from .fields import Label, RelativePath, Sha256, Size, Text  # noqa: TC001 - pydantic reads them at run time
from .labels import ReleaseLabel  # noqa: TC001 - the same
from .reading import read_object

__all__ = ["ChannelRelease", "read_channels", "read_releases"]

_T = TypeVar("_T")


def _given(value: _T | None) -> _T:
    if value is None:
        raise PydanticCustomError("missing", "no value")
    return value


class _Listed(BaseModel):
    product: Annotated[Text, AfterValidator(_given)]


class ChannelRelease(BaseModel):
    """One release of a product in one channel: where its manifest is, with digest and size (bytes)."""

    model_config = ConfigDict(frozen=True)

    version: Annotated[Label, AfterValidator(_given)]
    manifest: RelativePath
    sha256: Annotated[Sha256, AfterValidator(_given)]
    size: Annotated[Size, AfterValidator(_given)]

    @property
    def label(self) -> ReleaseLabel:
        """The version, which is the manifest's label."""
        return _given(self.version)


_CHANNELS: Final[TypeAdapter[dict[str, tuple[_Listed, ...]]]] = TypeAdapter(dict[str, tuple[_Listed, ...]])
_RELEASES: Final[TypeAdapter[dict[str, tuple[ChannelRelease, ...]]]] = TypeAdapter(
    dict[str, tuple[ChannelRelease, ...]]
)


def read_channels(data: bytes, *, origin: str) -> dict[str, tuple[str, ...]]:
    """Return the products of each channel, as ``channels.json`` lists them; ``ManifestError`` where it is damaged."""
    channels = _read(_CHANNELS, data, origin, "list of channels")
    return {name: tuple(str(entry.product) for entry in listed) for name, listed in channels.items()}


def read_releases(data: bytes, *, origin: str) -> dict[str, tuple[ChannelRelease, ...]]:
    """Return a product's releases in each channel, oldest first; ``ManifestError`` where the list is damaged."""
    releases = _read(_RELEASES, data, origin, "list of releases")
    return {name: tuple(sorted(listed, key=lambda each: each.label)) for name, listed in releases.items()}


def _read(shape: TypeAdapter[_T], data: bytes, origin: str, what: str) -> _T:
    try:
        return shape.validate_python(read_object(data, origin=origin, what=what))
    except ValidationError as error:
        faults = [fault(each["loc"], each["msg"].removeprefix("Value error, ")) for each in error.errors()]
        raise damaged(faults, origin=origin) from error
