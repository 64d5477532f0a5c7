"""Where each consumer looks for cuDNN, and what it cannot do without.

The rules are those that the consumers' own sources state, as of 2026: cudnn-frontend and Transformer Engine
(``cmake/cuDNN.cmake``), ONNX Runtime (``tools/ci_build/build.py``, ``cmake/external/cuDNN.cmake``), PyTorch
(``FindCUDNN.cmake``; ``cpp_extension.py``, ``collect_env.py`` of ``torch/utils``), OpenCV (``cmake/FindCUDNN.cmake``),
CTranslate2 (``CMakeLists.txt``), TensorFlow (``find_cuda_config.py``), rules_ml_toolchain (``LOCAL_CUDNN_PATH``), and
CMake's order of search in ``find_package`` and ``find_path``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import UsageError

__all__ = ["CONSUMERS", "Consumer", "Need", "Place", "Variable", "consumer_named"]

Place = Literal["prefix", "include", "lib", "bin", "package", "pkg-config", "link"]
"""What of a prefix a variable names: one of its directories, or the file that is linked (``link``)."""

Need = Literal["headers", "library", "link name", "lib64", "package", "pkg-config"]

WHOLE_SET = (
    "cudnn_graph",
    "cudnn_ops",
    "cudnn_cnn",
    "cudnn_adv",
    "cudnn_heuristic",
    "cudnn_engines_precompiled",
    "cudnn_engines_runtime_compiled",
)
"""The parts of cuDNN 9 that ONNX Runtime, Transformer Engine and XLA's Bazel rules name one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable: what it names, and whether it is a list of which that is to be the first.

    ``splits`` are the characters at which its readers take it apart besides the separator of lists: CMake at
    semicolons, as the dynamic loader does, TensorFlow at commas.
    """

    name: str
    place: Place = "prefix"
    is_list: bool = False
    splits: str = ";"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """One consumer: the variables that lead it to a prefix, and what must be there.

    ``outranking`` are variables that it believes more: they are set too, but only where they are set to something
    else. ``windows`` are the variables for a Windows prefix, where they differ. ``parts`` are the sub-libraries of
    cuDNN 9 without which it fails. ``prefers_wheel`` and ``prefers_toolkit``: what it takes before any variable.
    """

    name: str
    variables: tuple[Variable, ...]
    needs: tuple[Need, ...]
    windows: tuple[Variable, ...] | None = None
    outranking: tuple[Variable, ...] = ()
    parts: tuple[str, ...] = ()
    prefers_wheel: bool = False
    prefers_toolkit: bool = False


_CMAKE_PREFIX_PATH = Variable(name="CMAKE_PREFIX_PATH", is_list=True)
# find_path and find_library look there before they look at the hints of a module.
_BEFORE_HINTS = (
    _CMAKE_PREFIX_PATH,
    Variable(name="CMAKE_INCLUDE_PATH", place="include", is_list=True),
    Variable(name="CMAKE_LIBRARY_PATH", place="lib", is_list=True),
)
_BEFORE_CUDNN_PATH = (
    Variable(name="CUDNN_INCLUDE_PATH", place="include"),
    Variable(name="CUDNN_LIBRARY_PATH", place="lib"),
    *_BEFORE_HINTS,
)
_SPELLINGS = ("cudnn", "cuDNN", "CUDNN", "CuDNN")
_LOADER = (Variable(name="LD_LIBRARY_PATH", place="lib", is_list=True),)
_WINDOWS_LOADER = (Variable(name="PATH", place="bin", is_list=True),)
_BUILD: tuple[Need, ...] = ("headers", "library", "link name")

CONSUMERS = (
    Consumer(
        name="torch",
        variables=(Variable(name="CUDNN_ROOT"),),
        outranking=(Variable(name="CUDNN_ROOT_DIR"),),
        needs=_BUILD,
    ),
    # Those who use an installed PyTorch: cpp_extension reads the first, collect_env the second, which must be a file.
    Consumer(
        name="torch-extension",
        variables=(Variable(name="CUDNN_HOME"), Variable(name="CUDNN_LIBRARY", place="link")),
        needs=(*_BUILD, "lib64"),
        prefers_toolkit=True,
    ),
    Consumer(name="jax", variables=_LOADER, windows=_WINDOWS_LOADER, needs=("library",), prefers_wheel=True),
    Consumer(
        name="xla",
        variables=(Variable(name="LOCAL_CUDNN_PATH"),),
        needs=("headers", "library"),
        parts=WHOLE_SET,
    ),
    # Not TF_CUDNN_VERSION: the Bazel rules also take it for the name of a release to download.
    Consumer(
        name="tensorflow",
        variables=(Variable(name="LOCAL_CUDNN_PATH"), Variable(name="CUDNN_INSTALL_PATH", splits=";,")),
        needs=_BUILD,
        parts=WHOLE_SET,
    ),
    # build.py reads the first, CMake the second, whatever build.py gave it.
    Consumer(
        name="onnxruntime",
        variables=(Variable(name="CUDNN_HOME"), Variable(name="CUDNN_PATH")),
        outranking=_BEFORE_HINTS,
        needs=("headers", "library"),
        parts=WHOLE_SET,
    ),
    Consumer(
        name="opencv",
        variables=(_CMAKE_PREFIX_PATH,),
        outranking=(Variable(name="CUDNN_ROOT"),),
        needs=_BUILD,
        prefers_toolkit=True,
    ),
    Consumer(name="ctranslate2", variables=(_CMAKE_PREFIX_PATH,), needs=_BUILD),
    Consumer(
        name="transformer-engine",
        variables=(Variable(name="CUDNN_PATH"),),
        outranking=(*_BEFORE_CUDNN_PATH, Variable(name="CUDNN_HOME")),
        needs=("headers", "library"),
        parts=WHOLE_SET,
        prefers_wheel=True,
    ),
    Consumer(
        name="cudnn-frontend",
        variables=(Variable(name="CUDNN_PATH"),),
        outranking=_BEFORE_CUDNN_PATH,
        needs=("headers", "library"),
    ),
    Consumer(
        name="cmake",
        variables=(_CMAKE_PREFIX_PATH,),
        outranking=(
            *(Variable(name=f"{spelling}_ROOT") for spelling in _SPELLINGS),
            *(Variable(name=f"{spelling}_DIR", place="package") for spelling in _SPELLINGS),
        ),
        needs=("package",),
    ),
    Consumer(
        name="pkg-config",
        variables=(Variable(name="PKG_CONFIG_PATH", place="pkg-config", is_list=True),),
        needs=("pkg-config",),
    ),
    Consumer(
        name="compiler",
        variables=(
            Variable(name="CPATH", place="include", is_list=True),
            Variable(name="LIBRARY_PATH", place="lib", is_list=True),
        ),
        windows=(
            Variable(name="INCLUDE", place="include", is_list=True),
            Variable(name="LIB", place="lib", is_list=True),
        ),
        needs=("headers",),
    ),
    Consumer(name="loader", variables=_LOADER, windows=_WINDOWS_LOADER, needs=("library",)),
)


def consumer_named(name: str) -> Consumer:
    """Return a consumer; ``UsageError`` that lists those that are known."""
    for consumer in CONSUMERS:
        if consumer.name == name:
            return consumer
    known = ", ".join(consumer.name for consumer in CONSUMERS)
    raise UsageError(f"{name!r:.40} is no consumer that is known here; there are {known}", phase="env")
