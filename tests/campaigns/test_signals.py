"""SIGINT and SIGTERM while a fetch waits for who never answers, and in its short phases (C78).

Servers that stall, trickle or ask for a pause are in ``test_stop.py`` and in the cases. The long form gives both
signals to everything.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaigns.kills import AIMS, SLOW
from campaigns.signals import CODES, FLUSHING, campaign, signalled, waited
from campaigns.tally import HEADING
from campaigns.waits import WAITS

if TYPE_CHECKING:
    import random
    import signal
    from pathlib import Path

    from campaigns.ground import Ground
    from campaigns.kills import Aim
    from campaigns.waits import Waiting
    from redist import RedistServer


@pytest.mark.parametrize(("waiting", "sent"), list(zip(WAITS.values(), itertools.cycle(CODES))), ids=WAITS)
def test_waiting_in_vain(
    waiting: Waiting, sent: signal.Signals, redist_server: RedistServer, tmp_path: Path
) -> None:
    _, faults = waited(waiting, sent, redist_server, tmp_path / "root")
    assert faults == []


TRIES = 4
"""On a busy machine the one who watches for a tenth of a second may come too late."""

SHORT = {
    "record": (AIMS["record"], "record"),
    "publish": (AIMS["publish"], "publish"),
    "aside": (AIMS["aside"], "aside"),
    "flushing to a slow disk": (FLUSHING, "publish"),
}


@pytest.mark.parametrize(
    ("aim", "expected", "sent"),
    [(*phase, sent) for phase, sent in zip(SHORT.values(), itertools.cycle(CODES))],
    ids=SHORT,
)
def test_a_short_phase(there: Ground, aim: Aim, expected: str, sent: signal.Signals, tmp_path: Path) -> None:
    seen = []
    while expected not in seen and len(seen) < TRIES:
        root = there.root(tmp_path / str(len(seen)), standing=aim.replaces)
        moment, _, faults = signalled(there, aim, 0, sent, root)
        assert faults == []
        seen.append(moment)
    assert expected in seen


@pytest.mark.parametrize("sent", list(CODES), ids=lambda sent: sent.name)
def test_a_stopped_process_hears_it_when_it_goes_on(
    there: Ground, sent: signal.Signals, tmp_path: Path
) -> None:
    """As ``kill %1`` does it to a job that Ctrl-Z stopped: the kernel hands the signal to any thread."""
    slowly = replace(AIMS["unpack"], rate=SLOW // 4)
    moment, _, faults = signalled(there, slowly, 0.05, sent, tmp_path / "root")
    assert (moment in ("download", "unpack"), faults) == (True, [])


@pytest.mark.long
def test_signals_at_random_moments(tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, signals=96)
    print(HEADING, tally.table("signals"), sep="\n")  # noqa: T201 - the figures are the result
    assert tally.faults == []
