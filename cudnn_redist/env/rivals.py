"""Other cuDNNs that a consumer may take instead, or mix with this one (C83)."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .consumers import Consumer
    from .facts import Facts

__all__ = ["Look", "in_lists", "preferred"]

if TYPE_CHECKING:
    Look = Callable[[str], Sequence[str]]
    """What finds the paths that fit a pattern, as ``glob.glob`` does."""

_TOOLKITS = ("CUDA_HOME", "CUDA_PATH")
_DEFAULT_TOOLKIT = "/usr/local/cuda"
_IN_TOOLKIT = ("include/cudnn*.h", "lib64/libcudnn.so*", "lib/x64/cudnn*.lib")
_ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")
_IN_ENVIRONMENT = (
    "lib/python3*/site-packages/nvidia/cudnn/lib/libcudnn.so*",
    "Lib/site-packages/nvidia/cudnn/bin/cudnn64_*.dll",
)

# What shows, in one directory of a list, that a cuDNN is there.
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "CMAKE_INCLUDE_PATH": ("cudnn.h",),
    "CMAKE_LIBRARY_PATH": ("libcudnn.so*", "cudnn*.lib"),
    "CMAKE_PREFIX_PATH": ("include/cudnn.h", "lib*/cmake/cudnn/cudnn-config.cmake"),
    "CPATH": ("cudnn.h",),
    "INCLUDE": ("cudnn.h",),
    "LIB": ("cudnn*.lib",),
    "LIBRARY_PATH": ("libcudnn.so*",),
    "LD_LIBRARY_PATH": ("libcudnn*.so*",),
    "PATH": ("cudnn*64_*.dll",),
    "PKG_CONFIG_PATH": ("cudnn.pc", "cuDNN.pc"),
}


def preferred(facts: Facts, consumer: Consumer, environment: Mapping[str, str], look: Look) -> Iterator[str]:
    """Yield a sentence for each place with a cuDNN that the consumer takes before any variable."""
    if consumer.prefers_toolkit:
        toolkits = [environment[name] for name in _TOOLKITS if environment.get(name)] or [_DEFAULT_TOOLKIT]
        for found in _found(toolkits, _IN_TOOLKIT, look):
            yield f"{consumer.name} takes {found} of the CUDA toolkit before this cuDNN{_way_out(facts, consumer)}"
    if consumer.prefers_wheel:
        environments = [environment[name] for name in _ENVIRONMENTS if environment.get(name)]
        for found in _found(environments, _IN_ENVIRONMENT, look):
            yield f"{consumer.name} takes the cuDNN of a wheel, {found}, before this one"
    if any("cudnn" in word for word in environment.get("LD_PRELOAD", "").replace(":", " ").split()):
        yield f"LD_PRELOAD names a cuDNN, which every program takes first: {environment['LD_PRELOAD']}"


def in_lists(name: str, others: Sequence[str], look: Look) -> Iterator[str]:
    """Yield a sentence for each of the ``others`` in the list ``name`` that holds a cuDNN too: it comes second."""
    for directory in others:
        if _found([directory], _SIGNS.get(name, ()), look):
            yield f"{name} also leads to another cuDNN, in {directory}: this one comes before it"


def _found(directories: Sequence[str], patterns: Sequence[str], look: Look) -> list[str]:
    """Return the first thing found in each directory, once."""
    found: dict[str, None] = {}
    for directory in directories:
        for pattern in patterns:
            there = look(f"{glob.escape(directory.rstrip('/'))}/{pattern}")
            if there:
                found[min(there)] = None
                break
    return list(found)


def _way_out(facts: Facts, consumer: Consumer) -> str:
    if consumer.name != "opencv" or facts.link_file is None:
        return ""
    return (
        f", unless CMake is given -DCUDNN_LIBRARY={facts.link_file} -DCUDNN_INCLUDE_DIR={facts.include_dir}"
    )
