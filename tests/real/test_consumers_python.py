"""PyTorch and NVIDIA's cuda-pathfinder, from their wheels, find the prefix by what ``env --for`` prints alone."""

from __future__ import annotations

import json
import platform
import sys
from typing import TYPE_CHECKING

import pytest
from consumers.project import Project
from consumers.tools import ran

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist import Prefix

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="libraries for x86-64 Linux"),
]

FIND_CUDNN = """
list(PREPEND CMAKE_MODULE_PATH "{modules}")
find_package(CUDNN 9.27 REQUIRED MODULE)
message(STATUS "found ${{CUDNN_INCLUDE_PATH}} ${{CUDNN_LIBRARY_PATH}} ${{CUDNN_VERSION}}")
"""
# A build for the CPU takes no toolkit from the environment: one is put where a build for CUDA would have it.
EXTENSION = """
import json
from torch.utils import cpp_extension
cpp_extension.CUDA_HOME = "/nonexistent"
made = cpp_extension.CUDAExtension("made", ["made.cpp"])
print(json.dumps([made.include_dirs, made.library_dirs]))
"""
COLLECT = """
from torch.utils import collect_env
print(collect_env.get_cudnn_version(collect_env.run))
"""
PATHFINDER = """
import json
from cuda.pathfinder import find_nvidia_header_directory, load_nvidia_dynamic_lib
print(json.dumps([find_nvidia_header_directory("cudnn"), load_nvidia_dynamic_lib("cudnn").abs_path]))
"""


def python(code: str, site: Path, env: dict[str, str]) -> str:
    """Run a few lines with the packages of ``site``; return the last line that they print."""
    said = ran(sys.executable, "-c", code, env={**env, "PYTHONPATH": str(site)})
    return said.splitlines()[-1]


def test_find_cudnn_as_the_torch_wheel_ships_it(real_whole: Prefix, torch_site: Path, tmp_path: Path) -> None:
    (module,) = torch_site.glob("torch/share/cmake/Caffe2/**/FindCUDNN.cmake")
    project = Project(tmp_path / "p", FIND_CUDNN.format(modules=module.parent))
    said = project.configure(env=real_whole.env("torch"))
    library = real_whole.lib_dir / "libcudnn.so"
    assert f"found {real_whole.include_dir} {library} 9.27.0\n" in said


def test_an_extension_of_torch_is_compiled_and_linked_against_it(
    real_whole: Prefix, torch_site: Path
) -> None:
    env = real_whole.env("torch-extension")
    includes, libraries = json.loads(python(EXTENSION, torch_site, env))
    assert str(real_whole.include_dir) in includes
    assert f"{real_whole.path}/lib64" in libraries


def test_collect_env_of_torch_names_it(real_whole: Prefix, torch_site: Path) -> None:
    found = python(COLLECT, torch_site, real_whole.env("torch-extension"))
    assert found == str((real_whole.lib_dir / "libcudnn.so.9").resolve())


def test_cuda_pathfinder_finds_headers_and_library(
    real_whole: Prefix, cuda_site: Path, tmp_path: Path
) -> None:
    """It loads cuBLASLt first, which is no part of cuDNN: an empty one is enough to go on."""
    (tmp_path / "empty.c").touch()
    stub = tmp_path / "libcublasLt.so.13"
    ran("gcc", "-shared", tmp_path / "empty.c", f"-Wl,-soname,{stub.name}", "-o", stub)
    env = {**real_whole.env("cudnn-frontend"), "LD_LIBRARY_PATH": str(tmp_path)}
    headers, library = json.loads(python(PATHFINDER, cuda_site, env))
    assert headers == str(real_whole.include_dir)
    assert library == str(real_whole.lib_dir / "libcudnn.so.9")
