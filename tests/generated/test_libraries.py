from __future__ import annotations

import pytest

from cudnn_redist.generated.libraries import SharedLibrary, StaticLibrary, contents_of


def chain(name: str, version: str, directory: str = "lib") -> list[str]:
    major = version.partition(".")[0]
    return [f"{directory}/lib{name}.so{rest}" for rest in ("", f".{major}", f".{version}")]


NINE = [*chain("cudnn", "9.27.0"), *chain("cudnn_graph", "9.27.0")]
EIGHT = [*chain("cudnn", "8.9.7"), *chain("cudnn_ops_infer", "8.9.7")]


@pytest.mark.parametrize(
    ("paths", "libraries"),
    [
        pytest.param(
            NINE,
            [
                ("cudnn", "lib/libcudnn.so.9.27.0", "libcudnn.so.9", "lib/libcudnn.so"),
                (
                    "cudnn_graph",
                    "lib/libcudnn_graph.so.9.27.0",
                    "libcudnn_graph.so.9",
                    "lib/libcudnn_graph.so",
                ),
            ],
            id="9",
        ),
        pytest.param(
            EIGHT,
            [
                ("cudnn", "lib/libcudnn.so.8.9.7", "libcudnn.so.8", "lib/libcudnn.so"),
                (
                    "cudnn_ops_infer",
                    "lib/libcudnn_ops_infer.so.8.9.7",
                    "libcudnn_ops_infer.so.8",
                    "lib/libcudnn_ops_infer.so",
                ),
            ],
            id="8",
        ),
        pytest.param(
            ["lib/libcudnn.so.9"], [("cudnn", "lib/libcudnn.so.9", "libcudnn.so.9", None)], id="as-in-a-wheel"
        ),
        pytest.param(
            ["lib/libcudnn.so"], [("cudnn", "lib/libcudnn.so", "libcudnn.so", "lib/libcudnn.so")], id="bare"
        ),
        pytest.param(
            ["lib64/libcudnn.so.9.1.0"],
            [("cudnn", "lib64/libcudnn.so.9.1.0", "libcudnn.so.9", None)],
            id="lib64",
        ),
        pytest.param(
            ["lib/stubs/libcudnn.so", "lib/libcudart.so.13", "share/libcudnn.so.9", "lib/libcudnn.so.x"],
            [],
            id="others",
        ),
        pytest.param(
            ["bin/cudnn64_8.dll", "lib/x64/cudnn.lib", "lib/x64/cudnn64_8.lib"],
            [("cudnn", "bin/cudnn64_8.dll", None, "lib/x64/cudnn.lib")],
            id="windows-8",
        ),
        pytest.param(
            ["bin/x64/cudnn_ops64_9.dll", "lib/x64/cudnn_ops64_9.lib"],
            [("cudnn_ops", "bin/x64/cudnn_ops64_9.dll", None, "lib/x64/cudnn_ops64_9.lib")],
            id="windows-9",
        ),
        pytest.param(
            ["bin/arm64/cudnn64_9.dll", "lib/arm64/cudnn.lib"],
            [("cudnn", "bin/arm64/cudnn64_9.dll", None, "lib/arm64/cudnn.lib")],
            id="windows-arm64",
        ),
        pytest.param(
            ["lib/x64/cudnn.lib"], [("cudnn", None, None, "lib/x64/cudnn.lib")], id="windows-to-link-alone"
        ),
        pytest.param(
            ["bin/x64/cudnn64_9.dll"],
            [("cudnn", "bin/x64/cudnn64_9.dll", None, None)],
            id="windows-to-run-alone",
        ),
    ],
)
def test_shared_libraries(
    paths: list[str], libraries: list[tuple[str, str | None, str | None, str | None]]
) -> None:
    assert list(contents_of(reversed(paths)).shared) == [
        SharedLibrary(name=name, file=file, soname=soname, link_file=link_file)
        for name, file, soname, link_file in libraries
    ]


def test_static_archives_by_the_name_of_the_real_file() -> None:
    paths = [
        "lib/libcudnn_ops_static.a",
        "lib/libcudnn_ops_static_v9.a",
        "lib/libcudnn_static.a",
        "lib/libz.a",
    ]
    assert contents_of(paths).static == (
        StaticLibrary(name="cudnn", file="lib/libcudnn_static.a"),
        StaticLibrary(name="cudnn_ops", file="lib/libcudnn_ops_static_v9.a"),
    )


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        pytest.param(NINE, [path for path in NINE if not path.endswith(".so")], id="linux"),
        pytest.param(["lib/libcudnn.so.9.27.0"], ["lib/libcudnn.so.9.27.0"], id="no-soname"),
        pytest.param(
            ["bin/x64/cudnn64_9.dll", "bin/x64/zlibwapi.dll", "lib/x64/cudnn.lib"],
            ["bin/x64/cudnn64_9.dll", "bin/x64/zlibwapi.dll"],
            id="windows",
        ),
        pytest.param(["include/cudnn.h"], [], id="headers"),
    ],
)
def test_what_a_program_must_find_when_it_runs(paths: list[str], files: list[str]) -> None:
    assert list(contents_of(paths).runtime_files) == sorted(files)


@pytest.mark.parametrize(
    ("path", "has"),
    [
        ("include/cudnn.h", True),
        ("include/cudnn_graph_v9.h", True),
        ("include/other.h", False),
        ("cudnn.h", False),
    ],
)
def test_headers(path: str, *, has: bool) -> None:
    assert contents_of([path]).has_headers is has


def test_names_are_those_that_can_be_loaded() -> None:
    contents = contents_of(["bin/x64/cudnn64_9.dll", "lib/x64/cudnn_ops.lib"])
    assert contents.names == {"cudnn"}
    assert contents.shared_named("cudnn_graph") is None
