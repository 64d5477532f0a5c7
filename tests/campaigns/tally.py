"""What a campaign found: how many trials of each kind, which of them failed and how, and the figures beside them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Tally:
    """Counts trials by what they tried; ``faults`` are sentences, none of which is expected."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._tried: Counter[str] = Counter()
        self._survived: Counter[str] = Counter()
        self._figures: dict[str, list[float]] = defaultdict(list)
        self._told: dict[str, str] = {}

    def add(self, what: str, faults: Iterable[str] = ()) -> None:
        """Count one trial."""
        found = [f"{what}: {fault}" for fault in faults]
        self._tried[what] += 1
        self._survived[what] += not found
        self.faults += found

    def figure(self, what: str, figure: float, told: str) -> None:
        """Put a figure beside a kind of trial; ``told`` says what it is, with ``{}`` in the figure's place."""
        self._figures[what].append(figure)
        self._told[what] = told

    def count(self, *kinds: str) -> int:
        """Return the trials of these kinds, of all without any."""
        return sum(self._tried[what] for what in kinds or self._tried)

    def table(self, campaign: str) -> str:
        """Return the rows of a Markdown table."""
        rows = [
            f"| {campaign} | {what} | {self._survived[what]} of {tried} | {self._range(what)} |"
            for what, tried in sorted(self._tried.items())
        ]
        return "\n".join(rows)

    def _range(self, what: str) -> str:
        figures = self._figures[what]
        if not figures:
            return ""
        least, most = f"{min(figures):.4g}", f"{max(figures):.4g}"
        return self._told[what].format(least if least == most else f"{least} to {most}")


HEADING = "| campaign | what | survived | figures |\n|---|---|--:|---|"
