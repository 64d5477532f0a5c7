"""Eight processes on one root, with locks that work and with locks that do not (C64, C65, C67)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from campaigns.races import WITH_LOCKS, WITHOUT_LOCKS, campaign
from campaigns.tally import HEADING

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping
    from pathlib import Path

    from campaigns.races import Race

LOCKS = pytest.mark.parametrize("races", [WITH_LOCKS, WITHOUT_LOCKS], ids=["locks work", "locks are useless"])


@LOCKS
def test_three_rounds(races: Mapping[str, Race], tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, rounds=3, races=races)
    assert tally.faults == []
    assert tally.count() == 3


@pytest.mark.long
@LOCKS
def test_thirty_rounds(races: Mapping[str, Race], tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, rounds=30, races=races)
    print(HEADING, tally.table("races"), sep="\n")  # noqa: T201 - the figures are the result
    assert tally.faults == []
    assert tally.count() == 30
