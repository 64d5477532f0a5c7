"""The examples that stand on an export: each made as its first lines say, and run by the tool it is for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from consumers import made
from export.docker_step import Builder, instructions
from export.evaluating import evaluated
from export.ground import run
from export.nix import Nix
from redist import RedistTree
from redist.command import run_command

import cudnn_redist
from cudnn_redist import lock
from cudnn_redist.export.kinds import text_of
from cudnn_redist.export.narrowing import narrowed
from cudnn_redist.locking.making import choice

if TYPE_CHECKING:
    from export.ground import Exports

EXAMPLES = Path(__file__).parents[2] / "examples"
NVIDIA = "https://developer.download.nvidia.com/compute/"


def copied(name: str, folder: Path, *, source: object) -> Path:
    """Copy an example, and make the export that its comment names, from ``source``."""
    project = folder / name
    shutil.copytree(EXAMPLES / name, project)
    text = "\n".join(path.read_text(encoding="utf-8") for path in project.iterdir())
    words, _, file = re.findall(r"^# +cudnn-redist (export .*) (>) (\S+)$", text, flags=re.MULTILINE)[0]
    done = run_command(*words.split(), "--source", str(source), "--root", folder / "root")
    assert done.code == 0, done.err
    (project / file).write_text(done.out, encoding="utf-8")
    return project


def test_cmake(tmp_path: Path) -> None:
    content = made.release({**made.headers(), **made.linux(tmp_path)})
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.0", platforms=("linux-x86_64",), variants=("cuda13",), content=lambda *_: content)
    project = copied("cmake", tmp_path, source=tree.path)
    done = run("cmake", "-S", ".", "-B", "build", "-DCUDNN_PLATFORM=linux-x86_64", cwd=project)
    assert done.returncode == 0, done.stderr
    assert run("cmake", "--build", "build", cwd=project).returncode == 0
    assert run("build/version", cwd=project).stdout == "cuDNN 92700\n"


def test_bazel(exports: Exports, tmp_path: Path) -> None:
    project = copied("bazel", tmp_path, source=exports.server.url)
    texts = {path.name: path.read_text(encoding="utf-8") for path in project.iterdir()}
    module, *_, include = evaluated(texts["MODULE.bazel"])["calls"]
    assert (module["kind"], include) == ("module", {"kind": "include", "file": "//:cudnn.MODULE.bazel"})
    (repository,) = evaluated(texts["cudnn.MODULE.bazel"])["calls"]
    (binary,) = evaluated(texts["BUILD.bazel"].partition("\n")[2])["calls"]
    assert binary["deps"] == [f"@{repository['name']}//:cudnn"]
    assert all(source in texts for source in binary["srcs"])


PACKAGES = """
{
  fetchurl = import <nix/fetchurl.nix>;
  runCommand = name: attributes: script: derivation {
    inherit name; system = builtins.currentSystem; builder = "/bin/sh";
    args = [ "-e" "-c" "PATH=/usr/bin:/bin; ${script}" ];
  };
}
"""


def test_nix(exports: Exports, tmp_path: Path) -> None:
    project = copied("nix", tmp_path, source=exports.server.url)
    (tmp_path / "packages.nix").write_text(PACKAGES)
    words = ("default.nix", "--arg", "pkgs", f"import {tmp_path}/packages.nix", "--no-out-link")
    done = Nix(tmp_path).run("nix-build", *words, cwd=project)
    assert done.returncode == 0, done.stderr
    package = Path(done.stdout.strip())
    assert (package / "lib64/libcudnn.so").resolve().name == "libcudnn.so.9.27.0"
    assert (package / "include/cudnn.h").is_file()


def without_version(text: str) -> str:
    """A later version of this tool that prints the same step is no other step."""
    return re.sub(r"Written by cudnn-redist \S+:", "Written by cudnn-redist:", text)


def test_docker_has_the_digests_of_nvidia_s_manifest(shared_manifests: Path, tmp_path: Path) -> None:
    platforms = ["linux-x86_64", "linux-sbsa"]
    sources = [str(shared_manifests / "cudnn")]
    pins = lock("9.27.0", platform=platforms, cuda="13", sources=sources, root=tmp_path / "root")
    main = narrowed(pins, (), choice(), origin="the manifest")
    step = text_of("docker", main, sources=[NVIDIA])
    text = (EXAMPLES / "docker/Dockerfile").read_text(encoding="utf-8")
    assert without_version(f"{step}# ----") in without_version(text)


def test_docker_builds_what_its_step_says(exports: Exports, tmp_path: Path) -> None:
    text = (EXAMPLES / "docker/Dockerfile").read_text(encoding="utf-8")
    assert [word for word, _ in instructions(text)] == [
        "FROM",
        "RUN",
        "ARG",
        "ARG",
        "ARG",
        "RUN",
        "ENV",
        "RUN",
    ]
    step = text.split("# ---")[1].partition("\n")[2]
    (sha256,) = re.findall(r"amd64/cuda13\) sum=([0-9a-f]{64});", step)
    (url,) = re.findall(r"https://\S*linux-x86_64\S*", step)
    here = f"{exports.server.url}cudnn/redist/{exports.entry()['relative_path']}"
    step = step.replace(sha256, exports.entry()["sha256"]).replace(url, here)
    builder = Builder(tmp_path, step)
    done = builder.build(TARGETARCH="amd64")
    assert done.returncode == 0, done.stderr
    assert (builder.prefix / "include/cudnn.h").is_file()


def test_vendored(exports: Exports, tmp_path: Path) -> None:
    project = tmp_path / "vendored"
    shutil.copytree(EXAMPLES / "vendored", project)
    ignored = shutil.ignore_patterns("__pycache__")
    package = Path(cudnn_redist.__file__).parent
    shutil.copytree(package, project / "third_party/_vendor/cudnn_redist", ignore=ignored)
    (project / "cudnn-redist.lock").write_bytes(exports.lock().to_bytes())
    words = [sys.executable, "build.py", "--platform", "linux-x86_64"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    prefix = project / "build/cudnn/cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert (done.returncode, done.stdout) == (0, f"building with {prefix}\n"), done.stderr
    words = [sys.executable, "-m", "third_party._vendor.cudnn_redist", "export", "python"]
    done = subprocess.run(
        [*words, "--lock", "cudnn-redist.lock"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.stdout == exports.text("python"), done.stderr


class Runner:
    """As much of a runner as the workflow needs: its cache is the directory that the steps leave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / ".cudnn"
        self._outputs: dict[str, str] = {}
        (folder / "bin").mkdir()
        program = folder / "bin" / "cudnn-redist"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cudnn_redist "$@"\n')
        program.chmod(0o755)

    def run(self, step: dict[str, Any]) -> str:
        """Run one step; return what it appended to the environment of the job."""
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")}
        for file in files.values():
            file.write_text("")
        given = {
            name: re.sub(
                r"\$\{\{ steps\.(\w+\.)outputs\.(\w+) \}\}",
                lambda found: self._outputs[found[1] + found[2]],
                text,
            )
            for name, text in step.get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={
                "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
                "HOME": str(self.folder),
                "CUDNN_REDIST_ROOT": str(self.root),
                **{name: str(file) for name, file in files.items()},
                **given,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            self._outputs[f"{step.get('id')}.{name}"] = value
        return files["GITHUB_ENV"].read_text()


def test_the_workflow_fetches_once_a_platform_and_lock(exports: Exports, tmp_path: Path) -> None:
    workflow = yaml.safe_load((EXAMPLES / "github-cache.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["build"]
    names = [step.get("name") for step in job["steps"]]
    assert names[:3] == [None, "Install", "Keep cuDNN"]
    cache = job["steps"][2]["with"]
    assert job["env"]["CUDNN_REDIST_ROOT"].endswith(f"/{cache['path']}")
    for part in ("runner.os", "runner.arch", "hashFiles('cudnn-redist.lock')"):
        assert f"${{{{ {part} }}}}" in cache["key"]

    (tmp_path / "cudnn-redist.lock").write_bytes(exports.lock().to_bytes())
    runner = Runner(tmp_path)
    fetch, tell = job["steps"][3:5]
    for _ in range(2):
        runner.run(fetch)
        assert f"{runner.root}/cudnn/9.27.0/cudnn/" in runner.run(tell)
    archives = [request for request in exports.server.log if request.path.endswith(".tar.xz")]
    assert len(archives) == 1
