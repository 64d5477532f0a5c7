"""Table D.1 of the consumers, written anew: each searches by its own rules, given only what ``env --for`` prints."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumers.tools import ran

from cudnn_redist import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cudnn_redist import Prefix

RULES = {
    "torch": "torch",
    "onnxruntime": "onnxruntime",
    "opencv": "opencv",
    "ctranslate2": "ctranslate2",
    "cudnn-frontend": "cudnn_frontend",
    "transformer-engine": "cudnn_frontend",
}
NEEDS_ALL = ("onnxruntime", "transformer-engine")


class Search:
    """One consumer's search, run by CMake."""

    def __init__(self, folder: Path, build: Path) -> None:
        self._folder, self._build = folder, build

    def __call__(
        self, rules: str, *options: str, env: Mapping[str, str], fails: bool = False
    ) -> dict[str, Path]:
        """Return what was found by the name of its variable; what was not is missing."""
        given = (f"-DCONSUMER={rules}", "-Wno-dev", *options)
        said = ran("cmake", "-S", self._folder, "-B", self._build, *given, env=env, fails=fails)
        told = re.findall(r"^-- told (\w+)=(/.*)$", said, flags=re.MULTILINE)
        return {name: Path(path) for name, path in told if not path.endswith("-NOTFOUND")}


@pytest.fixture
def searched(search: Path, tmp_path: Path) -> Search:
    return Search(search, tmp_path / "build")


def are_of(found: Mapping[str, Path], prefix: Prefix) -> bool:
    return {path.is_relative_to(prefix.path) for path in found.values()} == {True}


@pytest.mark.parametrize("consumer", RULES)
def test_the_whole_set_is_found(whole: Prefix, searched: Search, consumer: str) -> None:
    found = searched(RULES[consumer], "-DTARGETS=", env=whole.env(consumer))
    assert are_of(found, whole)
    assert len(found) == (9 if RULES[consumer] in ("onnxruntime", "cudnn_frontend") else 2)


LISTS_OF_CMAKE = ("CMAKE_INCLUDE_PATH", "CMAKE_LIBRARY_PATH")


@pytest.mark.parametrize("consumer", RULES)
def test_lists_that_cmake_looks_at_first_do_not_win(
    whole: Prefix, searched: Search, tmp_path: Path, consumer: str
) -> None:
    """As the modules of a cluster set them."""
    shutil.copytree(whole.path, tmp_path / "other", symlinks=True)
    before = {
        name: str(tmp_path / "other" / sub)
        for name, sub in zip(LISTS_OF_CMAKE, ("include", "lib"), strict=True)
    }
    found = searched(RULES[consumer], env={**before, **whole.env(consumer, before)})
    assert are_of(found, whole)


@pytest.mark.parametrize("consumer", RULES)
def test_an_environment_full_of_another_cudnn_does_not_win(
    whole: Prefix, searched: Search, tmp_path: Path, consumer: str
) -> None:
    other = tmp_path / "other"
    shutil.copytree(whole.path, other, symlinks=True)
    roots = ("CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT", "CUDNN_ROOT_DIR", "CMAKE_PREFIX_PATH", "CUDNN_DIR")
    before = {
        **dict.fromkeys(roots, str(other)),
        "CUDNN_INCLUDE_PATH": str(other / "include"),
        "CUDNN_LIBRARY_PATH": str(other / "lib"),
        "CUDNN_INCLUDE_DIR": str(other / "include"),
        "CUDNN_LIBRARY": str(other / "lib"),
    }
    found = searched(RULES[consumer], env={**before, **whole.env(consumer, before)})
    assert are_of(found, whole)


@pytest.mark.parametrize("consumer", [each for each in RULES if each not in NEEDS_ALL])
def test_the_jit_set_is_found_by_those_that_can_use_it(jit: Prefix, searched: Search, consumer: str) -> None:
    assert are_of(searched(RULES[consumer], env=jit.env(consumer)), jit)


@pytest.mark.parametrize("consumer", NEEDS_ALL)
def test_the_jit_set_is_refused_where_the_consumer_would_fail(
    jit: Prefix, searched: Search, consumer: str
) -> None:
    with pytest.raises(errors.NotAvailableError, match=f"cannot serve {consumer}: it has no ") as raised:
        jit.env(consumer)
    assert raised.value.available == ("cudnn", "cudnn_engines_runtime_compiled", "cudnn_graph")
    # And it would: given the variables all the same, CMake does not get through.
    variables = dict.fromkeys(("CUDNN_PATH", "CUDNN_HOME"), str(jit.path))
    searched(RULES[consumer], "-DTARGETS=CUDNN::cudnn_all", env=variables, fails=True)


def test_the_toolkits_own_cudnn_loses_to_the_variables_for_torch(
    whole: Prefix, searched: Search, tmp_path: Path
) -> None:
    shutil.copytree(whole.path, tmp_path / "toolkit", symlinks=True)
    toolkit = f"-DCUDA_TOOLKIT_ROOT_DIR={tmp_path / 'toolkit'}"
    assert not are_of(searched("torch", toolkit, env={}), whole)
    shutil.rmtree(tmp_path / "build")
    assert are_of(searched("torch", toolkit, env=whole.env("torch")), whole)


def test_opencv_is_told_of_the_toolkits_own_cudnn_and_of_the_way_out(
    whole: Prefix, searched: Search, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(whole.path, tmp_path / "toolkit", symlinks=True)
    before = {"CUDA_PATH": str(tmp_path / "toolkit")}
    env = {**before, **whole.env("opencv", before)}
    assert not are_of(searched("opencv", env=env), whole)
    (warning,) = caplog.messages
    options = re.findall(r"-D\S+", warning)
    shutil.rmtree(tmp_path / "build")
    assert are_of(searched("opencv", *options, env=env), whole)


def test_vcpkg(whole: Prefix, jit: Prefix, searched: Search) -> None:
    for prefix in (whole, jit):
        assert are_of(searched("vcpkg", "--fresh", env={"CUDNN_ROOT_DIR": str(prefix.path)}), prefix)


@pytest.mark.parametrize("hint", ["variable", "pkg-config"])
def test_arrayfire(whole: Prefix, searched: Search, hint: str) -> None:
    if hint == "variable":
        found = searched("arrayfire", f"-DcuDNN_ROOT_DIR={whole.path}", env={})
    else:
        found = searched("arrayfire", env=whole.env("pkg-config"))
    assert are_of(found, whole)
    assert len(found) == 5
