"""Which prefix CMake takes: by the version that is asked for, and by the machine that is built for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consumers.made import headers, linux
from consumers.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from consumers.conftest import Install

    from cudnn_redist import Prefix


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param("", True, id="any"),
        pytest.param("9", True, id="major"),
        pytest.param("9.20", True, id="older"),
        pytest.param("9.27.0.42", True, id="same"),
        pytest.param("9.27 EXACT", True, id="exact-short"),
        pytest.param("9.27.0.42 EXACT", True, id="exact"),
        pytest.param("9.10...9.30", True, id="range"),
        pytest.param("8...<10", True, id="range-over-majors"),
        pytest.param("9.28", False, id="newer"),
        pytest.param("8", False, id="another-major"),
        pytest.param("9.2 EXACT", False, id="exact-other"),
        pytest.param("9.10...<9.27.0.42", False, id="range-before"),
        pytest.param("9.10...9.26", False, id="range-up-to-older"),
        pytest.param("9.28...10", False, id="range-after"),
    ],
)
def test_versions(whole: Prefix, tmp_path: Path, asked: str, *, found: bool) -> None:
    text = f'find_package(cudnn {asked} QUIET CONFIG)\nmessage(STATUS "found=${{cudnn_FOUND}}")\n'
    said = Project(tmp_path / "p", text, languages="NONE").configure(env=whole.env("cmake"))
    assert f"found={int(found)}\n" in said


def test_the_prefix_for_the_machine_that_is_built_for_is_taken(
    whole: Prefix, install_release: Install, tmp_path: Path
) -> None:
    libraries = {**headers(), **linux(tmp_path / "work", ("graph",))}
    arm = install_release(libraries, platform="linux-sbsa")
    text = 'find_package(cudnn REQUIRED CONFIG)\nmessage(STATUS "config ${cudnn_CONFIG}")\n'
    both = {"CMAKE_PREFIX_PATH": f"{whole.path}:{arm.path}"}
    for processor, prefix in {"aarch64": arm, "x86_64": whole}.items():
        said = Project(tmp_path / processor, text, languages="NONE").configure(
            "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={processor}", env=both
        )
        assert f"config {prefix.path}/lib/cmake/cudnn/cudnn-config.cmake" in said
    said = Project(tmp_path / "none", text, languages="NONE").configure(
        "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=riscv64", env=both, fails=True
    )
    assert "version: 9.27.0.42 (linux-sbsa)" in said


@pytest.mark.parametrize(
    ("machine", "found"),
    [
        pytest.param(("Linux", "x86_64"), True, id="linux"),
        pytest.param(("Linux", "x86_64", "-DCMAKE_SIZEOF_VOID_P=4"), False, id="32-bit"),
        pytest.param(("Windows", "AMD64"), False, id="another-system"),
    ],
)
def test_another_machine_does_not_take_it(
    whole: Prefix, tmp_path: Path, machine: tuple[str, str, *tuple[str, ...]], *, found: bool
) -> None:
    system, processor, *options = machine
    text = 'find_package(cudnn QUIET CONFIG)\nmessage(STATUS "found=${cudnn_FOUND}")\n'
    words = (f"-DCMAKE_SYSTEM_NAME={system}", f"-DCMAKE_SYSTEM_PROCESSOR={processor}", *options)
    said = Project(tmp_path / "p", text, languages="NONE").configure(*words, env=whole.env("cmake"))
    assert f"found={int(found)}\n" in said
