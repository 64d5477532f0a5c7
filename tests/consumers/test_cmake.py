"""The CMake package of a prefix, by CMake itself and a C compiler."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from consumers.made import JIT_PARTS, PARTS, headers, static
from consumers.project import APP, Project, moved
from consumers.tools import ran

if TYPE_CHECKING:
    from pathlib import Path

    from consumers.conftest import Install

    from cudnn_redist import Prefix
SPELLINGS = ("cudnn", "cuDNN", "CUDNN", "CuDNN")
VERSION = "version 92700\n"


def test_one_project_finds_it_under_every_spelling_at_once(whole: Prefix, tmp_path: Path) -> None:
    together = "".join(f"find_package({name} REQUIRED CONFIG)\n" for name in SPELLINGS)
    apart = "".join(f"add_subdirectory({name})\n" for name in SPELLINGS)
    project = Project(
        tmp_path / "p", apart + together + APP.format(name="cudnn", target="CuDNN::CuDNN cuDNN::cuDNN")
    )
    for name in SPELLINGS:
        # A directory has imported targets of its own: nothing is left from the spelling before.
        (project.home / name).mkdir()
        text = APP.format(name=name, target="CUDNN::cudnn_all").replace("app", f"app_{name}")
        (project.home / name / "CMakeLists.txt").write_text(text.replace("main.c", "../main.c"))

    project.configure(env=whole.env("cmake"))
    project.build()
    assert project.run() == VERSION
    assert {project.run(f"{name}/app_{name}") for name in SPELLINGS} == {VERSION}


def test_the_package_has_every_part_and_says_what_a_program_must_ship(whole: Prefix, tmp_path: Path) -> None:
    targets = [f"CUDNN::cudnn_{part}" for part in (*PARTS, "all", "static", "graph_static", "ops_static")]
    text = """
find_package(CUDNN REQUIRED COMPONENTS graph ops OPTIONAL_COMPONENTS ext)
foreach(target IN ITEMS CUDNN::cudnn CuDNN::CuDNN cuDNN::cuDNN TARGETS)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "no ${target}")
  endif()
endforeach()
get_target_property(location CUDNN::cudnn_ops IMPORTED_LOCATION)
message(STATUS "told ${location} ${CUDNN_ext_FOUND} ${CUDNN_INCLUDE_DIRS} ${CUDNN_LIBRARIES} ${CUDNN_VERSION}")
message(STATUS "shipped ${CUDNN_RUNTIME_FILES}")
""".replace("TARGETS", " ".join(targets))
    said = Project(tmp_path / "p", text).configure(env=whole.env("cmake"))

    lib = whole.path / "lib"
    assert f"told {lib}/libcudnn_ops.so.9.27.0 FALSE {whole.include_dir} CUDNN::cudnn 9.27.0.42\n" in said
    shipped = said.partition("shipped ")[2].partition("\n")[0].split(";")
    names = ["libcudnn", *(f"libcudnn_{part}" for part in PARTS)]
    assert shipped == sorted(f"{lib}/{name}.so.9{rest}" for name in names for rest in ("", ".27.0"))


@pytest.mark.parametrize("place", ["plain", "with blanks (and $HOME) 'quoted'"], ids=["plain", "odd"])
def test_a_moved_tree_works_where_it_lies(whole: Prefix, tmp_path: Path, place: str) -> None:
    tree = moved(whole, tmp_path / place)
    project = Project(tmp_path / "p", APP.format(name="cudnn", target="CUDNN::cudnn"))
    project.configure(env={"CMAKE_PREFIX_PATH": str(tree)})
    project.build()
    assert project.run() == VERSION
    shutil.rmtree(tree)
    assert "libcudnn.so.9" in ran(project.build_dir / "app", fails=True)


FRONTEND = 'function(tell variable)\nendfunction()\ninclude("@SEARCH@/cudnn_frontend.cmake")\n'


@pytest.mark.parametrize("order", ["before", "after"])
def test_it_goes_beside_the_module_of_cudnn_frontend(
    whole: Prefix, tmp_path: Path, order: str, search: Path
) -> None:
    module = FRONTEND.replace("@SEARCH@", str(search))
    package = "find_package(cudnn REQUIRED CONFIG)\n"
    text = (module + package) if order == "before" else (package + module)
    app = APP.format(name="CuDNN", target="CUDNN::cudnn_all CuDNN::CuDNN CUDNN::cudnn_engines_tensor_ir")
    project = Project(tmp_path / "p", text + app)
    project.configure(env={**whole.env("cmake"), **whole.env("cudnn-frontend")})
    project.build()
    assert project.run() == VERSION


OF_A_FILE = (
    "add_library(mine SHARED IMPORTED)\nset_target_properties(mine PROPERTIES IMPORTED_LOCATION {library})\n"
)
OF_NONE = "add_library(mine INTERFACE)\ntarget_link_libraries(mine INTERFACE {library})\n"


@pytest.mark.parametrize("made", [OF_A_FILE, OF_NONE], ids=["of-a-file", "of-none"])
def test_it_goes_beside_a_target_that_is_an_alias(whole: Prefix, tmp_path: Path, made: str) -> None:
    text = (
        made.format(library=whole.lib_dir / "libcudnn.so.9.27.0") + "add_library(CUDNN::cudnn ALIAS mine)\n"
    )
    text += "find_package(CUDNN REQUIRED CONFIG)\n" + APP.format(
        name="cudnn", target="CuDNN::CuDNN cuDNN::cuDNN"
    )
    text += "target_include_directories(app PRIVATE ${cudnn_INCLUDE_DIRS})\n"
    project = Project(tmp_path / "p", text)
    project.configure(env=whole.env("cmake"))
    project.build()
    assert project.run() == VERSION


def test_another_cudnn_that_the_project_has_found_is_not_mixed_with_it(
    whole: Prefix, tmp_path: Path, search: Path
) -> None:
    other = moved(whole, tmp_path / "other")
    text = FRONTEND.replace("@SEARCH@", str(search)) + "find_package(cudnn REQUIRED CONFIG)\n"
    said = Project(tmp_path / "p", text).configure(
        f"-Dcudnn_DIR={whole.path}/lib/cmake/cudnn", env={"CUDNN_PATH": str(other)}, fails=True
    )
    told = " ".join(said.split())
    assert f"CUDNN::cudnn is already {other}/lib/libcudnn.so.9.27.0, which is not of {whole.path}" in told


STATIC = """
add_library(CUDA::cublasLt_static INTERFACE IMPORTED)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/lt.c" "int cublasLt(void) { return 7; }")
add_library(lt STATIC "${CMAKE_CURRENT_BINARY_DIR}/lt.c")
set_target_properties(CUDA::cublasLt_static PROPERTIES INTERFACE_LINK_LIBRARIES lt)
add_library(CUDA::nvrtc INTERFACE IMPORTED)
add_library(ZLIB::ZLIB INTERFACE IMPORTED)
enable_language(CXX)
"""


def test_static_archives_are_linked_whole_with_what_they_need(whole: Prefix, tmp_path: Path) -> None:
    project = Project(tmp_path / "p", APP.format(name="cudnn", target="CUDNN::cudnn_static") + STATIC)
    project.configure(env=whole.env("cmake"))
    project.build()
    *registered, version = project.run().splitlines(keepends=True)
    assert sorted(registered) == [f"{part} registered, cublasLt 7\n" for part in ("graph", "ops")]
    assert version == VERSION
    assert "libcudnn" not in ran("readelf", "-d", project.build_dir / "app")


def test_static_archives_alone_stand_for_the_library(install_release: Install, tmp_path: Path) -> None:
    prefix = install_release({**headers(), **static(tmp_path / "work")})
    project = Project(tmp_path / "p", APP.format(name="cudnn", target="CuDNN::CuDNN") + STATIC)
    project.configure(env=prefix.env("cmake"))
    project.build()
    assert project.run().endswith(VERSION)


def test_the_jit_set_has_its_parts_and_no_others(jit: Prefix, tmp_path: Path) -> None:
    project = Project(tmp_path / "p", APP.format(name="cudnn", target="CUDNN::cudnn_all"))
    project.configure(env=jit.env("cmake"))
    project.build()
    assert project.run() == VERSION
    needed = ran("readelf", "-d", project.build_dir / "app")
    assert [part for part in PARTS if f"libcudnn_{part}.so.9" in needed] in ([], sorted(JIT_PARTS))

    lacking = Project(tmp_path / "q", "find_package(cudnn REQUIRED COMPONENTS graph adv CONFIG)\n")
    assert f"{jit.path} has no adv" in " ".join(lacking.configure(env=jit.env("cmake"), fails=True).split())


def test_headers_alone_can_be_compiled_against(headers_only: Prefix, tmp_path: Path) -> None:
    text = APP.format(name="cudnn", target="CUDNN::cudnn").replace("add_executable(", "add_library(")
    project = Project(tmp_path / "p", text)
    project.configure(env=headers_only.env("cmake"))
    project.build()
    assert list(project.build_dir.glob("libapp.a"))
    text = APP.format(name="cudnn", target="CUDNN::cudnn") + "cudnn_install_runtime(app)\n"
    said = Project(tmp_path / "q", text).configure(env=headers_only.env("cmake"), fails=True)
    assert "with libraries to run" in " ".join(said.split())


def test_a_prefix_that_has_lost_a_library_is_not_found(whole: Prefix, tmp_path: Path) -> None:
    tree = moved(whole, tmp_path / "tree")
    (tree / "lib/libcudnn_adv.so.9.27.0").unlink()
    project = Project(tmp_path / "p", APP.format(name="cudnn", target="CUDNN::cudnn"))
    said = project.configure(env={"CMAKE_PREFIX_PATH": str(tree)}, fails=True)
    assert f"{tree} is damaged: lib/libcudnn_adv.so.9 is missing" in " ".join(said.split())


def test_libraries_without_their_bare_names_still_link(whole: Prefix, tmp_path: Path) -> None:
    """What a runtime part or a wheel holds."""
    tree = moved(whole, tmp_path / "tree")
    for link in tree.glob("lib/*.so"):
        link.unlink()
    project = Project(tmp_path / "p", APP.format(name="cudnn", target="CUDNN::cudnn"))
    project.configure(env={"CMAKE_PREFIX_PATH": str(tree)})
    project.build()
    assert project.run() == VERSION
