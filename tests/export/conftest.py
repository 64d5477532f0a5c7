"""What the tests of exports share: a served release, and its export of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from export.ground import Exports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redist import RedistServer, RedistTree


@pytest.fixture
def exports(redist_tree: RedistTree, redist_server: RedistServer) -> Iterator[Exports]:
    """Exports of 9.27.0, by its server."""
    return Exports(redist_tree, redist_server)
