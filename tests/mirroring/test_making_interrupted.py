"""Killed, interrupted, or not alone: nothing half is served, and the next run completes the mirror."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from campaigns.processes import until
from mirroring.ground import HIDDEN
from redist.command import start_command
from redist.faults import Stall

from cudnn_redist.mirroring.checking import check_mirror
from cudnn_redist.source.index import labels_of_page

if TYPE_CHECKING:
    from pathlib import Path

    from mirroring.ground import Ground
    from redist import RedistServer


def received(ground: Ground) -> int:
    """Return the bytes of the archive of which most has come."""
    return max((path.stat().st_size for path in ground.partials()), default=0)


@pytest.mark.parametrize("moment", [0, 200_000, 900_000], ids=["begun", "early", "late"])
def test_killed_half_way_nothing_half_is_served_and_the_next_run_completes(
    moment: int, big: Path, ground: Ground, server: RedistServer
) -> None:
    server.fail(big.name, Stall(moment))
    words = ["--component", "cudnn", "--source", server.url, "--root", ground.root]
    with start_command("mirror", ground.mirror, "9.26.0", "9.27.0", *words) as running:
        server.wait_for(big.name, sent=moment)
        assert until(lambda: not moment or received(ground) >= moment)
        running.send_signal(signal.SIGKILL)
        running.communicate()

    published = {
        ground.place(path): path.read_bytes() for path in ground.tree.path.rglob("*") if path.is_file()
    }
    assert ground.files().items() <= published.items()
    assert "cudnn/redist/redistrib_9.27.0.json" not in ground.files()
    ground.make("9.26.0", "9.27.0", source=server.url, component="cudnn")
    assert check_mirror(ground.mirror)
    assert ground.hidden() == HIDDEN
    assert sum(request.sent for request in server.requests(big.name)) < big.stat().st_size + 700_000


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_at_once_and_leaves_what_has_come(
    name: str, big: Path, ground: Ground, server: RedistServer
) -> None:
    server.fail(big.name, Stall(100_000))
    words = ["--component", "cudnn", "--source", server.url, "--root", ground.root]
    with start_command("mirror", ground.mirror, "9.27.0", *words) as running:
        assert until(lambda: received(ground) == 100_000)
        running.send_signal(signal.Signals[name])
        _, err = running.communicate(timeout=60)

    assert running.returncode == {"SIGINT": 130, "SIGTERM": 143}[name]
    assert b"Traceback" not in err
    assert received(ground) == 100_000
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
