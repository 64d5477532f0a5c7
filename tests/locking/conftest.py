"""A root of one's own for each test of locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root that nobody has made yet."""
    return tmp_path / "root"
