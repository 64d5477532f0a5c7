from __future__ import annotations

import re

import pytest

from cudnn_redist.generated.files import generated_files

LINUX = ["include/cudnn.h", "lib/libcudnn.so", "lib/libcudnn.so.9", "lib/libcudnn.so.9.27.0"]
CONFIG = "lib/cmake/cudnn/cudnn-config.cmake"
ADDED = [
    CONFIG,
    "lib/cmake/cudnn/cudnn-config-version.cmake",
    "lib/pkgconfig/cudnn.pc",
    "lib/pkgconfig/cuDNN.pc",
]


def generated(
    paths: list[str], *, version: str = "9.27.0.42", platform: str = "linux-x86_64"
) -> dict[str, bytes]:
    return generated_files(paths, version=version, platform=platform)


def test_what_is_added() -> None:
    files = generated(LINUX)
    assert list(files) == ADDED
    assert files["lib/pkgconfig/cudnn.pc"] == files["lib/pkgconfig/cuDNN.pc"]


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(["src/cudnn_samples/readme.txt"], id="samples"),
        pytest.param(["lib/libcutensor.so.2", "include/cutensor.h"], id="another-library"),
        pytest.param([], id="nothing"),
    ],
)
def test_a_tree_without_cudnn_gets_nothing(paths: list[str]) -> None:
    assert generated(paths) == {}


@pytest.mark.parametrize(
    "paths",
    [
        LINUX,
        ["bin/x64/cudnn64_9.dll", "lib/x64/cudnn.lib"],
        ["include/cudnn.h"],
        ["lib/libcudnn_ops_static.a"],
    ],
    ids=["linux", "windows", "headers", "static"],
)
def test_the_texts_name_no_place_and_are_the_same_each_time(paths: list[str]) -> None:
    files = generated(paths)
    assert files == generated(list(reversed(paths)))
    for text in files.values():
        assert re.search(rb'["= ]/\w', text) is None
        assert b"\r" not in text
        assert b"@" not in text


@pytest.mark.parametrize(
    ("vendors", "left"),
    [
        pytest.param("lib/pkgconfig/cudnn.pc", ADDED[:2], id="same-name-and-its-other-spelling"),
        pytest.param("lib/pkgconfig/cuDNN.pc", ADDED[:2], id="other-spelling"),
        pytest.param("lib/cmake/cudnn/cudnn-config.cmake", ADDED[1:], id="config"),
        pytest.param("lib/pkgconfig", ADDED[:2], id="a-link-for-the-directory"),
        pytest.param("lib/pkgconfig/other.pc", ADDED, id="another-file"),
    ],
)
def test_the_vendors_files_stay(vendors: str, left: list[str]) -> None:
    assert list(generated([*LINUX, vendors])) == left


def test_where_lib_is_a_link_they_lie_in_the_real_directory() -> None:
    paths = ["lib", "include/cudnn.h", "lib64/libcudnn.so.9.27.0"]
    assert list(generated(paths)) == [path.replace("lib/", "lib64/", 1) for path in ADDED]


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("9.27.0.42", "9.27.0.42"),
        ("8.9.7.29", "8.9.7.29"),
        ('9"; evil', "9"),
        ("x", "0"),
        ("1.2.3.4.5", "1.2.3.4"),
    ],
)
def test_a_version_is_numbers(version: str, told: str) -> None:
    files = generated(LINUX, version=version)
    assert f'set(PACKAGE_VERSION "{told}")\n'.encode() in files["lib/cmake/cudnn/cudnn-config-version.cmake"]
    assert f"Version: {told}\n".encode() in files["lib/pkgconfig/cudnn.pc"]
    assert all(b"evil" not in text for text in files.values())


def test_a_platform_that_cmake_has_no_name_for_is_not_judged() -> None:
    assert b"UNSUITABLE" in generated(LINUX)["lib/cmake/cudnn/cudnn-config-version.cmake"]
    files = generated(LINUX, platform="plan9-mips")
    assert b"UNSUITABLE" not in files["lib/cmake/cudnn/cudnn-config-version.cmake"]


@pytest.mark.parametrize(
    ("paths", "lines"),
    [
        pytest.param(LINUX, ["Cflags: -I${includedir}", "Libs: -L${libdir} -lcudnn"], id="linux"),
        pytest.param(
            ["lib/libcudnn.so.9"], ["Cflags:", "Libs: -L${libdir} -l:libcudnn.so.9"], id="no-bare-name"
        ),
        pytest.param(["include/cudnn.h"], ["Cflags: -I${includedir}", "Libs:"], id="headers"),
        pytest.param(
            ["bin/x64/cudnn64_9.dll", "lib/x64/cudnn.lib"],
            ["libdir=${prefix}/lib/x64", "Cflags:", "Libs: -L${libdir} -lcudnn"],
            id="windows",
        ),
        pytest.param(["bin/x64/cudnn64_9.dll"], ["Cflags:", "Libs:"], id="dll-alone"),
    ],
)
def test_pkg_config_promises_what_is_there(paths: list[str], lines: list[str]) -> None:
    told = generated(paths)["lib/pkgconfig/cudnn.pc"].decode().splitlines()
    assert set(lines) <= set(told)
