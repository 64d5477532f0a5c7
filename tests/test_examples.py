"""The examples run as their readers would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redist.content import File, default_content

from cudnn_redist.host import Machine, host_platform

if TYPE_CHECKING:
    from redist import RedistServer, RedistTree
    from redist.content import Entry

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(
    name: str, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *words]
    return subprocess.run(
        command, env={**os.environ, **(env or {})}, cwd=cwd, capture_output=True, text=True, check=False
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


def test_quickstart_in_a_relative_folder_again_and_the_commands_that_it_shows(tmp_path: Path) -> None:
    for _ in range(2):
        done = run("quickstart.py", "a folder", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "still the only prefix: True" in done.stdout
    shown = done.stdout.partition("\n7. ")[2].splitlines()[1:]
    listed, fetched = (
        subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
        for line in shown
    )
    assert "linux-x86_64" in listed.stdout
    prefix = Path(fetched.stdout.strip())
    assert prefix.is_relative_to(tmp_path / "a folder" / "installed" / "cudnn" / "9.26.0")


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


def tools(folder: Path, make: str) -> dict[str, str]:
    """An environment whose compilers are there, and whose ``make`` is a script of ours."""
    folder.mkdir()
    for name, script in (("make", make), ("g++", ""), ("nvcc", "")):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def samples_check(tree: RedistTree, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the check against a release whose samples have a Makefile."""

    def content(component: str, platform: str, version: str, variant: str | None = None) -> dict[str, Entry]:
        samples = {"src/cudnn_samples_v9/mnistCUDNN/Makefile": File(b"all:\n")}
        return (
            samples
            if component == "cudnn_samples"
            else dict(default_content("cudnn", platform, version, variant))
        )

    here = host_platform(Machine.this())[0]
    tree.add_release(
        "9.28.0", components=("cudnn", "cudnn_samples"), platforms=(here, "source"), content=content
    )
    words = ("--source", str(tree.path), "--root", str(folder / "root"), "--work", str(folder / "work"))
    return run("samples_check.py", "9.28.0", "--cuda", "13", *words, env=env)


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [("Test passed!", 0, "mnistCUDNN passed with cuDNN 9.28.0.42"), ("Test failed!", 9, "Test failed!")],
    ids=["passed", "failed"],
)
def test_samples_check_builds_against_the_prefix_and_runs(
    redist_tree: RedistTree, tmp_path: Path, told: str, code: int, words: str
) -> None:
    program = f"echo '{told}'"
    prefix_first = 'test -e "${LIBRARY_PATH%%:*}/libcudnn.so" -a -e "${LD_LIBRARY_PATH%%:*}/libcudnn.so.9"'
    build = f'printf "#!/bin/sh\\n%s" "{program}" > mnistCUDNN && chmod +x mnistCUDNN'
    env = tools(tmp_path / "bin", f"{prefix_first} && {build}")
    done = samples_check(redist_tree, tmp_path, env)
    assert done.returncode == code, done.stderr
    assert words in done.stdout + done.stderr


def test_samples_check_says_what_it_lacks_and_fetches_nothing(
    redist_tree: RedistTree, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    done = samples_check(redist_tree, tmp_path, {"PATH": str(tmp_path / "empty"), "CUDA_PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "mnistCUDNN cannot be built here: there is no make (to build with), no g++ (a C++ compiler), "
        "no nvcc (the CUDA toolkit)\n"
    )
    assert not (tmp_path / "root").exists()


def test_samples_check_shows_why_it_could_not_be_built(redist_tree: RedistTree, tmp_path: Path) -> None:
    done = samples_check(redist_tree, tmp_path, tools(tmp_path / "bin", "echo no FreeImage.h >&2; exit 2"))
    assert (done.returncode, done.stdout) == (9, "")
    assert done.stderr.startswith("no FreeImage.h\nmake failed with ")
