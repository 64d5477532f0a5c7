"""Killed, interrupted, or not alone: nothing half is served, and the next run completes the mirror."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from mirroring.ground import HIDDEN, TAR
from redist.command import start_command

from cudnn_redist.mirroring.checking import check_mirror
from cudnn_redist.source.index import labels_of_page

if TYPE_CHECKING:
    from pathlib import Path

    from mirroring.ground import Ground
    from redist import RedistServer


@pytest.mark.parametrize("moment", [0, 200_000, 900_000], ids=["begun", "early", "late"])
def test_killed_half_way_nothing_half_is_served_and_the_next_run_completes(
    moment: int, big: Path, ground: Ground, server: RedistServer
) -> None:
    server.rate = 2_000_000
    words = ["--component", "cudnn", "--source", server.url, "--root", ground.root]
    with start_command("mirror", ground.mirror, "9.26.0", "9.27.0", *words) as running:
        server.wait_for(TAR, sent=moment)
        running.send_signal(signal.SIGKILL)
        running.communicate()

    published = {
        ground.place(path): path.read_bytes() for path in ground.tree.path.rglob("*") if path.is_file()
    }
    assert ground.files().items() <= published.items()
    assert "cudnn/redist/redistrib_9.27.0.json" not in ground.files()
    server.rate = None
    ground.make("9.26.0", "9.27.0", source=server.url, component="cudnn")
    assert check_mirror(ground.mirror)
    assert ground.hidden() == HIDDEN
    assert sum(request.sent for request in server.requests(big.name)) < big.stat().st_size + 700_000


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.usefixtures("big")
def test_a_signal_ends_it_at_once_and_leaves_what_has_come(
    name: str, ground: Ground, server: RedistServer
) -> None:
    server.rate = 300_000
    words = ["--component", "cudnn", "--source", server.url, "--root", ground.root]
    with start_command("mirror", ground.mirror, "9.27.0", *words) as running:
        server.wait_for(TAR, sent=100_000)
        running.send_signal(signal.Signals[name])
        _, err = running.communicate(timeout=5)

    assert running.returncode == {"SIGINT": 130, "SIGTERM": 143}[name]
    assert b"Traceback" not in err
    assert sum(path.stat().st_size for path in ground.partials()) > 0
    assert ground.files() == {}


def test_two_runs_at_a_time_end_well(ground: Ground, server: RedistServer) -> None:
    server.rate = 200_000
    words = ["--source", server.url, "--root", ground.root]
    one = start_command("mirror", ground.mirror, "9.26.0", "9.27.0", *words)
    two = start_command("mirror", ground.mirror, "9.27.0", "9.9.0", *words)
    with one, two:
        told = [running.communicate()[1].decode() for running in (one, two)]

    assert (one.returncode, two.returncode) == (0, 0), told
    page = (ground.mirror / "cudnn/redist/index.html").read_text()
    assert [label.text for label in labels_of_page(page)] == ["9.9.0", "9.26.0", "9.27.0"]
    assert set(ground.files()) < set(check_mirror(ground.mirror))
    assert ground.hidden() == HIDDEN
