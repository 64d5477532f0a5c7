"""What the single values of a lock must be. It is our own file, so each has exactly one spelling."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import Annotated, Final
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from ..asking import parse_label, plain_product
from ..errors import UsageError
from ..locations import is_relative, redacted
from ..manifest.labels import ReleaseLabel
from ..manifest.targets import CudaVariant, is_plain_name, parse_platform

__all__ = [
    "Asked",
    "Cuda",
    "Label",
    "Name",
    "Path",
    "PlatformWord",
    "Product",
    "Sha256",
    "Size",
    "Text",
    "Url",
]

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# As large as a manifest may say (manifest.fields): below what a 64-bit file offset holds.
_LARGEST_SIZE: Final = 10**18 - 1


def _name(text: str) -> str:
    if not is_plain_name(text):
        raise PydanticCustomError("name", "cannot be a directory name (lower-case letters, digits, . _ -)")
    return text


def _product(text: str) -> str:
    try:
        return plain_product(text)
    except UsageError as error:
        raise PydanticCustomError("product", "no product name") from error


def _label(text: str) -> str:
    try:
        return ReleaseLabel.parse(text).text
    except UsageError as error:
        raise PydanticCustomError("label", "not a release label") from error


def _asked(text: str) -> str:
    try:
        parse_label(text)
    except UsageError as error:
        raise PydanticCustomError("asked", "neither a release label nor 'latest'") from error
    return text


def _platform(text: str) -> str:
    try:
        parse_platform(text)
    except UsageError as error:
        raise PydanticCustomError("platform", "not a platform") from error
    return text


def _cuda(text: str) -> str:
    try:
        spelled = CudaVariant.asked(text).version
    except UsageError:
        spelled = None
    if spelled != text:
        raise PydanticCustomError("cuda", "not a CUDA version such as 12 or 12.8")
    return text


def _text(text: str) -> str:
    if not text or not text.isprintable():
        raise PydanticCustomError("text", "empty, or holds a control character")
    return text


def _sha256(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise PydanticCustomError("digest", "not 64 hex digits in small letters")
    return text


def _size(size: int) -> int:
    if not 0 <= size <= _LARGEST_SIZE:
        raise PydanticCustomError("size", "not a number of bytes")
    return size


def _path(text: str) -> str:
    if not _text(text) or not is_relative(text):
        raise PydanticCustomError("path", "not a path relative to the manifest")
    # NVIDIA's newer tree begins with climbs (../../../pool/...); whether one leaves its source is judged where it
    # is joined to one. No publisher climbs after a name.
    below = dropwhile(lambda part: part == "..", unquote(text).split("/"))
    if any(part in ("", ".", "..") for part in below):
        raise PydanticCustomError("path", "climbs after a name, or has an empty part")
    return text


def _url(text: str) -> str:
    _text(text)
    try:
        parts = urlsplit(text)
        known = bool(parts.hostname) if parts.scheme in ("http", "https") else parts.scheme == "file"
    except ValueError:
        known = False
    if not known or " " in text:
        raise PydanticCustomError("url", "no http, https or file URL")
    if redacted(text) != text:
        raise PydanticCustomError("url", "holds a login or a query, which belong on the command line")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""A component, platform or variant: a level of a prefix's path."""
Product = Annotated[str, AfterValidator(_product)]
Label = Annotated[str, AfterValidator(_label)]
Asked = Annotated[str, AfterValidator(_asked)]
PlatformWord = Annotated[str, AfterValidator(_platform)]
Cuda = Annotated[str, AfterValidator(_cuda)]
Text = Annotated[str, AfterValidator(_text)]
Sha256 = Annotated[str, AfterValidator(_sha256)]
Size = Annotated[int, AfterValidator(_size)]
"""Bytes."""
Path = Annotated[str, AfterValidator(_path)]
"""Relative to the manifest."""
Url = Annotated[str, AfterValidator(_url)]
