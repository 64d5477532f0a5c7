"""SIGKILL in every phase of a fetch, and what is done about what a killed process leaves (C62, C67, C70, C78)."""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaigns.ground import prefix_in
from campaigns.kills import AIMS, SLOW, Aim, campaign, kill_in, left_over, taken_over
from campaigns.moments import PHASES, partials_in, stages_in
from campaigns.processes import ended, run, running, until
from campaigns.tally import HEADING
from installing import leftovers

from cudnn_redist.owners import own_mark

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from campaigns.ground import Ground

A_DAY_AGO = -25 * 3600


def test_killed_in_every_phase(tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, kills=6, files=300)
    assert tally.faults == []
    assert all(tally.count(phase) for phase in PHASES)


@pytest.mark.long
def test_two_hundred_kills(tmp_path: Path, rng: random.Random) -> None:
    tally = campaign(tmp_path, rng, kills=200)
    print(HEADING, tally.table("kills"), sep="\n")  # noqa: T201 - the figures are the result
    assert tally.faults == []
    assert tally.count() >= 200
    assert all(tally.count(phase) >= 20 for phase in PHASES)


def touched(path: Path, seconds: float) -> None:
    then = time.time() + seconds
    path.touch()
    os.utime(path, (then, then))


def test_what_a_process_killed_elsewhere_left_goes_a_day_later(there: Ground, tmp_path: Path) -> None:
    """On a shared root the number of another host's process tells nothing: only the age does."""
    root = tmp_path / "root"
    slowly = replace(AIMS["download"], rate=SLOW // 4)
    assert kill_in(there, slowly, there.words(root), root, after=0) == "download"
    left = [*stages_in(root), *(root / ".partial").iterdir()]
    elsewhere = [path.rename(_made_elsewhere(path)) for path in left]

    assert run(there.words(root, cuda="12")).code == 0
    assert [path for path in elsewhere if not path.exists()] == []

    for path in elsewhere:
        touched(path, A_DAY_AGO)
    assert run(there.words(root, "--force", cuda="12")).code == 0
    assert leftovers(root) == []


def _made_elsewhere(path: Path) -> Path:
    host = re.escape(own_mark().split(".")[0])
    return path.with_name(re.sub(rf"(?<=[.-]){host}(?=\.\d)", "elsewhere", path.name))


def test_a_killed_process_that_nobody_buried_counts_as_dead(there: Ground, tmp_path: Path) -> None:
    """The first process of a container seldom waits for others' children: they stay as zombies."""
    root = tmp_path / "root"
    there.server.rate = 1_000_000
    with running(there.words(root)) as process:
        assert until(lambda: any(path.stat().st_size > 100_000 for path in partials_in(root)))
        there.server.rate = None
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert list(taken_over(there, there.words(root), root)) == []
        assert list(left_over(there, root)) == []
        assert ended(process).code == -signal.SIGKILL


def test_the_name_of_a_stage_goes_before_its_content(there: Ground, tmp_path: Path) -> None:
    """Were the process that made it alive after all, it could not publish what is half removed."""
    root = tmp_path / "root"
    some_files = Aim(begun=lambda root: len(list(root.rglob("noise*"))) > 10, seconds=0, rate=SLOW // 4)
    assert kill_in(there, some_files, there.words(root), root, after=0) in ("download", "unpack")
    (stage,) = stages_in(root)
    place = prefix_in(root).parent
    with running(there.words(root), injected="unlinkat:delay_enter=150ms") as sweeping:
        until(lambda: sweeping.poll() is not None or not any(stage.glob("*/lib/part0/*")))
    assert not stage.exists()
    assert any(place.glob("*.old/*/lib/part*/*"))


def test_files_with_no_process_in_their_names_go_after_a_day(there: Ground, tmp_path: Path) -> None:
    """A lock file, a manifest half kept, a link half made, an archive half copied into the store."""
    stored = tmp_path / "store/sha256" / there.sha256[:2] / there.sha256
    strays = (
        tmp_path / ".turns" / ("ab" * 32),
        tmp_path / ".manifests/cudnn/0123456789abcdef/.redistrib_9.26.0.json.0123abcd",
        tmp_path / ".cudnn-redist-0123456789ab.link",
        stored.with_name(f"{there.sha256}.0123abcd.part"),
    )
    for stray in strays:
        stray.parent.mkdir(parents=True, exist_ok=True)
        touched(stray, -23 * 3600)
    words = there.words(tmp_path, "--force", "--link", f"{tmp_path}/link", "--archives", f"{tmp_path}/store")

    assert run(words).code == 0
    assert [stray for stray in strays if not stray.exists()] == []

    stored.unlink()
    for stray in strays:
        touched(stray, A_DAY_AGO)
    assert run(words).code == 0
    assert [stray for stray in strays if stray.exists()] == []
