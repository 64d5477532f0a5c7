"""From the bytes of a manifest to one JSON object, refusing what only looks like one."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..errors import ManifestError
from .faults import damaged, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .faults import Place

__all__ = ["MAX_MANIFEST_BYTES", "read_object"]

MAX_MANIFEST_BYTES: Final = 4 * 2**20
"""More than this is no manifest; the largest of NVIDIA's that was seen has 58,445 bytes."""

# Five levels are in use. The bound is far below what exhausts a recursive reader of the values we keep.
_MAX_DEPTH: Final = 32

# An object, and a key that it was given twice.
_Repeated = tuple[dict[str, Any], str]


def read_object(data: bytes, *, origin: str) -> dict[str, Any]:
    """Return the object that ``data`` spells in UTF-8 (a byte order mark is allowed).

    ``ManifestError``, naming ``origin``, for a body that is empty, too large, not UTF-8, a page, cut short,
    not JSON, not an object or nested too deep, and for a key given twice: readers differ on which one counts.
    """
    repeated: list[_Repeated] = []

    def to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                repeated.append((found, key))
            found[key] = value
        return found

    try:
        document = json.loads(_text(data, origin), object_pairs_hook=to_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ManifestError(_syntax_sentence(error), where=origin) from error
    except RecursionError as error:
        raise _too_deep(origin) from error
    except ValueError as error:  # NaN, or an integer with more digits than Python converts
        raise ManifestError(f"not JSON that can be used: {error}", where=origin) from error
    if not isinstance(document, dict):
        raise ManifestError("not a manifest: the JSON is not an object", where=origin)
    _check_structure(document, repeated, origin)
    return document


def _text(data: bytes, origin: str) -> str:
    if len(data) > MAX_MANIFEST_BYTES:
        raise ManifestError(f"{len(data)} bytes, a manifest has at most {MAX_MANIFEST_BYTES}", where=origin)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(f"not UTF-8 text, from byte {error.start} on", where=origin) from error
    beginning = text.lstrip()
    if not beginning:
        raise ManifestError("the body is empty", where=origin)
    if beginning.startswith("<"):
        raise ManifestError(f"not JSON but a page (HTML or XML): {beginning[:60]!a}", where=origin)
    return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _syntax_sentence(error: json.JSONDecodeError) -> str:
    at_end = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
    what = "JSON that is cut short" if at_end else "not JSON"
    return f"{what}: {error.msg} (line {error.lineno}, column {error.colno})"


def _too_deep(origin: str) -> ManifestError:
    return ManifestError(f"nested deeper than {_MAX_DEPTH} levels", where=origin)


def _check_structure(document: dict[str, Any], repeated: list[_Repeated], origin: str) -> None:
    keys_of: dict[int, list[str]] = {}
    for holder, key in repeated:
        keys_of.setdefault(id(holder), []).append(key)
    faults = []
    for place, value in _containers(document):
        if len(place) >= _MAX_DEPTH:
            raise _too_deep(origin)
        faults += [fault((*place, key), "this key is given twice") for key in keys_of.get(id(value), ())]
    if faults:
        raise damaged(faults, origin=origin)


def _containers(document: dict[str, Any]) -> Iterator[tuple[Place, object]]:
    """Walk objects and lists without recursion: how deep they nest is the sender's choice."""
    waiting: deque[tuple[Place, Any]] = deque([((), document)])
    while waiting:
        place, value = waiting.popleft()
        yield place, value
        items = value.items() if isinstance(value, dict) else enumerate(value)
        waiting.extend(((*place, key), item) for key, item in items if isinstance(item, dict | list))
