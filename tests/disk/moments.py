"""Act at the very moment before a path is opened or renamed, without a word to the product."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(kw_only=True)
class Moment:
    """What is waited for: an audit event whose path passes ``matches``, for the ``turn``-th time."""

    event: str
    matches: Callable[[Path], bool]
    action: Callable[[], object]
    turn: int
    seen: list[Path] = field(default_factory=list)

    @property
    def came(self) -> bool:
        return len(self.seen) >= self.turn

    def look(self, path: Path) -> None:
        if not self.came and self.matches(path):
            self.seen.append(path)
            if self.came:
                self.action()


_waiting: list[Moment] = []
# https://docs.python.org/3/library/audit_events.html: where in the arguments the path is.
_PATHS = {"open": 0, "os.rename": 1}


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _waiting and event in _PATHS:
        path = arguments[_PATHS[event]]
        for moment in _waiting:
            if moment.event == event and isinstance(path, str | bytes | os.PathLike):
                moment.look(Path(os.fsdecode(path)))


# A hook cannot be removed; out of the context below it does nothing.
sys.addaudithook(_hook)


@contextmanager
def before(
    event: str, matches: Callable[[Path], bool], action: Callable[[], object], *, turn: int = 1
) -> Iterator[Moment]:
    """Call ``action`` just before the ``turn``-th ``event`` with a path that ``matches``; fail if it never comes.

    Events are ``open``, of the path opened, and ``os.rename``, of the new name.
    """
    moment = Moment(event=event, matches=matches, action=action, turn=turn)
    _waiting.append(moment)
    try:
        yield moment
    finally:
        _waiting.remove(moment)
    assert moment.came
