from __future__ import annotations

import os
from itertools import pairwise

import pytest

from cudnn_redist.unpack.capacity import default_budget, default_threads

MIB = 1 << 20


def test_the_budget_grows_with_the_threads() -> None:
    budgets = [default_budget(threads, memory=1 << 40) for threads in range(1, 9)]
    assert [b - a for a, b in pairwise(budgets)] == [40 * MIB] * 7


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_the_budget_is_at_most_a_quarter_of_the_memory(threads: int) -> None:
    assert default_budget(threads, memory=256 * MIB) == 64 * MIB


def test_the_budget_knows_the_memory_of_this_machine() -> None:
    assert MIB <= default_budget(10_000) <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def test_the_threads_are_the_processors_of_this_process() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)
