"""What pkg-config, a compiler and the loader make of a prefix."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import pytest
from consumers.project import PRINTS_VERSION
from consumers.tools import ran

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist import Prefix

VERSION = "version 92700\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "main.c"
    path.write_text(PRINTS_VERSION)
    return path


@pytest.mark.parametrize("module", ["cudnn", "cuDNN"])
@pytest.mark.parametrize("place", ["there", "moved", "with blanks"])
def test_pkg_config(whole: Prefix, source: Path, tmp_path: Path, module: str, place: str) -> None:
    variables = whole.env("pkg-config")
    if place != "there":
        shutil.copytree(whole.path, tmp_path / place, symlinks=True)
        variables = {"PKG_CONFIG_PATH": str(tmp_path / place / "lib/pkgconfig")}
    assert ran("pkg-config", "--modversion", module, env=variables) == "9.27.0.42\n"
    flags = shlex.split(ran("pkg-config", "--cflags", "--libs", module, env=variables))
    ran("gcc", source, "-o", tmp_path / "app", *flags)
    tree = whole.path if place == "there" else tmp_path / place
    assert ran(tmp_path / "app", env={"LD_LIBRARY_PATH": str(tree / "lib")}) == VERSION


def test_pkg_config_of_libraries_without_their_bare_names(
    whole: Prefix, tmp_path: Path, source: Path
) -> None:
    """What is generated for them links the very file."""
    from cudnn_redist.generated.files import generated_files

    paths = ["include/cudnn.h", "lib/libcudnn.so.9", "lib/libcudnn.so.9.27.0"]
    text = generated_files(paths, version="9.27.0.42", platform="linux-x86_64")["lib/pkgconfig/cudnn.pc"]
    tree = tmp_path / "tree"
    shutil.copytree(whole.path, tree, symlinks=True)
    (tree / "lib/libcudnn.so").unlink()
    (tree / "lib/pkgconfig/cudnn.pc").write_bytes(text)
    flags = ran(
        "pkg-config", "--cflags", "--libs", "cudnn", env={"PKG_CONFIG_PATH": str(tree / "lib/pkgconfig")}
    )
    ran("gcc", source, "-o", tmp_path / "app", *shlex.split(flags))
    assert ran(tmp_path / "app", env={"LD_LIBRARY_PATH": str(tree / "lib")}) == VERSION


def test_headers_alone_promise_no_library(headers_only: Prefix, source: Path, tmp_path: Path) -> None:
    variables = headers_only.env("pkg-config")
    assert "-l" not in ran("pkg-config", "--libs", "cudnn", env=variables)
    flags = shlex.split(ran("pkg-config", "--cflags", "cudnn", env=variables))
    ran("gcc", "-c", source, "-o", tmp_path / "main.o", *flags)


def test_a_compiler_and_the_loader_find_it_by_their_variables(
    whole: Prefix, source: Path, tmp_path: Path
) -> None:
    ran("gcc", source, "-o", tmp_path / "app", "-lcudnn", env=whole.env("compiler"))
    assert "libcudnn.so.9" in ran(tmp_path / "app", fails=True)
    assert ran(tmp_path / "app", env=whole.env("loader")) == VERSION
    assert ran(tmp_path / "app", env=whole.env("jax")) == VERSION


def test_the_link_line_of_a_torch_extension(whole: Prefix, source: Path, tmp_path: Path) -> None:
    """torch.utils.cpp_extension looks in lib64 alone."""
    home = whole.env("torch-extension")["CUDNN_HOME"]
    ran("gcc", source, "-o", tmp_path / "app", f"-I{home}/include", f"-L{home}/lib64", "-lcudnn")
    assert ran(tmp_path / "app", env=whole.env("loader")) == VERSION


@pytest.mark.parametrize("consumer", ["xla", "tensorflow"])
def test_the_layout_of_local_cudnn_path(whole: Prefix, consumer: str) -> None:
    """rules_ml_toolchain takes ``include`` and ``lib`` of it, and the libraries by their sonames."""
    local = whole.path.parent / whole.env(consumer)["LOCAL_CUDNN_PATH"]
    assert (local / "include/cudnn.h").is_file()
    names = ("cudnn", "cudnn_ops", "cudnn_adv", "cudnn_cnn", "cudnn_graph", "cudnn_heuristic")
    engines = ("cudnn_engines_precompiled", "cudnn_engines_runtime_compiled")
    assert [name for name in (*names, *engines) if not (local / f"lib/lib{name}.so.9").is_file()] == []
