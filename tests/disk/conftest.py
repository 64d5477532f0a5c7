"""Mounts, and releases large enough to be interrupted anywhere."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from disk.mounting import Mounts
from redist import File, RedistServer, RedistTree
from redist.libraries import elf_library

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    with Mounts() as mounts:
        yield mounts


@pytest.fixture(scope="session")
def big_tree(tmp_path_factory: pytest.TempPathFactory) -> RedistTree:
    """9.26.0, small, and 9.27.0 with a library of 4 MiB that does not compress; of one platform and variant."""
    tree = RedistTree(tmp_path_factory.mktemp("big"))
    noise = {
        "include/cudnn.h": File(b"#pragma once\n"),
        "lib/libcudnn.so.9.27.0": File(elf_library(payload=random.Random(9270).randbytes(4 * MIB)), 0o755),
    }
    alone = {"platforms": ("linux-x86_64",), "variants": ("cuda13",)}
    tree.add_release("9.26.0", **alone)
    tree.add_release("9.27.0", kind="tar.gz", content=lambda *_: noise, **alone)
    return tree


@pytest.fixture
def big_server(big_tree: RedistTree) -> Iterator[RedistServer]:
    with RedistServer(big_tree.path) as server:
        yield server
