"""Which file belongs to which part, told by its name alone."""

from __future__ import annotations

import pytest

from cudnn_redist.errors import UsageError
from cudnn_redist.parts import PARTS, held_parts, is_chosen, named_parts, parts_of, reasons_for

FILES = {
    "lib/libcudnn.so.9.27.0": {"runtime"},
    "lib/libcudnn_ops.so": {"runtime"},
    "lib/stubs/libcuda.so": {"dev"},
    "bin/x64/cudnn64_9.dll": {"runtime"},
    "bin/CUDNN64_8.DLL": {"runtime"},
    "include/cudnn.h": {"headers", "dev"},
    "include/cudnn_frontend/thirdparty/json.hpp": {"headers", "dev"},
    "lib/libcudnn_ops_static_v9.a": {"static", "dev"},
    "lib/x64/cudnn_static.lib": {"static", "dev"},
    "lib/x64/cudnn.lib": {"dev"},
    "lib/libcudnn.dll.a": {"dev"},
    "lib/cmake/cudnn/cudnn-config.cmake": {"dev"},
    "pkg-config/cudnn.pc": {"dev"},
    "LICENSE": set(PARTS),
    "LICENCE.txt": set(PARTS),
    "share/doc/EULA.txt": set(PARTS),
    "src/conv_sample/main.cpp": set(),
    "bin/nvcc": set(),
}
LINKS = {
    "lib/libcudnn.so": {"dev"},
    "lib/libcudnn.so.9": {"runtime"},
    "lib/libcudnn_ops_static.a": {"static", "dev"},
    "include/cudnn_v9.h": {"headers", "dev"},
}


@pytest.mark.parametrize("top", ["", "cudnn-linux-x86_64-9.27.0.42_cuda13-archive/"], ids=["bare", "top"])
@pytest.mark.parametrize("path", FILES)
def test_a_file(path: str, top: str) -> None:
    assert parts_of(top + path, link=False) == FILES[path]


@pytest.mark.parametrize("path", LINKS)
def test_a_link(path: str) -> None:
    assert parts_of(path, link=True) == LINKS[path]


@pytest.mark.parametrize("path", FILES)
def test_without_parts_everything_is_chosen(path: str) -> None:
    assert is_chosen(path, link=False, parts=())


def test_of_several_parts_one_is_enough() -> None:
    assert is_chosen("include/cudnn.h", link=False, parts=("headers", "runtime"))
    assert not is_chosen("lib/libcudnn.so", link=True, parts=("headers", "runtime"))


def test_neither_the_order_nor_a_repetition_makes_another_choice() -> None:
    assert named_parts(["runtime", "dev", "runtime"]) == named_parts(["dev", "runtime"]) == ("dev", "runtime")


def test_an_unknown_part_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'docs' is no part: runtime, dev, headers or static"):
        named_parts(["runtime", "docs"])


def test_a_licence_alone_is_no_part() -> None:
    assert held_parts([("LICENSE", False)]) == frozenset()
    assert held_parts([("LICENSE", False), ("include/cudnn.h", False)]) == {"dev", "headers"}


def test_the_reason_says_what_a_part_costs() -> None:
    assert reasons_for(()) == ()
    assert reasons_for(("dev", "runtime")) == (
        "only dev, runtime: a prefix beside the whole; all of the archive is downloaded",
    )
