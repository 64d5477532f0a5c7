"""Who asks, and a server of one small file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from source.ground import QUICK

from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def source() -> Iterator[HttpSource]:
    with HttpSource(QUICK) as source:
        yield source


@pytest.fixture
def file_server(tmp_path: Path) -> Iterator[RedistServer]:
    """A server of one file of a thousand bytes."""
    (tmp_path / "x").write_bytes(bytes(range(250)) * 4)
    with RedistServer(tmp_path) as server:
        yield server
