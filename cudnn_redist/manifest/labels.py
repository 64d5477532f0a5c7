"""Release labels: the names of manifests, such as the ``9.27.0`` of ``redistrib_9.27.0.json``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ReleaseLabel", "label_of", "newest"]

# Eight digits are the most seen (nsight_nvtx 1.21018621); the bound keeps a label fit for a directory name.
_LABEL: Final = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,10}){0,4}")
_MANIFEST_NAME: Final = re.compile(r"redistrib_([0-9.]{1,60})\.json")
_FULL_PARTS: Final = 3
_SHOWN: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ReleaseLabel:
    """One to five dotted numbers, compared as integers: ``9.9.0`` is older than ``9.10.0``.

    The text is kept as published and never normalised (nvpl ``24.03``, nvidia-driver ``450.80.02``); it
    decides only between labels of equal numbers.
    """

    numbers: tuple[int, ...] = field(init=False, repr=False)
    text: str

    def __post_init__(self) -> None:
        if not _LABEL.fullmatch(self.text):
            shown = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}..."
            raise UsageError(
                f"{shown!r} is not a release label: dotted numbers such as 9.27.0", phase="label"
            )
        object.__setattr__(self, "numbers", tuple(int(part) for part in self.text.split(".")))

    @classmethod
    def parse(cls, text: str) -> ReleaseLabel:
        """Read a label as a user or a manifest spells it; ``UsageError`` where it is not dotted numbers."""
        return cls(text=text)

    def __str__(self) -> str:
        return self.text

    @property
    def manifest_name(self) -> str:
        """The file name of this label's manifest."""
        return f"redistrib_{self.text}.json"

    @property
    def is_partial(self) -> bool:
        """Whether this may stand for the newest of several releases (``9``, ``9.27``).

        It may also be a full name (nvpl ``25.1``), which goes first.
        """
        return len(self.numbers) < _FULL_PARTS

    def candidates(self) -> tuple[ReleaseLabel, ...]:
        """Return the labels whose manifests may answer, in the order to try them.

        A version from inside a manifest (``9.27.0.42``) is looked for under its own name first, because the
        older manifests have four parts (``8.9.7.29``), then under the three-part name.
        """
        if len(self.numbers) <= _FULL_PARTS:
            return (self,)
        return (self, ReleaseLabel(text=".".join(self.text.split(".")[:_FULL_PARTS])))


def label_of(file_name: str) -> ReleaseLabel | None:
    """Return the label in a manifest's file name; ``None`` for any other file (a schema, a ``_tar.json``)."""
    match = _MANIFEST_NAME.fullmatch(file_name)
    if match is None or not _LABEL.fullmatch(match[1]):
        return None
    return ReleaseLabel(text=match[1])


def newest(labels: Iterable[ReleaseLabel], within: ReleaseLabel | None = None) -> ReleaseLabel | None:
    """Return the newest label, if there is one; only of those whose numbers begin with ``within``'s.

    A label that longer ones extend counts as newer than they: cudnn 8.9.7 has every variant, 8.9.7.29 one of them.
    """
    wanted = within.numbers if within else ()
    fitting = [label for label in labels if label.numbers[: len(wanted)] == wanted]
    known = set(fitting)
    whole = [label for label in fitting if known.isdisjoint(label.candidates()[1:])]
    return max(whole, default=None)
