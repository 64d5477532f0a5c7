"""Figures of several rounds into a Markdown table."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.experiments import Figure
    from benchmarks.measuring import Measured

_WORDS = {"wall": "seconds", "cpu": "CPU time", "peak": "memory"}


def ratio(costs: Sequence[Measured], others: Sequence[Measured], figure: Figure) -> float:
    """Return the median of ``costs / others``, round by round: a machine's slow minute hits both alike."""
    pairs = zip(costs, others, strict=True)
    ratios: list[float] = [getattr(cost, figure) / getattr(other, figure) for cost, other in pairs]
    return median(ratios)


def table(results: Mapping[str, Sequence[Measured]], figure: Figure) -> str:
    """Return a row for each way: medians, the range of the wall time, and the first way's ratio to it."""
    first, *_ = results
    heads = ("way", "seconds", "from - to", "CPU s", "peak MB", f"{first} / it, {_WORDS[figure]}")
    rows = [
        (
            _escaped(name),
            f"{median(cost.wall for cost in costs):.3f}",
            f"{min(cost.wall for cost in costs):.3f} - {max(cost.wall for cost in costs):.3f}",
            f"{median(cost.cpu for cost in costs):.3f}",
            f"{median(cost.peak for cost in costs) / 1e6:.1f}",
            f"{ratio(results[first], costs, figure):.3f}",
        )
        for name, costs in results.items()
    ]
    rule = ("---", "--:", "--:", "--:", "--:", "--:")
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))


def _escaped(name: str) -> str:
    return f"`{name}`".replace("|", "\\|")
