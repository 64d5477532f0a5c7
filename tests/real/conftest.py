"""What the real tests share: the wheel, the tree made of it, and the program in an environment of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from real import packages, program, repack, wheel, whole_set

import cudnn_redist

if TYPE_CHECKING:
    from pathlib import Path

    from real.program import Program
    from real.repack import Tree
    from real.wheel import WheelFile


@pytest.fixture(scope="session")
def real_wheel() -> WheelFile:
    begun = time.monotonic()
    found = wheel.download(wheel.CUDNN_JIT, wheel.cache_directory())
    program.say(f"\n--- wheel\n{found.path}\nthere after {time.monotonic() - begun:.2f} s")
    return found


@pytest.fixture(scope="session")
def real_tree(real_wheel: WheelFile) -> Tree:
    begun = time.monotonic()
    tree = repack.repack(real_wheel, wheel.cache_directory())
    size, blocks = tree.archive.stat().st_size, repack.xz_blocks(tree.archive)
    program.say(f"\n--- NVIDIA's layout\n{tree.archive.name}: {size} bytes in {blocks} xz blocks")
    program.say(f"there after {time.monotonic() - begun:.2f} s")
    return tree


@pytest.fixture(scope="session")
def real_whole(tmp_path_factory: pytest.TempPathFactory) -> cudnn_redist.Prefix:
    """The whole set of libraries for x86-64 Linux."""
    source = whole_set.linux(wheel.cache_directory())
    root = tmp_path_factory.mktemp("whole")
    return cudnn_redist.fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[str(source)], root=root)


@pytest.fixture(scope="session")
def real_windows() -> Path:
    """A source with the Windows archive of the whole set."""
    return whole_set.windows(wheel.cache_directory())


@pytest.fixture(scope="session")
def cuda_site() -> Path:
    return packages.site(wheel.cache_directory(), packages.CUDA)


@pytest.fixture(scope="session")
def torch_site() -> Path:
    return packages.site(wheel.cache_directory(), packages.TORCH)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program.install(tmp_path_factory.mktemp("installed"))
