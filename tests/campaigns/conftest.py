"""Chance that can be had again (the seed is printed; CAMPAIGN_SEED sets it), and one ground for all single trials."""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING

import pytest
from campaigns.ground import Ground, ground

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def rng() -> random.Random:
    seed = int(os.environ.get("CAMPAIGN_SEED", "4"))
    print(f"CAMPAIGN_SEED={seed}")  # noqa: T201 - pytest shows it with a failure
    return random.Random(seed)


@pytest.fixture(autouse=True)
def _nobody_ignores_signals() -> Iterator[None]:
    """Let children have SIGINT though the suite itself runs as some shell's background job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The ground of single trials; its server is slow only while a trial wants it."""
    with ground(tmp_path_factory.mktemp("ground"), files=300) as made:
        yield made
