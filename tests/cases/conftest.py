"""What the tests of real failures start from: an empty root, and the command pointed at a server or a directory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from cases.ground import Fetch, redist
from redist import File
from redist.archives import pack

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree


@pytest.fixture(scope="session")
def thirty_megabytes() -> bytes:
    """An archive with so much noise in it, not compressed, since nothing would become of that."""
    return pack("tar", "top", {"lib/noise": File(random.Random(60).randbytes(30 << 20))})


@pytest.fixture
def fetch(redist_server: RedistServer, root: Path) -> Fetch:
    """``fetch`` over HTTP, from the folder that holds the manifests: one request finds each thing."""
    return Fetch(root, redist(redist_server))


@pytest.fixture
def fetch_local(redist_tree: RedistTree, root: Path) -> Fetch:
    """``fetch`` from the directory itself, where the line is not what a case is about."""
    return Fetch(root, redist_tree.path)
