"""``cmake``: projects that include the export, configured and built by CMake itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consumers import made
from export.ground import run
from redist import RedistServer, RedistTree
from redist.faults import Flipped, Status

from cudnn_redist import lock
from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from export.ground import Exports

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(app NONE)
include(cudnn.cmake)
file(SHA256 "${cudnn_SOURCE_DIR}/include/cudnn.h" header)
get_target_property(location CUDNN::cudnn IMPORTED_LOCATION)
message(STATUS "header ${header}")
message(STATUS "location ${location}")
"""
LINUX = ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=x86_64")
ARCHIVE = "linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"


def configured(
    folder: Path, text: str, *words: str, project: str = PROJECT
) -> subprocess.CompletedProcess[str]:
    (folder / "cudnn.cmake").write_text(text)
    (folder / "CMakeLists.txt").write_text(project)
    return run("cmake", "-S", ".", "-B", "build", "-Wdev", *words, cwd=folder)


def test_it_fetches_judges_and_makes_the_target(exports: Exports, tmp_path: Path) -> None:
    done = configured(tmp_path, exports.text("cmake"), *LINUX)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    tree = tmp_path / "build/_deps/cudnn-src"
    assert f"-- location {tree}/lib/libcudnn.so\n" in done.stdout
    assert len(exports.server.requests(ARCHIVE)) == 1
    assert configured(tmp_path, exports.text("cmake"), *LINUX).returncode == 0
    assert len(exports.server.requests(ARCHIVE)) == 1


def test_a_program_is_built_and_runs(tmp_path: Path) -> None:
    content = made.release({**made.headers(), **made.linux(tmp_path)})
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.0", platforms=("linux-x86_64",), variants=("cuda13",), content=lambda *_: content)
    project = PROJECT.replace("NONE", "C") + (
        "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE CUDNN::cudnn)\n"
    )
    main = '#include <stdio.h>\n#include <cudnn.h>\nint main(void) { printf("%zu\\n", cudnnGetVersion()); return 0; }\n'
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.c").write_text(main)
    text = text_of("cmake", lock("9.27.0", sources=[str(tree.path)], root=tmp_path / "root"))
    done = configured(folder, text, "-DCUDNN_PLATFORM=linux-x86_64", project=project)
    assert done.returncode == 0, done.stderr
    built = run("cmake", "--build", "build", cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    assert run("build/app", cwd=folder).stdout == "92700\n"


@pytest.mark.parametrize(
    ("words", "suffix"),
    [
        pytest.param(
            ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"), "linux-sbsa-", id="arm"
        ),
        pytest.param(
            ("-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_SYSTEM_PROCESSOR=AMD64"), "windows-x86_64-", id="windows"
        ),
        pytest.param(
            (
                "-DCMAKE_SYSTEM_NAME=Windows",
                "-DCMAKE_SYSTEM_PROCESSOR=ARM64",
                "-DMSVC_CXX_ARCHITECTURE_ID=x64",
            ),
            "windows-x86_64-",
            id="visual-studio",
        ),
        pytest.param(("-DCUDNN_PLATFORM=linux-sbsa",), "linux-sbsa-", id="given"),
    ],
)
def test_the_machine_that_is_built_for_decides(
    exports: Exports, tmp_path: Path, words: tuple[str, ...], suffix: str
) -> None:
    configured(tmp_path, exports.text("cmake"), *words)
    asked = [request.path for request in exports.server.log if request.path.endswith((".xz", ".zip"))]
    assert [suffix in path for path in asked] == [True]


def test_of_two_variants_none_is_guessed(exports: Exports, tmp_path: Path) -> None:
    text = exports.text("cmake", cuda=["12", "13"])
    done = configured(tmp_path, text, *LINUX)
    assert done.returncode != 0
    assert "linux-x86_64/cuda12;linux-x86_64/cuda13" in done.stderr
    done = configured(tmp_path, text, *LINUX, "-DCUDNN_VARIANT=cuda13")
    assert done.returncode == 0, done.stderr


def test_a_machine_that_nothing_is_for(exports: Exports, tmp_path: Path) -> None:
    done = configured(
        tmp_path, exports.text("cmake"), "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=riscv64"
    )
    assert done.returncode != 0
    assert "Set CUDNN_PLATFORM" in " ".join(done.stderr.split())


def test_wrong_bytes_stop_it(exports: Exports, tmp_path: Path) -> None:
    exports.server.always(ARCHIVE, Flipped(1_000))
    done = configured(tmp_path, exports.text("cmake"), *LINUX)
    assert done.returncode != 0
    assert list((tmp_path / "build/_deps/cudnn-src").iterdir()) == []


def test_the_next_source_is_asked(exports: Exports, tmp_path: Path) -> None:
    with RedistServer(exports.tree.path) as mirror:
        mirror.always(ARCHIVE, Status(404))
        text = text_of("cmake", exports.lock(), sources=[mirror.url, exports.server.url])
        done = configured(tmp_path, text, *LINUX)
    assert done.returncode == 0, done.stderr
