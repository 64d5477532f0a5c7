"""README's section "Use it from ...": its lines set what they say, and its CMake builds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumers.made import PARTS
from consumers.project import Project
from redist import File, RedistTree
from redist.content import default_content

import cudnn_redist
from cudnn_redist.env.consumers import CONSUMERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redist.content import Entry

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("\n## Use it from ...\n")[2].partition("\n## ")[0]
LINES = re.findall(r"^(eval .*--for ([\w-]+)\)\") +# (.*)$", SECTION, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root that holds 9.27.0 with every part, as if it were made for this machine."""

    def content(*facts: str | None) -> Mapping[str, Entry]:
        parts = {f"lib/libcudnn_{part}.so.9": File(b"\x7fELF") for part in PARTS}
        return {**parts, **default_content(*facts)}  # type: ignore[arg-type]

    tree = RedistTree(tmp_path_factory.mktemp("tree"))
    tree.add_release("9.27.0", platforms=("linux-x86_64",), content=content)
    folder = tmp_path_factory.mktemp("root")
    chosen = {"platform": "linux-x86_64", "cuda": "13"}
    cudnn_redist.fetch("9.27.0", sources=[str(tree.path)], root=folder, **chosen)
    return folder


def test_every_consumer_has_its_line() -> None:
    assert {consumer for _, consumer, _ in LINES} == {consumer.name for consumer in CONSUMERS}


@pytest.mark.parametrize(("line", "told"), [pytest.param(line, told, id=name) for line, name, told in LINES])
def test_a_line_sets_what_it_says(root: Path, line: str, told: str) -> None:
    program = f"{shlex.quote(sys.executable)} -m cudnn_redist"
    script = line.replace("cudnn-redist", program).replace("--cuda", "--platform linux-x86_64 --cuda")
    env = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], "CUDNN_REDIST_ROOT": str(root)}
    done = subprocess.run(["sh", "-c", f"{script}; env"], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    prefix = root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    led = {line.partition("=")[0] for line in done.stdout.splitlines() if f"={prefix}" in line}
    words = {"CMAKE_PREFIX_PATH"} if told.startswith("or cmake") else set(told.split())
    assert led == words


def test_the_cmake_block_builds(whole: cudnn_redist.Prefix, tmp_path: Path) -> None:
    (block,) = re.findall(r"```cmake\n(.*?)```", SECTION, flags=re.DOTALL)
    first, *others = block.splitlines()
    project = Project(tmp_path / "p", "\n".join((first, "add_executable(app main.c)", *others)))
    project.configure(f"-DCMAKE_PREFIX_PATH={whole.path}")
    project.build()
    assert project.run() == "version 92700\n"
