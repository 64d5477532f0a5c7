"""The command: choose campaigns, run them, print what survived."""

from __future__ import annotations

import argparse
import os
import random
import secrets
import signal
import sys
import tempfile  # noqa: TID251 - whole campaigns are bulk, and --folder says where
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns import cuts, kills, races, signals
from campaigns.tally import HEADING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from campaigns.tally import Tally

    Campaign = Callable[[Path, random.Random], Tally]

_NAMES = ("kills", "signals", "races", "locks", "cuts")


def main(words: Sequence[str]) -> int:
    """Return 0, or 1 when anything did not survive."""
    arguments = _parser().parse_args(words)
    faults: list[str] = []
    tables = []
    with tempfile.TemporaryDirectory(prefix="campaigns-", dir=arguments.folder) as folder:
        # What a login in the user's own home would change is no part of a campaign.
        os.environ["HOME"] = folder
        # A shell's background job ignores SIGINT, and so would all that it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name, campaign in _campaigns(arguments).items():
            begun = time.monotonic()
            work = Path(folder, name)
            work.mkdir()
            tally = campaign(work, random.Random(arguments.seed))
            tables.append(tally.table(name))
            faults += tally.faults
            _tell(f"{name}: {tally.count()} in {time.monotonic() - begun:.0f} s, {len(tally.faults)} faults")
    _tell(*faults)
    sys.stdout.write("\n".join((f"Seed {arguments.seed}.", "", HEADING, *tables)) + "\n")
    return 1 if faults else 0


def _campaigns(arguments: argparse.Namespace) -> dict[str, Campaign]:
    known: dict[str, Campaign] = {
        "kills": partial(kills.campaign, kills=arguments.kills),
        "signals": partial(signals.campaign, signals=arguments.signals),
        "races": partial(races.campaign, rounds=arguments.rounds, races=races.WITH_LOCKS),
        "locks": partial(races.campaign, rounds=arguments.rounds, races=races.WITHOUT_LOCKS),
        "cuts": partial(cuts.campaign, cuts=arguments.cuts, rounds=arguments.transfers),
    }
    return {name: known[name] for name in arguments.only or _NAMES}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run.py", description="Kill, interrupt, race and cut fetches; a Markdown table on stdout."
    )
    add = parser.add_argument
    add("--kills", type=int, default=200, metavar="N", help="runs killed in all, a tenth in each phase (200)")
    add("--signals", type=int, default=96, metavar="N", help="runs that get SIGINT or SIGTERM (96)")
    add("--rounds", type=int, default=30, metavar="N", help="rounds of races, with locks and without (30)")
    add("--cuts", type=int, default=20, metavar="N", help="cuts in one transfer (20)")
    add("--transfers", type=int, default=10, metavar="N", help="transfers that are cut, of each kind (10)")
    add("--only", action="append", choices=_NAMES, help="this campaign; repeatable")
    add("--seed", type=int, default=secrets.randbelow(10**6), metavar="N", help="of every random choice")
    add("--folder", type=Path, metavar="DIR", help="where to work (the system's temporary directory)")
    return parser


def _tell(*lines: str) -> None:
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()
