"""README's "Mirror it" and "Channels" are run as they stand, against loopback servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redist import RedistPool, RedistServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redist import RedistTree

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PREFIX = "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts for a POSIX shell")


def ran(section: str, folder: Path, source: str, stand_ins: Mapping[str, str]) -> list[str]:
    """Run the block of a section, with choices that leave nothing to this machine, and return its lines."""
    text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    block = block.replace(" fetch ", " fetch --platform linux-x86_64 --cuda 13 ")
    for word, stand_in in stand_ins.items():
        block = block.replace(word, stand_in)
    command = folder / "bin" / "cudnn-redist"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cudnn_redist "$@"\n')
    command.chmod(0o755)
    environment = {
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "CUDNN_REDIST_ROOT": str(folder / "root"),
        "CUDNN_REDIST_SOURCE": source,
    }
    done = subprocess.run(
        ["sh", "-e", "-c", block], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_mirror_is_made_pruned_checked_and_fetched_from(server: RedistServer, tmp_path: Path) -> None:
    mirror = tmp_path / "srv"
    mirror.mkdir()
    with RedistServer(mirror) as served:
        stand_ins = {"/srv/redist": str(mirror), "https://mirror.example/": served.url}
        told = ran("Mirror it", tmp_path, server.url, stand_ins)

    assert told[:2] == [str(mirror)] * 2
    assert re.fullmatch(rf"{mirror}: \d+ files, all as mirrored", told[2])
    assert told[3:] == [str(tmp_path / "root" / PREFIX)]
    assert list(mirror.rglob("*-9.26.0.*")) == []


def test_a_channel_is_listed_fetched_and_locked(tree: RedistTree, tmp_path: Path) -> None:
    pool = RedistPool(tmp_path / "pool")
    for label in ("9.26.0", "9.27.0"):
        pool.add_release(tree, label)
    with RedistServer(pool.path) as server:
        told = ran("Channels", tmp_path, server.url, {})

    assert told == [
        "stable: cudnn",
        "9.26.0",
        "9.27.0",
        str(tmp_path / "root" / PREFIX),
        str(tmp_path / "cudnn-redist.lock"),
    ]
