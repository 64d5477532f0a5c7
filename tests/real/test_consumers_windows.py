"""NVIDIA's Windows libraries: a cross compiler configures, links and installs a program against their prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consumers.project import Project
from consumers.test_windows import TOOLCHAIN
from consumers.tools import ran
from real.whole_set import MINGW

import cudnn_redist

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

APP = """
find_package(cuDNN 9.27 EXACT REQUIRED CONFIG COMPONENTS graph ops engines_precompiled)
add_executable(app main.c)
target_include_directories(app PRIVATE "${CUDA_HEADERS}")
target_link_libraries(app PRIVATE CUDNN::cudnn_all)
file(GENERATE OUTPUT dlls.txt CONTENT "$<TARGET_RUNTIME_DLLS:app>")
"""


def fetched(source: Path, root: Path, *parts: str) -> cudnn_redist.Prefix:
    choice = {"platform": "windows-x86_64", "cuda": "13", "sources": [str(source)]}
    return cudnn_redist.fetch("9.27.0", parts=parts, root=root, **choice)


@pytest.fixture(scope="module")
def whole(real_windows: Path, tmp_path_factory: pytest.TempPathFactory) -> cudnn_redist.Prefix:
    return fetched(real_windows, tmp_path_factory.mktemp("windows"))


def test_a_program_links_and_is_told_its_dlls(
    whole: cudnn_redist.Prefix, cuda_site: Path, tmp_path: Path
) -> None:
    headers = cuda_site / "nvidia/cu13/include"
    project = Project(tmp_path / "p", APP)
    project.configure(*TOOLCHAIN, f"-DCUDA_HEADERS={headers}", env=whole.env("cmake"))
    project.build()

    assert "DLL Name: cudnn64_9.dll" in ran(f"{MINGW}-objdump", "-p", project.build_dir / "app.exe")
    dlls = (project.build_dir / "dlls.txt").read_text().split(";")
    assert whole.bin_dir is not None
    assert sorted(dlls) == sorted(map(str, whole.bin_dir.glob("*.dll")))
    assert whole.verify() == ()


def test_its_parts_are_told_apart(whole: cudnn_redist.Prefix, real_windows: Path, tmp_path: Path) -> None:
    dev = fetched(real_windows, tmp_path, "dev")
    assert dev.bin_dir is None
    assert sorted(path.name for path in dev.lib_dir.iterdir()) == sorted(
        path.name for path in whole.lib_dir.iterdir()
    )
    dlls = sum(path.stat().st_size for path in (whole.path / "bin").rglob("*.dll"))
    assert dev.record.disk_saved == dlls > 600_000_000
