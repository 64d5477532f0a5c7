"""README's "Pin it" and "Keep it current" are run as they stand, against a loopback server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from redist import RedistServer, RedistTree

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def script(section: str) -> str:
    """Return the block of a section, with choices that leave nothing to the machine of the test."""
    (block,) = re.findall(
        r"```sh\n(.*?)```", README.partition(f"\n## {section}\n")[2].partition("\n## ")[0], re.DOTALL
    )
    return str(block).replace(" fetch ", " fetch --platform linux-x86_64 --cuda 13 ")


@pytest.mark.skipif(os.name == "nt", reason="a script for a POSIX shell")
def test_a_release_is_pinned_and_kept_current(
    redist_server: RedistServer, redist_tree: RedistTree, tmp_path: Path
) -> None:
    command = tmp_path / "bin" / "cudnn-redist"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cudnn_redist "$@"\n')
    command.chmod(0o755)
    environment = {
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "CUDNN_REDIST_ROOT": str(tmp_path / "root"),
        "CUDNN_REDIST_SOURCE": redist_server.url,
    }

    def run(section: str) -> list[str]:
        text = script(section).replace("https://mirror.example/redist/", f"{redist_server.url}cudnn/redist/")
        done = subprocess.run(
            ["sh", "-e", "-c", text],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    prefix = str(tmp_path / "root/cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
    assert run("Pin it") == [f"{tmp_path}/cudnn-redist.lock", prefix, prefix, f"{prefix}: as recorded"]
    redist_tree.add_release("9.27.1")
    told = run("Keep it current")
    assert told[:3] == [
        "cudnn 9.27.0: as locked",
        "cudnn 9.27.0 (asked for as 9.27): 9.27.1 fits, 9.27.1 is the newest",
        "cudnn 9.27.0: upgraded to 9.27.1",
    ]
    assert prefix in told
    assert Path(prefix).is_dir()
