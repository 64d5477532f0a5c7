"""What the single values of a manifest must be; strict on those in use, each fault in plain words.

A value that is missing or null stays missing: the oldest manifests have no digests, hand-made ones no size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, PlainValidator
from pydantic_core import PydanticCustomError

from ..errors import UsageError
from .labels import ReleaseLabel

__all__ = ["Hints", "Label", "Md5", "ReadOnly", "RelativePath", "Sha256", "Size", "Text"]

# Far above any archive, and below what a 64-bit file offset holds.
_DECIMAL: Final = re.compile(r"[0-9]{1,18}")
_LARGEST_SIZE: Final = 10**18 - 1

_K = TypeVar("_K")
_V = TypeVar("_V")


def _text(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise PydanticCustomError("text", "not a string")
    if not value.isprintable():
        raise PydanticCustomError("text", "holds a control character")
    return value


def _relative_path(value: object) -> str:
    text = _text(value)
    if not text:
        raise PydanticCustomError("path", "no path")
    if "\\" in text:
        raise PydanticCustomError("path", "holds a backslash")
    return text


def _hex_digits(count: int) -> Callable[[object], str | None]:
    digits = re.compile(f"[0-9a-fA-F]{{{count}}}")

    def check(value: object) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str) or not digits.fullmatch(value):
            raise PydanticCustomError("digest", f"not {count} hex digits")
        return value.lower()

    return check


def _size(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_SIZE:
        return value
    raise PydanticCustomError("size", "not a number of bytes")


def _hints(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(hint, str) for hint in value):
        raise PydanticCustomError("hints", "not a list of strings")
    return tuple(value)


def _label(value: object) -> ReleaseLabel | None:
    if value is None or isinstance(value, ReleaseLabel):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("label", "not a string")
    try:
        return ReleaseLabel.parse(value)
    except UsageError as error:
        raise PydanticCustomError("label", "not a release label") from error


def _label_text(label: ReleaseLabel | None) -> str | None:
    return None if label is None else label.text


def _read_only(value: Mapping[_K, _V]) -> Mapping[_K, _V]:
    return MappingProxyType(dict(value))


Text = Annotated[str | None, PlainValidator(_text)]
RelativePath = Annotated[str, PlainValidator(_relative_path)]
"""Whether a path is absolute or climbs is judged where it is joined, by what it is joined to."""
Sha256 = Annotated[str | None, PlainValidator(_hex_digits(64))]
Md5 = Annotated[str | None, PlainValidator(_hex_digits(32))]
Size = Annotated[int | None, PlainValidator(_size)]
"""Bytes, spelled as a decimal string (always, by NVIDIA) or as an integer."""
Hints = Annotated[tuple[str, ...], BeforeValidator(_hints)]
Label = Annotated[ReleaseLabel | None, PlainValidator(_label), PlainSerializer(_label_text)]
ReadOnly = Annotated[Mapping[_K, _V], AfterValidator(_read_only), PlainSerializer(dict)]
