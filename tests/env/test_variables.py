from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

import pytest
from env.described import GENERATED, HEADERS, JIT, linux, nothing_there, windows

from cudnn_redist import errors
from cudnn_redist.env.consumers import CONSUMERS
from cudnn_redist.env.variables import environment_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cudnn_redist.env.facts import Facts
    from cudnn_redist.env.variables import Environment


def environment(
    consumer: str, facts: Facts | None = None, *, separator: str = ":", **before: str
) -> Environment:
    """Ask on a machine without any other cuDNN."""
    return environment_for(facts or linux(), consumer, before, look=nothing_there, separator=separator)


@pytest.mark.parametrize(
    ("consumer", "variables"),
    [
        ("torch", {"CUDNN_ROOT": "/p"}),
        ("torch-extension", {"CUDNN_HOME": "/p", "CUDNN_LIBRARY": "/p/lib/libcudnn.so"}),
        ("jax", {"LD_LIBRARY_PATH": "/p/lib"}),
        ("xla", {"LOCAL_CUDNN_PATH": "/p"}),
        ("tensorflow", {"LOCAL_CUDNN_PATH": "/p", "CUDNN_INSTALL_PATH": "/p"}),
        ("onnxruntime", {"CUDNN_HOME": "/p", "CUDNN_PATH": "/p"}),
        ("opencv", {"CMAKE_PREFIX_PATH": "/p"}),
        ("ctranslate2", {"CMAKE_PREFIX_PATH": "/p"}),
        ("transformer-engine", {"CUDNN_PATH": "/p"}),
        ("cudnn-frontend", {"CUDNN_PATH": "/p"}),
        ("cmake", {"CMAKE_PREFIX_PATH": "/p"}),
        ("pkg-config", {"PKG_CONFIG_PATH": "/p/lib/pkgconfig"}),
        ("compiler", {"CPATH": "/p/include", "LIBRARY_PATH": "/p/lib"}),
        ("loader", {"LD_LIBRARY_PATH": "/p/lib"}),
    ],
)
def test_the_fewest_variables_of_each_consumer(consumer: str, variables: dict[str, str]) -> None:
    found = environment(consumer)
    assert found.variables == variables
    assert found.warnings == ()


def test_the_table_above_has_every_consumer() -> None:
    (mark,) = test_the_fewest_variables_of_each_consumer.pytestmark  # type: ignore[attr-defined]
    assert {name for name, _ in mark.args[1]} == {consumer.name for consumer in CONSUMERS}


@pytest.mark.parametrize(
    ("consumer", "variables"),
    [
        ("jax", {"PATH": r"C:\p\bin\x64"}),
        ("loader", {"PATH": r"C:\p\bin\x64"}),
        ("compiler", {"INCLUDE": r"C:\p\include", "LIB": r"C:\p\lib\x64"}),
        ("onnxruntime", {"CUDNN_HOME": r"C:\p", "CUDNN_PATH": r"C:\p"}),
        ("torch-extension", {"CUDNN_HOME": r"C:\p", "CUDNN_LIBRARY": r"C:\p\lib\x64\cudnn.lib"}),
    ],
)
def test_windows(consumer: str, variables: dict[str, str]) -> None:
    assert environment(consumer, windows(), separator=";").variables == variables


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "/p/lib", id="empty"),
        pytest.param("/a:/b", "/p/lib:/a:/b", id="prepended"),
        pytest.param(":/a::/b:", "/p/lib:/a:/b", id="no-empty-element"),
        pytest.param("/a:/p/lib:/b", "/p/lib:/a:/b", id="moved-to-the-front"),
        pytest.param("/p/lib/", "/p/lib", id="spelled-otherwise"),
        pytest.param("/a:/a", "/p/lib:/a", id="others-once"),
    ],
)
def test_lists_begin_with_the_prefix_and_hold_nothing_twice(before: str, after: str) -> None:
    once = environment("loader", LD_LIBRARY_PATH=before).variables
    assert once == {"LD_LIBRARY_PATH": after}
    assert environment("loader", **once).variables == once


@pytest.mark.parametrize(
    ("consumer", "before", "added"),
    [
        pytest.param(
            "cudnn-frontend", {"CUDNN_INCLUDE_PATH": "/o"}, {"CUDNN_INCLUDE_PATH": "/p/include"}, id="include"
        ),
        pytest.param(
            "cudnn-frontend", {"CUDNN_LIBRARY_PATH": "/o"}, {"CUDNN_LIBRARY_PATH": "/p/lib"}, id="library"
        ),
        pytest.param(
            "onnxruntime", {"CMAKE_PREFIX_PATH": "/o"}, {"CMAKE_PREFIX_PATH": "/p:/o"}, id="before-hints"
        ),
        pytest.param(
            "cudnn-frontend",
            {"CMAKE_LIBRARY_PATH": "/o"},
            {"CMAKE_LIBRARY_PATH": "/p/lib:/o"},
            id="before-hints-too",
        ),
        pytest.param("transformer-engine", {"CUDNN_HOME": "/o"}, {"CUDNN_HOME": "/p"}, id="run-time"),
        pytest.param("torch", {"CUDNN_ROOT_DIR": "/o"}, {"CUDNN_ROOT_DIR": "/p"}, id="deprecated"),
        pytest.param("cmake", {"cuDNN_ROOT": "/o"}, {"cuDNN_ROOT": "/p"}, id="a-spelling"),
        pytest.param("cmake", {"CUDNN_DIR": "/o"}, {"CUDNN_DIR": "/p/lib/cmake/cudnn"}, id="a-package"),
        pytest.param("cmake", {"CUDNN_DIR": "/p/lib/cmake/cudnn"}, {}, id="already-right"),
        pytest.param("cmake", {"CUDNN_DIR": ""}, {}, id="empty"),
        pytest.param("torch-extension", {"CUDNN_PATH": "/o"}, {}, id="believed-less"),
    ],
)
def test_what_the_consumer_believes_more_is_set_where_it_says_otherwise(
    consumer: str, before: dict[str, str], added: dict[str, str]
) -> None:
    assert environment(consumer, **before).variables == {**environment(consumer).variables, **added}


FULL = linux()
SHORT = ("cudnn_adv", "cudnn_cnn", "cudnn_engines_precompiled", "cudnn_heuristic", "cudnn_ops")


@pytest.mark.parametrize(
    ("consumer", "facts", "lacking"),
    [
        *(
            pytest.param(consumer, linux(JIT), [f"no {part}" for part in SHORT], id=f"jit-{consumer}")
            for consumer in ("onnxruntime", "transformer-engine", "xla", "tensorflow")
        ),
        *(
            pytest.param(
                consumer.name, linux((), others=HEADERS), ["it has no "], id=f"headers-{consumer.name}"
            )
            for consumer in CONSUMERS
            if consumer.name != "compiler"
        ),
        pytest.param("compiler", linux(others=()), ["no headers"], id="no-headers"),
        pytest.param(
            "torch", linux(names=(".so.9",)), ["no libcudnn.so or cudnn.lib to link"], id="no-bare-name"
        ),
        pytest.param("torch-extension", linux(others=HEADERS), ["no lib64, the only place"], id="no-lib64"),
        pytest.param("cmake", linux(others=HEADERS), ["which fetch --force adds"], id="first-version-cmake"),
        pytest.param(
            "pkg-config", linux(others=HEADERS), ["which fetch --force adds"], id="first-version-pc"
        ),
    ],
)
def test_a_prefix_that_cannot_serve_is_refused(consumer: str, facts: Facts, lacking: list[str]) -> None:
    with pytest.raises(errors.NotAvailableError) as raised:
        environment(consumer, facts)
    assert (raised.value.exit_code, raised.value.phase, raised.value.where) == (3, "env", "/p")
    assert raised.value.cause.startswith(f"this prefix cannot serve {consumer}: ")
    assert [sentence for sentence in lacking if sentence not in raised.value.cause] == []
    assert raised.value.available == tuple(sorted(facts.contents.names))


@pytest.mark.parametrize(
    ("consumer", "facts", "doubt"),
    [
        pytest.param("cudnn-frontend", linux(JIT), "CUDNN::cudnn_all does not", id="jit-frontend"),
        pytest.param("torch", linux(JIT), "calls outside of the graph API fail", id="jit-torch"),
        pytest.param("jax", linux(JIT), "calls outside of the graph API fail", id="jit-jax"),
        pytest.param("cmake", linux((), others=(*HEADERS, *GENERATED)), "has no library", id="headers-cmake"),
        pytest.param("compiler", linux((), others=HEADERS), "has no library", id="headers-compiler"),
        pytest.param("cmake", linux(others=GENERATED), "has no headers", id="libraries-cmake"),
    ],
)
def test_a_prefix_that_may_not_serve_is_warned_of(consumer: str, facts: Facts, doubt: str) -> None:
    (warning,) = environment(consumer, facts).warnings
    assert doubt in warning


@pytest.mark.parametrize("consumer", ["cmake", "loader", "compiler", "pkg-config"])
def test_the_jit_set_is_no_matter_where_cudnn_is_only_looked_for(consumer: str) -> None:
    assert environment(consumer, linux(JIT)).warnings == ()


def test_headers_alone_give_a_compiler_no_directory_of_libraries() -> None:
    assert environment("compiler", linux((), others=HEADERS)).variables == {"CPATH": "/p/include"}


@pytest.mark.parametrize("consumer", ["onnxruntime", "transformer-engine"])
def test_cudnn_8_was_cut_otherwise(consumer: str) -> None:
    eight = linux(("", "_ops_infer"), names=(".so", ".so.8", ".so.8.9.7"), version="8.9.7.29")
    assert environment(consumer, eight).variables


def seeing(*there: str) -> Callable[[str], list[str]]:
    """Return what looks among these paths alone."""
    return lambda pattern: fnmatch.filter(there, pattern)


TOOLKIT = "/usr/local/cuda/include/cudnn.h"
WHEEL = "/v/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9"


@pytest.mark.parametrize(
    ("consumer", "before", "there", "told"),
    [
        pytest.param(
            "torch-extension", {}, TOOLKIT, f"takes {TOOLKIT} of the CUDA toolkit before", id="toolkit"
        ),
        pytest.param(
            "torch-extension",
            {"CUDA_HOME": "/c"},
            "/c/lib64/libcudnn.so.9",
            "takes /c/lib64/",
            id="named-toolkit",
        ),
        pytest.param(
            "opencv",
            {"CUDA_PATH": "/c/"},
            "/c/lib64/libcudnn.so",
            "unless CMake is given -DCUDNN_LIBRARY=/p/lib/libcudnn.so -DCUDNN_INCLUDE_DIR=/p/include",
            id="way-out",
        ),
        pytest.param("jax", {"VIRTUAL_ENV": "/v"}, WHEEL, f"the cuDNN of a wheel, {WHEEL}", id="wheel"),
        pytest.param("transformer-engine", {"CONDA_PREFIX": "/v"}, WHEEL, "of a wheel", id="wheel-of-conda"),
        pytest.param(
            "loader", {"LD_PRELOAD": "/x.so:/o/libcudnn.so.9"}, "", "every program takes first", id="preload"
        ),
        pytest.param(
            "loader",
            {"LD_LIBRARY_PATH": "/a:/o"},
            "/o/libcudnn_ops.so.9",
            "LD_LIBRARY_PATH also leads to another cuDNN, in /o: this one comes before it",
            id="C83-second-in-the-list",
        ),
        pytest.param("cmake", {"CMAKE_PREFIX_PATH": "/o"}, "/o/include/cudnn.h", "in /o", id="cmake-list"),
        pytest.param(
            "onnxruntime",
            {"CMAKE_INCLUDE_PATH": "/o"},
            "/o/cudnn.h",
            "leads to another cuDNN, in /o",
            id="cmake-include",
        ),
        pytest.param("compiler", {"CPATH": "/o[1]"}, "/o[1]/cudnn.h", "in /o[1]", id="odd-name"),
    ],
)
def test_another_cudnn_that_would_win_or_mix_is_told(
    consumer: str, before: Mapping[str, str], there: str, told: str
) -> None:
    found = environment_for(linux(), consumer, before, look=seeing(there), separator=":")
    (warning,) = found.warnings
    assert told in warning


def test_a_toolkit_or_a_wheel_is_no_rival_of_those_that_take_the_variable_first() -> None:
    look = seeing(TOOLKIT, WHEEL)
    for consumer in ("torch", "onnxruntime", "cudnn-frontend", "cmake", "xla"):
        assert (
            environment_for(linux(), consumer, {"VIRTUAL_ENV": "/v"}, look=look, separator=":").warnings == ()
        )


@pytest.mark.parametrize(
    ("consumer", "path", "character"),
    [
        ("torch", "/a\nb", r"'\\n'"),
        ("torch", "/a\rb", r"'\\r'"),
        ("torch", "/a;b", "';'"),
        ("loader", "/a:b", "':'"),
        ("tensorflow", "/a,b", "','"),
    ],
)
def test_a_path_that_no_variable_can_hold_is_refused(consumer: str, path: str, character: str) -> None:
    with pytest.raises(errors.UsageError, match=f"cannot hold this path: it would end at {character}"):
        environment(consumer, linux(path=path))


@pytest.mark.parametrize("path", ["/a b", "/a'b", '/a"b', "/a$b", "/a`b", "/a%b", "/ä"])
def test_other_odd_paths_are_held_as_they_are(path: str) -> None:
    assert environment("torch", linux(path=path)).variables == {"CUDNN_ROOT": path}


def test_an_unknown_consumer_is_told_which_there_are() -> None:
    with pytest.raises(errors.UsageError, match=r"'caffe' is no consumer .* torch, .* loader$"):
        environment("caffe")


def test_the_loader_is_told_of_the_way_for_every_program_and_of_its_price() -> None:
    _, line, beware = environment("loader").comments
    assert line == "/p/lib"
    assert "mixes with those of wheels" in beware
    assert environment("loader", windows(), separator=";").comments == ()
