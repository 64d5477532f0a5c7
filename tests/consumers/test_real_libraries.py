"""NVIDIA's own libraries, found by CMake, pkg-config and the loader: the small set, which needs no GPU to load."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from consumers.project import Project
from consumers.tools import ran
from real import repack, wheel

import cudnn_redist

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

# Declared by hand: NVIDIA's header includes those of the CUDA toolkit.
SOURCE = """\
#include <stdio.h>
#include <cudnn_version.h>
size_t cudnnGetVersion(void);
int main(void) {
    printf("version %zu\\n", cudnnGetVersion());
    return cudnnGetVersion() != CUDNN_VERSION;
}
"""
VERSION = "version 92700\n"


@pytest.fixture(scope="module")
def real_prefix(tmp_path_factory: pytest.TempPathFactory) -> cudnn_redist.Prefix:
    cache = wheel.cache_directory()
    tree = repack.repack(wheel.download(wheel.CUDNN_JIT, cache), cache)
    return cudnn_redist.fetch(
        "9.27.0",
        component="cudnn_jit",
        platform="linux-x86_64",
        cuda="13",
        sources=[str(tree.path)],
        root=tmp_path_factory.mktemp("root"),
    )


@pytest.mark.parametrize("name", ["cudnn", "cuDNN", "CUDNN", "CuDNN"])
def test_find_package(real_prefix: cudnn_redist.Prefix, tmp_path: Path, name: str) -> None:
    text = f"""
find_package({name} 9.27 EXACT REQUIRED COMPONENTS graph engines_runtime_compiled)
add_executable(app main.c)
target_link_libraries(app PRIVATE CUDNN::cudnn_all)
install(TARGETS app DESTINATION bin)
cudnn_install_runtime(app)
"""
    project = Project(tmp_path / "p", text)
    (project.home / "main.c").write_text(SOURCE)
    project.configure(env=real_prefix.env("cmake"))
    project.build()
    assert project.run() == VERSION
    project.install(tmp_path / "out")
    assert ran(tmp_path / "out/bin/app") == VERSION


def test_pkg_config_and_the_loader(real_prefix: cudnn_redist.Prefix, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(SOURCE)
    found = ran("pkg-config", "--cflags", "--libs", "cudnn", env=real_prefix.env("pkg-config"))
    ran("gcc", tmp_path / "main.c", "-o", tmp_path / "app", *shlex.split(found))
    assert ran(tmp_path / "app", env=real_prefix.env("loader")) == VERSION


def test_the_real_small_set_is_refused_where_it_cannot_serve(real_prefix: cudnn_redist.Prefix) -> None:
    assert not any(finding.severity == "fault" for finding in real_prefix.verify())
    with pytest.raises(cudnn_redist.errors.NotAvailableError, match="it has no cudnn_ops"):
        real_prefix.env("onnxruntime")
