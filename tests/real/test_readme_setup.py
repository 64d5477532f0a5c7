"""README's two set-up commands, on a copy of what git tracks, as on a fresh machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from real.program import phase

pytestmark = pytest.mark.real

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as a clone would have it."""
    folder = tmp_path_factory.mktemp("fresh")
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, tracked):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    return folder


def setup_commands() -> list[str]:
    start = (PROJECT / "README.md").read_text(encoding="utf-8").partition("## Start")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", start, flags=re.DOTALL)


def test_there_are_two() -> None:
    assert len(setup_commands()) == 2


def test_the_first_does_the_main_job(copy: Path) -> None:
    done = phase("README's first command", ["sh", "-c", setup_commands()[0]], copy)
    assert done.exit_code == 0
    assert "the same prefix: True; new requests: 0" in done.stdout


def test_the_second_runs_tests(copy: Path) -> None:
    # All of them run beside this one; a single file shows that nothing is missing for them.
    command = f"{setup_commands()[1].strip()} tests/test_readme.py"
    done = phase("README's second command, one file of it", ["sh", "-c", command], copy)
    assert done.exit_code == 0
    assert " passed" in done.stdout
