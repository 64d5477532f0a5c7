"""README's "No network" is run as it stands: only its first line may see the server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from redist import RedistServer

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """Return the lines of the block, with choices that leave nothing to the machine of the test."""
    section = README.partition("\n## No network\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return str(block).replace(" fetch ", " fetch --platform linux-x86_64 --cuda 13 ").splitlines()


@pytest.mark.skipif(os.name == "nt", reason="lines for a POSIX shell")
def test_a_bundle_is_all_that_is_needed(redist_server: RedistServer, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "cudnn-redist"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cudnn_redist "$@"\n')
    command.chmod(0o755)
    environment = {"PATH": f"{command.parent}:/usr/bin:/bin", "CUDNN_REDIST_ROOT": str(tmp_path / "root")}

    def run(line: str, **more: str) -> str:
        done = subprocess.run(
            ["sh", "-c", line.replace("/srv/", f"{tmp_path}/")],
            env=environment | more,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first, *others = commands()
    told = [run(first, CUDNN_REDIST_SOURCE=redist_server.url)]
    redist_server.close()
    told += map(run, others)

    prefix = f"{tmp_path}/root/cudnn/9.27.0/cudnn/linux-x86_64/cuda13\n"
    assert told == [f"{tmp_path}/cudnn.bundle\n", "9.27.0\n", prefix, prefix, f"{tmp_path}/redist\n"]
