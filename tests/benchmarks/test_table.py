"""Medians and ratios."""

from __future__ import annotations

from benchmarks.measuring import Measured
from benchmarks.table import ratio, table


def cost(wall: float, *, cpu: float = 1.0, peak: int = 1_000_000) -> Measured:
    return Measured(exit_code=0, wall=wall, cpu=cpu, peak=peak)


OURS = [cost(1.0, cpu=2.0), cost(10.0, cpu=4.0), cost(3.0, cpu=6.0)]
THEIRS = [cost(4.0, cpu=1.0), cost(20.0, cpu=1.0), cost(4.0, cpu=1.0, peak=3_000_000)]


def test_ratio_is_the_median_of_rounds_and_not_that_of_medians() -> None:
    assert ratio(OURS, THEIRS, "wall") == 0.5


def test_ratio_is_of_the_figure_asked_for() -> None:
    assert ratio(OURS, THEIRS, "cpu") == 4.0


def test_table_has_a_row_for_each_way_and_compares_with_the_first() -> None:
    assert table({"ours": OURS, "curl | tar": THEIRS}, "wall").splitlines() == [
        "| way | seconds | from - to | CPU s | peak MB | ours / it, seconds |",
        "| --- | --: | --: | --: | --: | --: |",
        "| `ours` | 3.000 | 1.000 - 10.000 | 4.000 | 1.0 | 1.000 |",
        "| `curl \\| tar` | 4.000 | 4.000 - 20.000 | 1.000 | 1.0 | 0.500 |",
    ]
