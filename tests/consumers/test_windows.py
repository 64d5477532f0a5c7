"""The CMake package of Windows archives, by a cross compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consumers.made import MINGW, headers, windows
from consumers.project import Project
from consumers.tools import program, ran
from redist import File

if TYPE_CHECKING:
    from pathlib import Path

    from consumers.conftest import Install

DLLS = {"cudnn64_9.dll", "cudnn_graph64_9.dll", "cudnn_ops64_9.dll"}
TOOLCHAIN = (
    "-DCMAKE_SYSTEM_NAME=Windows",
    "-DCMAKE_SYSTEM_PROCESSOR=x86_64",
    f"-DCMAKE_C_COMPILER={MINGW}-gcc",
    f"-DCMAKE_RC_COMPILER={MINGW}-windres",
)
APP = """
find_package(CUDNN 9 REQUIRED CONFIG)
add_executable(app main.c)
target_link_libraries(app PRIVATE CUDNN::cudnn_all)
install(TARGETS app DESTINATION bin)
cudnn_install_runtime(app)
file(GENERATE OUTPUT dlls.txt CONTENT "$<TARGET_RUNTIME_DLLS:app>")
"""


@pytest.mark.parametrize("below", ["/x64", ""], ids=["bin-x64", "bin"])
def test_a_program_links_and_its_dlls_are_installed_beside_it(
    install_release: Install, tmp_path: Path, below: str
) -> None:
    content = {**headers(), **windows(tmp_path / "work", below=below)}
    prefix = install_release(content, platform="windows-x86_64")
    project = Project(tmp_path / "p", APP)
    project.configure(*TOOLCHAIN, env=prefix.env("cmake"))
    project.build()
    project.install(tmp_path / "out")

    assert "DLL Name: cudnn64_9.dll" in ran(f"{MINGW}-objdump", "-p", project.build_dir / "app.exe")
    assert {path.name for path in (tmp_path / "out/bin").iterdir()} == {"app.exe", *DLLS}
    dlls = (project.build_dir / "dlls.txt").read_text().split(";")
    assert sorted(dlls) == sorted(f"{prefix.path}/bin{below}/{name}" for name in DLLS)
    assert prefix.verify() == ()


# Visual Studio on another host: CMake keeps the host's name, and has that of the compiler beside it.
VISUAL_STUDIO = ("-DCMAKE_SYSTEM_PROCESSOR=AMD64", "-DMSVC_C_ARCHITECTURE_ID=ARM64")


@pytest.mark.parametrize(
    "machine", [("-DCMAKE_SYSTEM_PROCESSOR=ARM64",), VISUAL_STUDIO], ids=["arm", "cross"]
)
def test_windows_on_arm_is_configured(
    install_release: Install, tmp_path: Path, machine: tuple[str, ...]
) -> None:
    """No compiler of Debian's links for it; the targets and their locations are what can be looked at."""
    names = {f"bin/arm64/{name}": File(b"MZ") for name in DLLS}
    names |= {f"lib/arm64/{name}.lib": File(b"!<arch>\n") for name in ("cudnn", "cudnn_graph", "cudnn_ops")}
    prefix = install_release({**headers(), **names}, platform="windows-arm64")
    text = """
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
find_package(cuDNN 9.27 EXACT REQUIRED CONFIG)
get_target_property(dll CUDNN::cudnn_ops IMPORTED_LOCATION)
get_target_property(lib CUDNN::cudnn_ops IMPORTED_IMPLIB)
message(STATUS "told ${dll} ${lib} ${cuDNN_RUNTIME_FILES}")
"""
    words = ("-DCMAKE_SYSTEM_NAME=Windows", *machine)
    said = Project(tmp_path / "p", text, languages="NONE").configure(*words, env=prefix.env("cmake"))
    shipped = ";".join(sorted(f"{prefix.path}/bin/arm64/{name}" for name in DLLS))
    dll, lib = prefix.path / "bin/arm64/cudnn_ops64_9.dll", prefix.path / "lib/arm64/cudnn_ops.lib"
    assert f"told {dll} {lib} {shipped}\n" in said


def test_import_libraries_without_dlls_still_link(install_release: Install, tmp_path: Path) -> None:
    libraries = windows(tmp_path / "work")
    linkable = {path: entry for path, entry in libraries.items() if path.endswith(".lib")}
    prefix = install_release({**headers(), **linkable}, platform="windows-x86_64")
    program(f"{MINGW}-gcc")
    project = Project(tmp_path / "p", APP.replace("cudnn_install_runtime(app)", ""))
    project.configure(*TOOLCHAIN, env=prefix.env("cmake"))
    project.build()
    assert (project.build_dir / "app.exe").is_file()
