"""A source with licence texts, and a mirror that nobody has made yet, for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mirroring.ground import Ground
from redist import RedistServer, RedistTree
from source.ground import large

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> RedistTree:
    """9.9.0, 9.26.0 and 9.27.0 for two platforms, two variants, with cudnn_jit in the last."""
    tree = RedistTree(tmp_path / "published")
    for label, components in (
        ("9.9.0", ("cudnn",)),
        ("9.26.0", ("cudnn",)),
        ("9.27.0", ("cudnn", "cudnn_jit")),
    ):
        tree.add_release(label, components=components, platforms=("linux-x86_64", "linux-sbsa"))
    for component in ("cudnn", "cudnn_jit"):
        (tree.redist / component / "LICENSE.txt").write_text(f"what is allowed with {component}")
    return tree


@pytest.fixture
def server(tree: RedistTree) -> Iterator[RedistServer]:
    with RedistServer(tree.path) as server:
        yield server


@pytest.fixture
def ground(tree: RedistTree, tmp_path: Path) -> Ground:
    return Ground(tree=tree, mirror=tmp_path / "mirror", root=tmp_path / "root")


@pytest.fixture
def big(ground: Ground) -> Path:
    """The archive of ``ONE``, made a megabyte large."""
    ground.tree.add_release(
        "9.27.0", platforms=("linux-x86_64",), variants=("cuda13",), content=large(1 << 20)
    )
    return ground.tree.archive_path("9.27.0")
