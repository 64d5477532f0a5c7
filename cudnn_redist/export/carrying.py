"""The modules of this package that another file can carry: those that one of them needs, as older Pythons read them."""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec, resolve_name
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

__all__ = ["carried"]

_THIS_PACKAGE = __name__.rpartition(".export.")[0]
# Settings that Python 3.8 does not know and that can be missing: slots and keyword-only fields forbid what is not done
# anyway, and what is cancelled would end at once by itself.
_LATER_SETTING = re.compile(r"(?:, )?\b(?:slots|kw_only|cancel_futures)=True\b")
_LATER_TYPE = re.compile(r"^(from typing import .*), Self$", re.MULTILINE)


def carried(start: str) -> dict[str, str]:
    """Return the sources of the module ``start`` and of all that it imports from this package, by name and sorted.

    Names are relative to the package, which itself is ``""`` and empty. Late imports, and those for type checkers,
    bring nothing along. What Python 3.8 lacks of dataclasses and of ``typing`` is left out: it changes nothing.
    ``UsageError`` where this copy of the package has no sources.
    """
    found = {_THIS_PACKAGE: ""}
    wanted = [f"{_THIS_PACKAGE}.{start}"]
    while wanted:
        name = wanted.pop()
        if name not in found:
            spec = find_spec(name)
            source = _source(name, spec)
            found[name] = _LATER_TYPE.sub(r"\1", _LATER_SETTING.sub("", source))
            wanted += [name.rpartition(".")[0], *_imported(source, package=spec.parent if spec else None)]
    return {name[len(_THIS_PACKAGE) + 1 :]: found[name] for name in sorted(found)}


def _source(name: str, spec: ModuleSpec | None) -> str:
    read = getattr(spec and spec.loader, "get_source", None)
    source: str | None = read(name) if read else None
    if source is None:
        raise UsageError(
            f"this copy of the package has no source of {name} to put into a file", phase="export"
        )
    return source


def _imported(source: str, *, package: str | None) -> Iterator[str]:
    """Yield the modules of this package that are imported when one of ``package`` with this ``source`` is."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            home = resolve_name("." * node.level + (node.module or ""), package)
            yield home
            yield from filter(_is_module, (f"{home}.{alias.name}" for alias in node.names))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        # Of a module that is no package: a name in it.
        return False
