"""What is loaded when, and that a copy of the package needs nothing else of it (design, section 1)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from redist import RedistTree
from redist.command import run_command
from redist.libraries import elf_library

import cudnn_redist

PACKAGE = Path(cudnn_redist.__file__).parent

HEAVY = ("httpx", "pydantic", "pydantic_core", "tqdm", "zstandard", "truststore", "certifi")


def test_zstandard_is_loaded_only_when_zstd_is_met() -> None:
    """Not seen in a whole fetch: httpx loads it too, for encodings that this package never asks for."""
    assert loaded("import cudnn_redist.unpack, cudnn_redist.unpack.streams") == ([], "")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with 9.27.0 for this choice of the tests, and nothing left that could answer for it."""
    tree = RedistTree(tmp_path_factory.mktemp("tree"))
    tree.add_release("9.27.0")
    root = tmp_path_factory.mktemp("root")
    done = run_command("fetch", "9.27.0", *CHOSEN, "--source", tree.path, "--root", root)
    assert done.code == 0, done.err
    shutil.rmtree(tree.path)
    return root


CHOSEN = ("--platform", "linux-x86_64", "--cuda", "13")

LOADED = """
import sys
sys.argv[0] = "cudnn-redist"
try:
    {work}
finally:
    print("loaded:", *sorted(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""
RUN = "import runpy; runpy.run_module('cudnn_redist', run_name='__main__')"


def loaded(work: str, *words: object) -> tuple[list[str], str]:
    """Return the heavy libraries that were imported by some work, and what it printed."""
    program = LOADED.format(work=work, heavy=(*HEAVY, "platformdirs"))
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()[1:], done.stdout


def test_importing_the_package_is_light() -> None:
    assert loaded("import cudnn_redist; cudnn_redist.errors; cudnn_redist.Prefix") == ([], "")


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["fetch", "--help"]], ids=" ".join)
def test_telling_about_itself_is_light(words: list[str]) -> None:
    libraries, told = loaded(RUN, *words)
    assert libraries == []
    assert "cudnn-redist" in told


@pytest.mark.parametrize(
    "words",
    [
        ("fetch", "9.27.0", *CHOSEN),
        ("fetch", "9.27.0.42", *CHOSEN, "--json"),
        ("where", "9.27.0", *CHOSEN),
        ("list", "--installed"),
    ],
    ids=" ".join,
)
def test_answering_from_what_is_installed_is_light(installed: Path, words: tuple[str, ...]) -> None:
    libraries, told = loaded(RUN, *words, "--root", installed)
    assert libraries == []
    assert str(installed / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13") in told


def test_fetching_what_is_installed_is_light(installed: Path) -> None:
    words = f"'9.27.0', platform='linux-x86_64', cuda='13', root={str(installed)!r}"
    work = f"from cudnn_redist import fetch; print(fetch({words}).path)"
    libraries, told = loaded(work)
    assert libraries == []
    assert told.strip() == str(installed / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13")


def test_what_is_wanted_beside_a_program_s_own_imports_is_light(tmp_path: Path) -> None:
    """torch's environment has none of our dependencies: a prefix of its wheel's directory, loaded before it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libcudnn.so.9").write_bytes(elf_library(soname="libcudnn.so.9"))
    words = f"{str(tmp_path)!r}, label='9.27.0', cuda='13', root={str(tmp_path / 'root')!r}"
    work = f"from cudnn_redist import adopt, preload; print(adopt({words}).record.label)"
    assert loaded(work) == ([], "9.27.0\n")


VENDORED = """
import sys
sys.path.insert(0, sys.argv[1])
import _vendor.cudnn_redist as vendored
assert vendored.__file__.startswith(sys.argv[1]), vendored.__file__
prefix = vendored.fetch(
    "9.27.0", platform="linux-x86_64", cuda="13", sources=[sys.argv[2]], root=sys.argv[3]
)
assert prefix.verify() == ()
assert "cudnn_redist" not in sys.modules
print(prefix.path)
"""


def test_a_vendored_copy_works_without_the_installed_one(tmp_path: Path, redist_tree: RedistTree) -> None:
    vendor = tmp_path / "third_party/_vendor"
    shutil.copytree(PACKAGE, vendor / "cudnn_redist", ignore=shutil.ignore_patterns("__pycache__"))
    (vendor / "__init__.py").touch()
    words = [tmp_path / "third_party", redist_tree.path, tmp_path / "root"]
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", VENDORED, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(tmp_path / "root/cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
