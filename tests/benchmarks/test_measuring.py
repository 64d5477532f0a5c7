"""A line's cost is that of all its processes, and its end that of the last."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from benchmarks.measuring import measure

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring import Measured

MEBIBYTE = 1 << 20
BURN = "import time\nwhile time.process_time() < 0.2: pass"
ALLOCATE = f"data = bytearray({64 * MEBIBYTE})"


def python(code: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", "-c", code])


def run(line: str, home: Path, **variables: str) -> Measured:
    return measure(line, home=home, log=home / "log", variables={"PATH": os.environ["PATH"], **variables})


@pytest.mark.parametrize(
    "line",
    [
        python(BURN),
        f"{python(BURN)} | cat",
        f"true | tee >({python(BURN)}) | cat",
        f"({python(BURN)} &)",
    ],
    ids=["itself", "of a pipeline", "that nobody waits for", "in the background"],
)
def test_processor_time_of_every_process_counts(line: str, tmp_path: Path) -> None:
    measured = run(line, tmp_path)

    assert measured.exit_code == 0
    assert 0.2 <= measured.cpu < 1.5


def test_a_line_ends_with_its_last_process(tmp_path: Path) -> None:
    assert run("(sleep 0.3; touch late) & true", tmp_path).wall >= 0.3
    assert (tmp_path / "late").exists()


def test_memory_is_that_of_the_largest_process(tmp_path: Path) -> None:
    measured = run(f"{python(ALLOCATE)} | {python(ALLOCATE)}", tmp_path)

    assert 64 * MEBIBYTE <= measured.peak < 96 * MEBIBYTE


def test_memory_of_the_measuring_process_does_not_count(tmp_path: Path) -> None:
    held = bytearray(64 * MEBIBYTE)

    assert run("true", tmp_path).peak < 16 * MEBIBYTE
    assert len(held) == 64 * MEBIBYTE


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("true", 0),
        ("exit 7", 7),
        ("false; true", 1),
        ("false | true", 1),
        ("echo $UNKNOWN", 1),
        ("kill -9 $BASHPID", -9),
    ],
    ids=["success", "its own", "any command", "any of a pipeline", "unset variable", "signal"],
)
def test_exit_code_is_that_of_the_first_failure(line: str, code: int, tmp_path: Path) -> None:
    assert run(line, tmp_path).exit_code == code


def test_a_line_runs_in_its_home_with_the_given_variables_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREIGN", "here")

    run('echo "$GIVEN ${FOREIGN-gone} $PWD"; echo problem >&2; cat', tmp_path, GIVEN="given")

    assert (tmp_path / "log").read_text(encoding="utf-8") == f"given gone {tmp_path}\nproblem\n"
