"""The choice of ways is sound before anything runs for an hour."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from benchmarks.archives import FULL, SMALL
from benchmarks.experiments import Experiment, experiments
from benchmarks.programs import DEBIAN, PYPI

if TYPE_CHECKING:
    from benchmarks.ways import Way

EXPERIMENTS = experiments(cores=6)
WAYS = {f"{name}: {way.name}": way for name, experiment in EXPERIMENTS.items() for way in experiment.ways}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_way_needs_known_programs_and_is_correct_bash(way: Way) -> None:
    checked = subprocess.run(["bash", "-n", "-c", way.line], capture_output=True, check=False)

    assert set(way.needs) <= DEBIAN.keys() | PYPI.keys()
    assert (checked.returncode, checked.stderr) == (0, b"")


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_names_of_an_experiment_s_ways_differ(experiment: Experiment) -> None:
    assert len({way.name for way in experiment.ways}) == len(experiment.ways)


def test_only_the_comparison_with_the_small_archive_needs_the_full_one() -> None:
    used = {name: {way.archive for way in experiment.ways} for name, experiment in EXPERIMENTS.items()}

    assert [name for name, needed in used.items() if not needed <= SMALL.keys()] == ["memory"]
    assert all(needed <= FULL.keys() for needed in used.values())


def test_threads_go_up_to_the_cores() -> None:
    tried = [way.name for way in EXPERIMENTS["threads"].ways if way.name.startswith("ours")]

    assert tried == [f"ours --threads {count}" for count in (1, 2, 4, 6)]
