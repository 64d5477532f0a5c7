"""Values in Starlark, as Bazel reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Variable", "call", "value"]

_STEP = " " * 4


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that has a name in the file."""

    name: str


def call(function: str, arguments: Mapping[str, object]) -> str:
    """Return a call with one argument a line, in the order given."""
    lines = "".join(f"{_STEP}{name} = {value(each, depth=1)},\n" for name, each in arguments.items())
    return f"{function}(\n{lines})\n"


def value(given: object, *, depth: int = 0) -> str:
    """Return a text, a list of texts, a mapping or a variable; the end of a mapping stands ``depth`` steps in."""
    if isinstance(given, Variable):
        return given.name
    if isinstance(given, Mapping):
        inner = "".join(
            f"{_STEP * (depth + 1)}{value(key)}: {value(each, depth=depth + 1)},\n"
            for key, each in given.items()
        )
        return f"{{\n{inner}{_STEP * depth}}}"
    if isinstance(given, Sequence) and not isinstance(given, str):
        return f"[{', '.join(value(each, depth=depth) for each in given)}]"
    # JSON's escapes are Starlark's (its specification, "String literals"), but for pairs of surrogates.
    return json.dumps(given, ensure_ascii=False)
