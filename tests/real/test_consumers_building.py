"""Programs built against the whole set of NVIDIA's libraries, with the headers of a real CUDA toolkit; no GPU."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from consumers.project import PRINTS_VERSION, Project
from consumers.tools import ran

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist import Prefix

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="libraries for x86-64 Linux"),
]

SPELLINGS = ("cudnn", "cuDNN", "CUDNN", "CuDNN")
VERSION = "version 92700\n"
EACH = """
find_package({name} 9.27 EXACT REQUIRED CONFIG COMPONENTS graph ops cnn adv heuristic engines_precompiled)
add_executable(app_{name} main.c)
target_include_directories(app_{name} PRIVATE "${{CUDA_HEADERS}}")
target_link_libraries(app_{name} PRIVATE {target})
"""
FRONTEND = """\
#include <cudnn_frontend.h>
#include <iostream>
namespace fe = cudnn_frontend;
int main() {
    fe::graph::Graph graph;
    graph.set_io_data_type(fe::DataType_t::HALF).set_compute_data_type(fe::DataType_t::FLOAT);
    auto image = graph.tensor(
        fe::graph::Tensor_attributes().set_dim({8, 32, 16, 16}).set_stride({8192, 1, 512, 32}));
    auto filter = graph.tensor(
        fe::graph::Tensor_attributes().set_dim({64, 32, 3, 3}).set_stride({288, 1, 96, 32}));
    auto options = fe::graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1});
    graph.conv_fprop(image, filter, options)->set_output(true);
    std::cout << "version " << fe::detail::get_backend_version() << "\\n";
    return graph.validate().is_good() ? 0 : 1;
}
"""
FRONTEND_PROJECT = """
find_package(cuDNN 9 REQUIRED CONFIG)
add_executable(app main.cpp)
target_compile_features(app PRIVATE cxx_std_17)
target_include_directories(app PRIVATE "${CUDA_HEADERS}" "${FRONTEND_HEADERS}")
target_link_libraries(app PRIVATE CUDNN::cudnn "${CUDA_LIBRARY}")
"""


@pytest.fixture(scope="module")
def headers(cuda_site: Path) -> Path:
    return cuda_site / "nvidia/cu13/include"


def test_the_whole_set_is_installed_as_nvidia_has_it(real_whole: Prefix) -> None:
    assert real_whole.verify() == ()
    names = sorted(path.name for path in real_whole.lib_dir.glob("libcudnn*.so"))
    assert len(names) == 10
    assert all((real_whole.lib_dir / name).resolve().name == f"{name}.9.27.0" for name in names)


def test_find_package_under_each_spelling_and_together(
    real_whole: Prefix, headers: Path, tmp_path: Path
) -> None:
    """A directory of its own for each; then all in one, where targets that are there already are no error."""
    together = "".join(
        EACH.format(name=name, target=target)
        for name, target in zip(SPELLINGS, ("CuDNN::CuDNN", "cuDNN::cuDNN") * 2, strict=True)
    )
    apart = "".join(f"add_subdirectory({name})\n" for name in SPELLINGS)
    project = Project(tmp_path / "p", together.replace("app_", "both_") + apart)
    for name in SPELLINGS:
        (project.home / name).mkdir()
        (project.home / name / "main.c").write_text(PRINTS_VERSION)
        text = EACH.format(name=name, target="CUDNN::cudnn_all")
        (project.home / name / "CMakeLists.txt").write_text(text)

    project.configure(f"-DCUDA_HEADERS={headers}", env=real_whole.env("cmake"))
    project.build()
    assert {project.run(f"both_{name}") for name in SPELLINGS} == {VERSION}
    assert {project.run(f"{name}/app_{name}") for name in SPELLINGS} == {VERSION}


def test_a_moved_tree_is_found_where_it_lies(real_whole: Prefix, headers: Path, tmp_path: Path) -> None:
    # Hard links: the libraries are hundreds of megabytes, and what moves is the path.
    moved = shutil.copytree(real_whole.path, tmp_path / "moved here", symlinks=True, copy_function=os.link)
    project = Project(tmp_path / "p", EACH.format(name="CUDNN", target="CUDNN::cudnn_all"))
    project.configure(f"-DCUDA_HEADERS={headers}", f"-DCMAKE_PREFIX_PATH={moved}")
    project.build()
    assert project.run("app_CUDNN") == VERSION
    assert str(real_whole.path) not in ran("readelf", "-d", project.build_dir / "app_CUDNN")


def test_pkg_config(real_whole: Prefix, headers: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PRINTS_VERSION)
    for name in ("cudnn", "cuDNN"):
        found = ran(
            "pkg-config", "--cflags", "--libs", f"{name} = 9.27.0.42", env=real_whole.env("pkg-config")
        )
        ran("gcc", tmp_path / "main.c", "-o", tmp_path / name, f"-I{headers}", *shlex.split(found))
        assert ran(tmp_path / name, env=real_whole.env("loader")) == VERSION


def test_a_program_on_cudnn_frontend(
    real_whole: Prefix, cuda_site: Path, headers: Path, tmp_path: Path
) -> None:
    project = Project(tmp_path / "p", FRONTEND_PROJECT, languages="CXX")
    (project.home / "main.cpp").write_text(FRONTEND)
    (library,) = (cuda_site / "nvidia/cu13/lib").glob("libcudart.so.*")
    toolkit = (f"-DCUDA_HEADERS={headers}", f"-DCUDA_LIBRARY={library}")
    frontend = f"-DFRONTEND_HEADERS={cuda_site / 'include'}"
    project.configure(*toolkit, frontend, env=real_whole.env("cmake"))
    # Half a minute of templates, several where the machine is busy.
    subprocess.run(["cmake", "--build", project.build_dir], check=True, stdin=subprocess.DEVNULL, timeout=600)
    assert project.run() == VERSION
