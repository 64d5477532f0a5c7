from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.doctor.child import Told, run_apart, scrubbed

if TYPE_CHECKING:
    from pathlib import Path


def told(tmp_path: Path, program: str, *words: str, timeout: float = 60) -> Told:
    path = tmp_path / "program.py"
    path.write_text(f"import json, os, sys, time\n{program}\n")
    environment = {
        "HOME": str(tmp_path),
        **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
    }
    return run_apart(path, *words, environment=environment, timeout=timeout)


def test_later_lines_add_to_earlier_ones(tmp_path: Path) -> None:
    program = """
print(json.dumps({"step": "first", "words": sys.argv[1:]}))
print("what a library says of itself\\n5")
print(json.dumps({"step": "last"}))
"""
    assert told(tmp_path, program, "a b", "ü") == Told(
        facts={"step": "last", "words": ["a b", "ü"]}, ended="well"
    )


def test_it_gets_its_environment_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    program = (
        'print(json.dumps({"environment": sorted(os.environ), "path": sys.path, "stdin": sys.stdin.read()}))'
    )
    facts = told(tmp_path, program).facts
    assert "HOME" in facts["environment"]
    assert not {"LD_LIBRARY_PATH", "PYTHONPATH", "PATH"} & set(facts["environment"])
    assert (str(tmp_path) in facts["path"], facts["stdin"]) == (False, "")


@pytest.mark.parametrize(
    ("program", "ended", "how"),
    [
        pytest.param("sys.exit(3)", "badly", "exit code 3", id="exit"),
        pytest.param("os.abort()", "badly", "SIGABRT", id="signal"),
        pytest.param("raise ValueError", "badly", "exit code 1", id="exception"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_what_it_told_before_it_died_is_kept(program: str, ended: str, how: str, tmp_path: Path) -> None:
    begun = 'print(json.dumps({"step": "begun"}), flush=True); print(\'{"step": "cut\', flush=True)'
    assert told(tmp_path, f"{begun}\n{program}") == Told(facts={"step": "begun"}, ended=ended, how=how)  # type: ignore[arg-type]


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    found = told(tmp_path, "time.sleep(60)", timeout=0.5)
    assert (found.ended, found.how) == ("late", "no answer within 0.5 s")


def test_what_chooses_libraries_is_taken_out_of_an_environment() -> None:
    kept = {"HOME": "/home/me", "TMPDIR": "/tmp"}
    assert scrubbed({**kept, "LD_LIBRARY_PATH": "/x", "LD_PRELOAD": "/y", "PATH": "/bin"}) == kept
