"""README's table of exports: every kind is in it, and each of its commands runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redist.command import run_command

from cudnn_redist.export.kinds import KINDS

if TYPE_CHECKING:
    from export.ground import Exports

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\| `(export [^`>]*?)(?: > \S+)?` \|", README, flags=re.MULTILINE)


def test_every_kind_is_there() -> None:
    assert [command.split()[1] for command in COMMANDS] == list(KINDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, exports: Exports, tmp_path: Path) -> None:
    done = run_command(*shlex.split(command), "--source", exports.server.url, "--root", tmp_path / "root")
    assert done.code == 0, done.err
    assert exports.entry()["sha256"] in done.out or exports.name() in done.out
