"""The examples run as their readers would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redist import RedistServer, RedistTree

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *words]
    return subprocess.run(
        command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )


def test_quickstart_fetches_refetches_verifies_and_refuses(tmp_path: Path) -> None:
    done = run("quickstart.py", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    prefix = tmp_path / "installed" / "cudnn" / "9.27.0" / "cudnn" / "linux-x86_64" / "cuda13"
    assert (prefix / ".cudnn-redist.json").is_file()
    assert f"   {prefix}\n" in done.stdout
    assert "the same prefix: True; new requests: 0" in done.stdout
    assert "nothing differs" in done.stdout
    assert "exit code 5" in done.stdout
    assert "still the only prefix: True" in done.stdout


def test_ci_script_exports_the_prefix(redist_server: RedistServer, tmp_path: Path) -> None:
    words = ["9.27.0", "--cuda", "13", "--platform", "linux-x86_64", "--source", redist_server.url]
    github_env = tmp_path / "github_env"
    done = run("ci_script.py", *words, "--root", str(tmp_path / "root"), env={"GITHUB_ENV": str(github_env)})
    prefix = tmp_path / "root" / "cudnn" / "9.27.0" / "cudnn" / "linux-x86_64" / "cuda13"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"CUDNN_PATH={prefix}\nCUDNN_VERSION=9.27.0.42\n" == github_env.read_text()


def test_ci_script_tells_the_network_from_the_release(redist_tree: RedistTree, tmp_path: Path) -> None:
    root = ["--root", str(tmp_path / "root"), "--platform", "linux-x86_64"]
    missing = run("ci_script.py", "9.27.0", "--cuda", "11", "--source", str(redist_tree.path), *root)
    assert missing.returncode == 3
    assert "cuda12, cuda13" in missing.stderr


def test_ci_script_refuses_a_damaged_cache(redist_tree: RedistTree, tmp_path: Path) -> None:
    words = ["9.27.0", "--cuda", "13", "--platform", "linux-x86_64", "--source", str(redist_tree.path)]
    root = tmp_path / "root"
    assert run("ci_script.py", *words, "--root", str(root)).returncode == 0
    header = root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13/include/cudnn.h"
    data = header.read_bytes()
    header.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    damaged = run("ci_script.py", *words, "--root", str(root))
    assert damaged.returncode == 9
    assert "include/cudnn.h" in damaged.stderr
