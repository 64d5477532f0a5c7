"""The campaigns look at trees that others change meanwhile, and leave no process behind when a look fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from campaigns.processes import running, until

if TYPE_CHECKING:
    from pathlib import Path

    from campaigns.ground import Ground


def test_a_file_that_vanishes_under_a_look_is_no_answer(tmp_path: Path) -> None:
    looks = iter([tmp_path / "gone", tmp_path])
    assert until(lambda: next(looks).stat())


def test_what_a_failed_look_leaves_running_is_ended(there: Ground, tmp_path: Path) -> None:
    there.server.rate = 1_000
    with pytest.raises(StopIteration), running(there.words(tmp_path / "root")) as process:
        until(lambda: next(iter(())))
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
