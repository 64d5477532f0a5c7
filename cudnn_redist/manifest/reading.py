"""From the bytes of a manifest to one JSON object, refusing what only looks like one."""

from __future__ import annotations

import json
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..errors import ManifestError
from .faults import damaged, fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .faults import Place

__all__ = ["MAX_MANIFEST_BYTES", "read_object"]

MAX_MANIFEST_BYTES: Final = 4 * 2**20
"""More than this is no manifest; the largest of NVIDIA's that was seen has 58,445 bytes."""

# Five levels are in use. The bound is far below what exhausts a recursive reader of the values we keep.
_MAX_DEPTH: Final = 32

_HALF_OF_A_PAIR: Final = re.compile("[\ud800-\udfff]")

# An object, and a key that it was given twice.
_Repeated = tuple[dict[str, Any], str]


def read_object(
    data: bytes, *, origin: str, what: str = "manifest", limit: int = MAX_MANIFEST_BYTES
) -> dict[str, Any]:
    """Return the object that ``data``, at most ``limit`` bytes, spells in UTF-8 (a byte order mark is allowed).

    ``what`` says what it should be. ``ManifestError``, naming ``origin``, for a body that is empty, too large, not
    UTF-8, a page, cut short, not JSON, not an object or nested too deep, for a key given twice (readers differ
    on which one counts), and for half of a surrogate pair.
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
        document = json.loads(
            _text(data, origin, what, limit), object_pairs_hook=to_object, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise ManifestError(_syntax_sentence(error), where=origin) from error
    except RecursionError as error:
        raise _too_deep(origin) from error
    except ValueError as error:  # NaN, or an integer with more digits than Python converts
        raise ManifestError(f"not JSON that can be used: {error}", where=origin) from error
    if not isinstance(document, dict):
        raise ManifestError(f"not a {what}: the JSON is not an object", where=origin)
    _check_structure(document, repeated, origin)
    return document


def _text(data: bytes, origin: str, what: str, limit: int) -> str:
    if len(data) > limit:
        raise ManifestError(f"{len(data)} bytes, a {what} has at most {limit}", where=origin)
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
        halves = [key for key, item in _items(value) if _is_no_text(key) or _is_no_text(item)]
        faults += [fault((*place, key), "half of a surrogate pair is no text") for key in halves]
    if faults:
        raise damaged(faults, origin=origin)


def _containers(document: dict[str, Any]) -> Iterator[tuple[Place, object]]:
    """Walk objects and lists without recursion: how deep they nest is the sender's choice."""
    waiting: deque[tuple[Place, Any]] = deque([((), document)])
    while waiting:
        place, value = waiting.popleft()
        yield place, value
        waiting.extend(((*place, key), item) for key, item in _items(value) if isinstance(item, dict | list))


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:  # noqa: ANN401 - an object or a list of anything
    return value.items() if isinstance(value, dict) else enumerate(value)


def _is_no_text(value: object) -> bool:
    """Tell a text with half of a surrogate pair: JSON can escape one, nothing can print, encode or compare it."""
    return isinstance(value, str) and _HALF_OF_A_PAIR.search(value) is not None
