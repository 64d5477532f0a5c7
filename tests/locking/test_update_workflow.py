"""examples/update-lock.yml: its steps are run as a runner runs them, against a loopback server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from locking.ground import locked, write
from redist.indexes import index_page

from cudnn_redist.locking.file import read_lock

if TYPE_CHECKING:
    from redist import RedistServer, RedistTree

WORKFLOW = Path(__file__).parents[2] / "examples" / "update-lock.yml"
OTHERS = 'printf "%s" "$(basename "$0")" >> "$TOLD"; printf " %s" "$@" >> "$TOLD"; echo >> "$TOLD"'

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a workflow for a runner with a POSIX shell")


class Runner:
    """As much of a runner as the example needs; ``git`` and ``gh`` only note how they are called."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder
        self.told = folder / "told"
        self._outputs: dict[str, str] = {}
        self._environment = {
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "RUNNER_TEMP": str(folder),
            "TOLD": str(self.told),
            "CUDNN_REDIST_SOURCE": source,
        }
        (folder / "bin").mkdir()
        self._program("cudnn-redist", f'exec "{sys.executable}" -m cudnn_redist "$@"')
        self._program("python3", f'exec "{sys.executable}" "$@"')
        self._program("gh", OTHERS)
        self.proposed(before=False)

    def proposed(self, *, before: bool) -> None:
        """Say whether the branch of the update is at the remote already."""
        self._program("git", f'{OTHERS}; [ "$1" != ls-remote ] || exit {0 if before else 2}')

    def run(self, steps: list[dict[str, Any]]) -> list[str]:
        """Run the steps whose condition holds; return their names."""
        ran = []
        for step in steps:
            if "run" in step and self._holds(step.get("if")):
                self._run(step)
                ran.append(step["name"])
        return ran

    def _program(self, name: str, script: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def _holds(self, condition: str | None) -> bool:
        if condition is None:
            return True
        asked = re.fullmatch(r"steps\.(\w+)\.outputs\.(\w+) == '(\w+)'", condition)
        assert asked, condition
        return self._outputs.get(f"{asked[1]}.{asked[2]}") == asked[3]

    def _run(self, step: dict[str, Any]) -> None:
        output = self.folder / "output"
        output.write_text("")
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            env={**self._environment, "GITHUB_OUTPUT": str(output)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self._outputs[f"{step['id']}.{name}"] = value


def steps() -> list[dict[str, Any]]:
    """Return the steps, without the one that installs the command."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = workflow["jobs"]["update"]["steps"]
    assert [step.get("name") for step in found[:2]] == [None, "Install"]
    return found[2:]


def test_the_workflow_opens_an_update_when_there_is_one(
    redist_server: RedistServer, redist_tree: RedistTree, tmp_path: Path
) -> None:
    lock = write(tmp_path / "cudnn-redist.lock", locked(redist_server.url, tmp_path / "root", "9"))
    before = lock.read_bytes()
    runner = Runner(tmp_path, redist_server.url)
    assert runner.run(steps()) == ["Ask whether there is anything newer"]
    assert (lock.read_bytes(), runner.told.exists()) == (before, False)

    redist_tree.add_release("9.28.0")
    assert len(runner.run(steps())) == 3
    assert read_lock(lock).releases[0].label == "9.28.0"
    assert (tmp_path / "changes.txt").read_text().startswith("cudnn 9.27.0: upgraded to 9.28.0\n")
    called = [line.split()[:2] for line in runner.told.read_text().splitlines()]
    words = ("ls-remote", "switch", "config", "config", "commit", "push")
    assert called == [*(["git", word] for word in words), ["gh", "pr"]]


def test_an_update_that_nobody_has_decided_on_is_not_proposed_twice(
    redist_server: RedistServer, redist_tree: RedistTree, tmp_path: Path
) -> None:
    write(tmp_path / "cudnn-redist.lock", locked(redist_server.url, tmp_path / "root", "9"))
    redist_tree.add_release("9.28.0")
    runner = Runner(tmp_path, redist_server.url)
    runner.proposed(before=True)
    assert len(runner.run(steps())) == 3
    assert [line.split()[:2] for line in runner.told.read_text().splitlines()] == [["git", "ls-remote"]]


def pattern(name: str) -> str:
    """Return a pattern that the comment tells a bot, as Python spells it."""
    text = WORKFLOW.read_text(encoding="utf-8")
    told = re.search(rf'"{name}": \[?("(?:[^"\\]|\\.)*")', text)
    assert told
    spelled: str = yaml.safe_load(told[1])
    return spelled.replace("(?<", "(?P<")


def test_what_a_bot_is_told_reads_the_index_and_the_lock(redist_tree: RedistTree, tmp_path: Path) -> None:
    page = index_page("nvidia", redist_tree.redist, "/cudnn/redist/")
    links = re.findall(r"href=['\"]([^'\"]+)", page)
    found = [
        match["version"] for link in links if (match := re.search(pattern("extractVersionTemplate"), link))
    ]
    assert sorted(found) == ["9.26.0", "9.27.0"]
    text = locked(redist_tree.path, tmp_path).to_bytes().decode()
    assert [match["currentValue"] for match in re.finditer(pattern("matchStrings"), text)] == ["9.27.0"]
