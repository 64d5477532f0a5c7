"""``cudnn_install_runtime``: an installed program takes its cuDNN along and finds it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from consumers.made import PARTS
from consumers.project import APP, Project, moved
from consumers.tools import ran

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist import Prefix

VERSION = "version 92700\n"
INSTALLED = (
    APP
    + """
install(TARGETS app DESTINATION bin)
cudnn_install_runtime(app {options})
"""
)


@pytest.mark.parametrize(
    ("options", "below"),
    [
        ("", "lib"),
        ("DESTINATION bin", "bin"),
        ("DESTINATION lib/third party COMPONENT cudnn", "lib/third party"),
    ],
    ids=["default", "beside", "own-place"],
)
def test_an_installed_program_needs_the_prefix_no_more(
    whole: Prefix, tmp_path: Path, options: str, below: str
) -> None:
    tree = moved(whole, tmp_path / "tree")
    options = options.replace("lib/third party", '"lib/third party"')
    project = Project(tmp_path / "p", INSTALLED.format(name="cudnn", target="CUDNN::cudnn", options=options))
    project.configure(env={"CMAKE_PREFIX_PATH": str(tree)})
    project.build()
    project.install(tmp_path / "out")
    shutil.rmtree(tree)

    there = {path.name for path in (tmp_path / "out" / below).iterdir()} - {"app"}
    names = ["libcudnn", *(f"libcudnn_{part}" for part in PARTS)]
    assert there == {f"{name}.so.9{rest}" for name in names for rest in ("", ".27.0")}
    assert ran(tmp_path / "out/bin/app") == VERSION


def test_a_library_looks_beside_itself(whole: Prefix, tmp_path: Path) -> None:
    text = INSTALLED.format(name="cudnn", target="CUDNN::cudnn", options="")
    text = text.replace("add_executable(app main.c)", "add_library(app SHARED main.c)")
    text = text.replace("install(TARGETS app DESTINATION bin)", "install(TARGETS app DESTINATION lib)")
    project = Project(tmp_path / "p", text)
    project.configure(env=whole.env("cmake"))
    project.build()
    project.install(tmp_path / "out")
    assert "[$ORIGIN]" in ran("readelf", "-d", tmp_path / "out/lib/libapp.so")


@pytest.mark.parametrize(
    ("given", "rpath"),
    [
        pytest.param("bin=bin lib=lib/x86_64-linux-gnu", "$ORIGIN/../lib/x86_64-linux-gnu", id="debian"),
        pytest.param("bin=/s/bin lib=/s/lib", "/s/lib", id="absolute"),
        pytest.param(
            "bin=/s/bin lib=/s/lib DESTINATION lib/own/", "$ORIGIN/../lib/own", id="beside-absolute"
        ),
    ],
)
def test_a_program_of_another_name_is_led_where_the_project_installs(
    whole: Prefix, tmp_path: Path, given: str, rpath: str
) -> None:
    binary, library, *options = given.split(" ", 2)
    text = INSTALLED.format(name="cudnn", target="CUDNN::cudnn", options=" ".join(options))
    text = text.replace(
        "cudnn_install_runtime(app", "add_executable(my::app ALIAS app)\ncudnn_install_runtime(my::app"
    )
    text += "add_library(only INTERFACE)\ncudnn_install_runtime(only)\n"
    text += 'get_target_property(rpath app INSTALL_RPATH)\nmessage(STATUS "rpath=${rpath}")\n'
    places = (
        binary.replace("bin=", "-DCMAKE_INSTALL_BINDIR="),
        library.replace("lib=", "-DCMAKE_INSTALL_LIBDIR="),
    )
    said = Project(tmp_path / "p", text).configure(
        "-DCMAKE_INSTALL_PREFIX=/s", *places, env=whole.env("cmake")
    )
    assert f"rpath={rpath}\n" in said


@pytest.mark.parametrize("words", ["nope", "app DEST lib"], ids=["no-target", "unknown-word"])
def test_installing_for_what_is_no_target_is_an_error(whole: Prefix, tmp_path: Path, words: str) -> None:
    text = INSTALLED.format(name="cudnn", target="CUDNN::cudnn", options="").replace(
        "runtime(app )", f"runtime({words})"
    )
    said = Project(tmp_path / "p", text).configure(env=whole.env("cmake"), fails=True)
    assert "cudnn_install_runtime: <target> [DESTINATION <dir>]" in " ".join(said.split())
