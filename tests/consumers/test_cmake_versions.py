"""The CMake package by the oldest CMake that it is for and by a new one, from their wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consumers.project import Project
from consumers.tools import ran
from real import packages, wheel

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist import Prefix

pytestmark = pytest.mark.real

TWICE = "find_package(cudnn REQUIRED CONFIG)\nfind_package(CUDNN 9.27 REQUIRED CONFIG)\n"
APP = """
add_executable(app main.c)
target_link_libraries(app PRIVATE CUDNN::cudnn_all CuDNN::CuDNN cuDNN::cuDNN)
install(TARGETS app DESTINATION bin)
cudnn_install_runtime(app)
"""
COMPILED = (
    "add_library(app STATIC main.c)\ntarget_link_libraries(app PRIVATE CUDNN::cudnn_all CuDNN::CuDNN)\n"
)
# Older CMakes ask no target of this kind for a file.
OF_NONE = "add_library(CUDNN::cudnn INTERFACE IMPORTED)\n"


@pytest.fixture(scope="module", params=["3.18.4.post1", "4.4.5"])
def cmake(request: pytest.FixtureRequest) -> Path:
    site = packages.site(wheel.cache_directory(), ("--no-deps", f"cmake=={request.param}"))
    return site / "cmake/data/bin/cmake"


def built(cmake: Path, home: Path, text: str, prefix: Prefix) -> Path:
    """Return the build directory of a project."""
    project = Project(home, text)
    options = (
        "-S",
        home,
        "-B",
        project.build_dir,
        "-G",
        "Unix Makefiles",
        f"-DCMAKE_PREFIX_PATH={prefix.path}",
    )
    said = ran(cmake, *options)
    assert "CMake Warning" not in said
    ran(cmake, "--build", project.build_dir)
    return project.build_dir


def test_a_program_is_built_and_installed(cmake: Path, whole: Prefix, tmp_path: Path) -> None:
    build_dir = built(cmake, tmp_path / "p", TWICE + APP, whole)
    ran(cmake, "--install", build_dir, "--prefix", tmp_path / "out")
    assert ran(tmp_path / "out/bin/app") == "version 92700\n"


@pytest.mark.parametrize("before", ["", OF_NONE], ids=["found-twice", "after-another"])
def test_headers_alone(cmake: Path, headers_only: Prefix, tmp_path: Path, before: str) -> None:
    text = before + TWICE + COMPILED + "target_include_directories(app PRIVATE ${cudnn_INCLUDE_DIRS})\n"
    built(cmake, tmp_path / "p", text, headers_only)
