"""Experiments, run: each way once a round, in turn, in a directory of its own; every result is compared."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, replace
from string import Template
from typing import TYPE_CHECKING

from benchmarks import contents
from benchmarks.measuring import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchmarks.archives import Archive
    from benchmarks.experiments import Experiment
    from benchmarks.ways import Way

_LOG_END = 2000


class BenchmarkFailed(Exception):
    """A way did not do its job, so that its figures mean nothing."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where ways run: ``served`` is the URL of the directory that holds ``archives``, ``scratch`` is ours alone.

    ``settle`` is called before each run: what the one before left to write is not the next one's burden.
    """

    archives: Mapping[str, Archive]
    served: str
    environment: Mapping[str, str]
    scratch: Path
    settle: Callable[[], None]

    def run(self, experiment: Experiment, rounds: int) -> dict[str, list[Measured]]:
        """Return what each way cost, by its name, one ``Measured`` a round; ``BenchmarkFailed`` if one failed."""
        shared = self.scratch / "shared"
        shared.mkdir(parents=True)
        try:
            if experiment.setup:
                self._run(replace(experiment.ways[0], line=experiment.setup, gives="nothing"))
            for name in {way.archive for way in experiment.ways}:
                _warm(self.archives[name].tree.archive)
            costs: dict[str, list[Measured]] = {way.name: [] for way in experiment.ways}
            for number in range(rounds * experiment.rounds_factor):
                for way in experiment.ways:
                    costs[way.name].append(self._run(way))
                    _tell(number, way, costs[way.name][-1])
        finally:
            shutil.rmtree(shared)
        return costs

    def _run(self, way: Way) -> Measured:
        archive = self.archives[way.archive]
        variables = archive.variables(self.served) | {"SHARED": str(self.scratch / "shared")}
        home, log = self.scratch / "home", self.scratch / "log"
        home.mkdir()
        self.settle()
        try:
            measured = measure(way.line, home=home, log=log, variables={**self.environment, **variables})
            if measured.exit_code:
                said = log.read_text(encoding="utf-8", errors="replace")[-_LOG_END:]
                raise BenchmarkFailed(f"{way.name}: exit {measured.exit_code}\n$ {way.line}\n{said}")
            if way.gives != "nothing":
                result = home / Template(way.result).substitute(variables)
                _compare(way, contents.read(result, besides=way.adds), archive.expected[way.gives])
        finally:
            shutil.rmtree(home)
        return measured


def _compare(way: Way, found: contents.Contents, expected: contents.Contents) -> None:
    wrong = contents.differences(found, expected)
    if wrong:
        raise BenchmarkFailed("\n  ".join((f"{way.name}: its result is wrong", *wrong)))


def _warm(archive: Path) -> None:
    with archive.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def _tell(number: int, way: Way, cost: Measured) -> None:
    figures = f"{cost.wall:8.3f} s {cost.cpu:8.3f} s CPU {cost.peak / 1e6:8.1f} MB"
    sys.stderr.write(f"round {number + 1:2}  {figures}  {way.name}\n")
