"""The fewest variables that make one consumer find exactly one prefix, in the environment as it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from .consumers import consumer_named
from .fitness import doubts, require_fit
from .rivals import in_lists, preferred

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import PurePath

    from .consumers import Consumer, Place, Variable
    from .facts import Facts
    from .rivals import Look

__all__ = ["Environment", "Setting", "environment_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A variable and its whole ``value``; ``added`` is what of this prefix it names (first)."""

    name: str
    value: str
    added: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What to set, what to know beside it (``comments``), and what may go wrong (``warnings``)."""

    settings: tuple[Setting, ...]
    comments: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, str]:
        """The variables by name."""
        return {setting.name: setting.value for setting in self.settings}


def environment_for(
    facts: Facts,
    consumer: str,
    environment: Mapping[str, str],
    *,
    look: Look,
    separator: str = os.pathsep,
) -> Environment:
    """Return what to set so that ``consumer`` finds the prefix, given the ``environment`` as it is.

    ``look`` answers which paths fit a pattern (``glob.glob``): other cuDNNs are looked for. ``separator`` is that of
    lists on the machine that will read them. Raises ``UsageError`` for an unknown consumer or a path that no
    variable can hold, ``NotAvailableError`` where the prefix cannot serve the consumer.
    """
    chosen = consumer_named(consumer)
    require_fit(facts, chosen)
    settings: list[Setting] = []
    warnings = [*doubts(facts, chosen), *preferred(facts, chosen, environment, look)]
    for variable in _wanted(facts, chosen, environment):
        added = str(_named(facts, variable))
        _require_holdable(added, variable, separator)
        others = _others(added, environment.get(variable.name, ""), separator) if variable.is_list else []
        settings.append(Setting(name=variable.name, value=separator.join((added, *others)), added=added))
        warnings += in_lists(variable.name, others, look)
    return Environment(
        settings=tuple(settings), comments=tuple(_comments(facts, chosen)), warnings=tuple(warnings)
    )


def _wanted(facts: Facts, consumer: Consumer, environment: Mapping[str, str]) -> Iterator[Variable]:
    variables = consumer.variables
    if facts.contents.windows and consumer.windows is not None:
        variables = consumer.windows
    yield from (each for each in variables if _named(facts, each) is not None)
    for variable in consumer.outranking:
        now, there = environment.get(variable.name), _named(facts, variable)
        if now and there is not None and (variable.is_list or now != str(there)):
            yield variable


def _named(facts: Facts, variable: Variable) -> PurePath | None:
    """Return what a variable is to name, or ``None`` where there is none."""
    holds_libraries = bool(facts.contents.shared or facts.contents.static)
    named: Mapping[Place, PurePath | None] = {
        "prefix": facts.path,
        "include": facts.include_dir if facts.contents.has_headers else None,
        "lib": facts.lib_dir if holds_libraries else None,
        "bin": facts.bin_dir,
        "package": facts.package_dir,
        "pkg-config": facts.pkg_config_dir,
        "link": facts.link_file,
    }
    return named[variable.place]


def _others(added: str, now: str, separator: str) -> list[str]:
    """Return what else the list holds: an empty element would mean the working directory, and goes."""
    others = dict.fromkeys(now.split(separator))
    return [other for other in others if other and os.path.normpath(other) != os.path.normpath(added)]


def _require_holdable(path: str, variable: Variable, separator: str) -> None:
    ends = set("\n\r\0") | set(variable.splits) | ({separator} if variable.is_list else set())
    found = sorted(ends & set(path))
    if found:
        raise UsageError(
            f"{variable.name} cannot hold this path: it would end at {found[0]!r}", phase="env", where=path
        )


def _comments(facts: Facts, consumer: Consumer) -> Iterator[str]:
    if consumer.name == "loader" and not facts.contents.windows:
        yield "for every program: this line in a file of /etc/ld.so.conf.d, and then ldconfig"
        yield str(facts.lib_dir)
        yield "beware: a cuDNN that the loader sees mixes with those of wheels (PyTorch, JAX), part by part"
