"""Twenty cuts in one transfer (C23, C25)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from campaigns.cuts import campaign
from campaigns.tally import HEADING

if TYPE_CHECKING:
    import random
    from pathlib import Path


def test_twenty_cuts(tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, cuts=20, rounds=1)
    assert tally.faults == []
    assert tally.count() == 2


@pytest.mark.long
def test_twenty_cuts_again_and_again(tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, cuts=20, rounds=10)
    print(HEADING, tally.table("cuts"), sep="\n")  # noqa: T201 - the figures are the result
    assert tally.faults == []
