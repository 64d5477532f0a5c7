"""The command: choose, get ready, run, print."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import shutil
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import archives, machine, programs
from benchmarks.experiments import experiments
from benchmarks.running import Bench, BenchmarkFailed
from benchmarks.table import table
from real import program, wheel
from real.nginx import serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.archives import Archive
    from benchmarks.experiments import Experiment
    from benchmarks.measuring import Measured

_ALWAYS_NEEDED = {"bash", "nginx", "xz", "zstd"}
_FULL_SPEED = "full"
_LEGEND = """
Each way runs once a round, in turn, in an empty directory, the archive in the page cache, everything written synced
before the next one starts; every result is compared with NVIDIA's own digests. Figures are medians, ratios the medians
of the rounds' ratios. CPU is user and system time of all processes of a way, memory that of its largest process.
A limited link limits each connection: `aria2c -x8` has eight."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What every experiment shares."""

    cache: Path
    scratch: Path
    archives: Mapping[str, Archive]
    environment: Mapping[str, str]


def main(words: Sequence[str]) -> int:
    """Return 0; 1 when a way failed or left a wrong result; 2 when something is missing."""
    arguments = _parser().parse_args(words)
    recipes = archives.FULL if arguments.full else archives.SMALL
    chosen = list(_chosen(arguments, recipes))
    needed = _ALWAYS_NEEDED | {name for experiment in chosen for way in experiment.ways for name in way.needs}
    missing = programs.missing_packages(needed)
    if missing:
        sys.stderr.write(f"missing: apt-get install {' '.join(missing)}\n")
        return 2
    cache = arguments.cache.absolute() if arguments.cache else wheel.cache_directory()
    scratch = cache / f"work-{os.getpid()}"
    scratch.mkdir(parents=True)
    try:
        ready = _ready(chosen, recipes, needed, cache, scratch)
        _report(arguments, chosen, ready)
    except BenchmarkFailed as failed:
        sys.stderr.write(f"FAILED: {failed}\n")
        return 1
    finally:
        shutil.rmtree(scratch)
    return 0


def _parser() -> argparse.ArgumentParser:
    names = ", ".join(experiments(1))
    parser = argparse.ArgumentParser(
        prog="run.py", description="Measure cudnn-redist beside its peers; a Markdown table on stdout."
    )
    add = parser.add_argument
    add("--full", action="store_true", help="all of cuDNN (926 MB of libraries), not cudnn_jit alone")
    add("--rounds", type=int, default=5, metavar="N", help="how often each way runs (5)")
    add(
        "--cache",
        type=Path,
        metavar="DIR",
        help=f"wheels, archives and results are kept here ({wheel.CACHE_VARIABLE}, or the user's cache)",
    )
    add("--only", action="append", metavar="NAME", help=f"an experiment: {names}; repeatable")
    add(
        "--way",
        action="append",
        metavar="TEXT",
        help="a way whose name holds TEXT, beside the first; repeatable",
    )
    add(
        "--rates",
        default="full,50,12",
        metavar="LIST",
        help="speeds of the link in MB/s for fetch (full,50,12); the limit is one connection's",
    )
    return parser


def _chosen(arguments: argparse.Namespace, recipes: Mapping[str, archives.Recipe]) -> Iterator[Experiment]:
    known = experiments(machine.cores())
    for name in arguments.only or known:
        if name not in known:
            raise SystemExit(f"no experiment is called {name}: {', '.join(known)}")
        first, *others = known[name].ways
        if arguments.way:
            others = [way for way in others if any(text in way.name for text in arguments.way)]
        experiment = replace(known[name], ways=(first, *others))
        if all(way.archive in recipes for way in experiment.ways):
            yield experiment
        elif arguments.only:
            raise SystemExit(f"{name} compares with the small archive: add --full")


def _ready(
    chosen: Sequence[Experiment],
    recipes: Mapping[str, archives.Recipe],
    needed: set[str],
    cache: Path,
    scratch: Path,
) -> Ready:
    # Preparation talks; stdout is the report's.
    with contextlib.redirect_stdout(sys.stderr):
        used = {way.archive for experiment in chosen for way in experiment.ways}
        made = {name: archives.have(recipe, cache) for name, recipe in recipes.items() if name in used}
        ours = program.install(scratch)
        environment = programs.environment(needed, ours=ours.python, cache=cache, home=scratch)
    return Ready(cache=cache, scratch=scratch, archives=made, environment=environment)


def _report(arguments: argparse.Namespace, chosen: Sequence[Experiment], ready: Ready) -> None:
    began = dt.datetime.now(dt.UTC)
    facts = machine.facts(ready.scratch / "venv" / "bin" / "python") | {
        f"archive {name}": f"{archive.tree.archive.name}, {archive.size / 1e6:.0f} MB"
        for name, archive in ready.archives.items()
    }
    program.say(
        "\n".join(("| fact | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items())))
    )
    results = []
    for experiment in chosen:
        for rate in arguments.rates.split(",") if experiment.rated else [_FULL_SPEED]:
            costs = _run(experiment, rate, arguments.rounds, ready)
            link = f", {rate} MB/s" if rate != _FULL_SPEED else ""
            program.say(f"\n### {experiment.title}{link}\n\n{table(costs, experiment.figure)}")
            runs = {name: [asdict(cost) for cost in each] for name, each in costs.items()}
            results.append({"experiment": experiment.name, "rate": rate, "runs": runs})
            # Written each time: a run of hours may be interrupted.
            kept = ready.cache / f"results-{began:%Y%m%dT%H%M%SZ}.json"
            kept.write_text(json.dumps({"machine": facts, "results": results}, indent=1), encoding="utf-8")


def _run(experiment: Experiment, rate: str, rounds: int, ready: Ready) -> dict[str, list[Measured]]:
    limit = "0" if rate == _FULL_SPEED else str(int(float(rate) * 1e6))
    with serving(ready.cache, ready.scratch / "nginx", limit_rate=limit) as server:
        bench = Bench(
            archives=ready.archives,
            served=server.url,
            environment=ready.environment,
            scratch=ready.scratch / "bench",
            settle=os.sync,
        )
        return bench.run(experiment, rounds)
