"""Whatever becomes of a download, no socket and no file stays open: long-lived programs call the library often."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redist.faults import Cut, Flipped, Redirect, Reset, Stall, Status

if TYPE_CHECKING:
    from redist import RedistServer
    from redist.faults import Fault

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts what Linux says is open")

# The server's own sockets are not counted, since it is in another process; nor does the collector close any.
CALLS = """
import gc, os, sys
from cudnn_redist import InstallOptions, TransferOptions, fetch
from cudnn_redist.errors import RedistError
from cudnn_redist.mirroring.making import mirror

gc.disable()
source, place = sys.argv[1:]
hasty = TransferOptions(retries=0, stall_timeout=1.0, min_speed=0)

def fetched():
    options = InstallOptions(transfer=hasty)
    fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[source], root=f"{place}/root", options=options)

def mirrored():
    mirror(f"{place}/mirror", "9.27.0", sources=[source], transfer=hasty)

for call in (fetched, mirrored):
    before = set(os.listdir("/proc/self/fd"))
    outcome = "done"
    try:
        call()
    except RedistError as error:
        outcome = type(error).__name__
    # That of the listing itself is gone again.
    left = [name for name in set(os.listdir("/proc/self/fd")) - before if os.path.lexists(f"/proc/self/fd/{name}")]
    print(outcome, [os.readlink(f"/proc/self/fd/{name}") for name in left])
"""


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (None, "done"),
        (Cut(40_000), "TransientTransferError"),
        (Reset(40_000), "TransientTransferError"),
        (Stall(40_000), "TransientTransferError"),
        (Status(404), "ArchiveWithdrawn"),
        (Status(503), "TransientTransferError"),
        (Redirect("/elsewhere"), "ArchiveWithdrawn"),
        (Flipped(40_000), "DigestMismatch"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str) else None,
)
def test_nothing_stays_open(
    fault: Fault | None, outcome: str, redist_server: RedistServer, tmp_path: Path
) -> None:
    if fault is not None:
        redist_server.always(".tar.xz", fault)
    command = [sys.executable, "-c", CALLS, redist_server.url, str(tmp_path)]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{outcome} []"] * 2
