"""Which releases are meant: labels, and ranges of them such as ``>=9.10,<10``. Pure."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import LabelNotFound, UsageError
from ..manifest.labels import ReleaseLabel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["LabelRange", "is_range", "within"]

_CONDITION: Final = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*([0-9.]+)\s*")
_HOLDS: Final[dict[str, Callable[[tuple[int, ...], tuple[int, ...]], Any]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class LabelRange:
    """Conditions that all must hold, compared as far as their own numbers go: ``<=9.27`` covers 9.27.1."""

    conditions: tuple[tuple[str, ReleaseLabel], ...]

    @classmethod
    def parse(cls, text: str) -> LabelRange:
        """Read ``>=9.10,<10``; ``UsageError`` for what is no such list of conditions."""
        conditions = []
        for part in text.split(","):
            named = _CONDITION.fullmatch(part)
            if named is None:
                raise UsageError(
                    f"{text!r:.60} is no range of labels: conditions such as >=9.10,<10", phase="label"
                )
            conditions.append((named[1], ReleaseLabel.parse(named[2])))
        return cls(tuple(conditions))

    def covers(self, label: ReleaseLabel) -> bool:
        """Whether every condition holds for ``label``."""
        return all(
            _HOLDS[sign](label.numbers[: len(bound.numbers)], bound.numbers)
            for sign, bound in self.conditions
        )


def is_range(text: str) -> bool:
    """Whether a text is meant as a range, and not as a label."""
    return text.lstrip()[:1] in ("<", ">", "=", "!")


def within(labels: Iterable[ReleaseLabel], wanted: LabelRange, *, text: str) -> Sequence[ReleaseLabel]:
    """Return the labels in the range, oldest first; ``LabelNotFound`` with what there is where none is."""
    known = sorted(labels)
    found = [label for label in known if wanted.covers(label)]
    if not found:
        raise LabelNotFound(f"no release in {text}", available=[label.text for label in known])
    return found
