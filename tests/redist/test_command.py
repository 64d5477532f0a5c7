from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from redist.command import run_command, start_command

if TYPE_CHECKING:
    from pathlib import Path

TELL = """
import json, os, sys
json.dump({"args": sys.argv[1:], "env": dict(os.environ)}, sys.stdout)
print("aside", file=sys.stderr)
sys.exit(3)
"""
SLEEP = "import time; print('ready', flush=True); time.sleep(60)"


def stand_in(folder: Path, program: str) -> Path:
    """Put another program of the same name where ``python -m`` looks first: in the working directory."""
    package = folder / "cudnn_redist"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(program)
    return folder


def test_a_command_gets_its_arguments_and_reports_its_end(tmp_path: Path) -> None:
    done = run_command("fetch", tmp_path, cwd=stand_in(tmp_path, TELL))
    assert (done.code, done.err.strip()) == (3, "aside")
    assert json.loads(done.out)["args"] == ["fetch", str(tmp_path)]
    assert 0 < done.seconds < 60


def test_a_command_sees_only_what_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: Path
) -> None:
    monkeypatch.setenv("CUDA_PATH", "/usr/local/cuda")
    monkeypatch.setenv("COVERAGE_PROCESS_CONFIG", "")
    done = run_command(cwd=stand_in(tmp_path, TELL), env={"CUDNN_REDIST_ROOT": "/r"})
    seen = json.loads(done.out)["env"]
    assert seen["PATH"] == os.environ["PATH"]
    assert seen["HOME"] == str(clean_environment)
    assert seen["CUDNN_REDIST_ROOT"] == "/r"
    assert "COVERAGE_PROCESS_CONFIG" in seen
    assert "CUDA_PATH" not in seen


def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_command(cwd=stand_in(tmp_path, SLEEP), timeout=0.5)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_started_command_can_be_sent_a_signal(tmp_path: Path) -> None:
    with start_command(cwd=stand_in(tmp_path, SLEEP)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("name", ["CUDA_PATH", "https_proxy", "SSL_CERT_FILE", "CUDNN_REDIST_ROOT"])
def test_the_environment_of_a_test_is_clean(name: str) -> None:
    assert name not in os.environ
