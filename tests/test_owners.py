"""Which process made a file, as its name tells."""

from __future__ import annotations

import re
import time

import pytest

from cudnn_redist.owners import left_behind, own_mark

MARK = own_mark()
"""``<host>.<pid>.<token>-<namespace>-<birth>``"""


@pytest.mark.parametrize(
    ("mark", "at_once", "after_an_hour"),
    [
        (MARK, False, False),
        (re.sub(r"-[0-9a-f]+$", "-1", MARK), True, True),
        (re.sub(r"-[0-9a-f]+-", "-1-", MARK), False, True),
    ],
    ids=["this process", "an earlier process of its number", "a process of another PID namespace"],
)
def test_a_number_alone_names_no_process(mark: str, *, at_once: bool, after_an_hour: bool) -> None:
    name, now = f".cudnn-redist-{mark}.stage", time.time()
    assert left_behind(name, touched=now) is at_once
    assert left_behind(name, touched=now - 3700) is after_an_hour
