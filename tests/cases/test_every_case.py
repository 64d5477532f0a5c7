"""Every case has a test that bears its id, and no test bears an id that there is not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

CASES = Path(__file__).parents[3] / "shared" / "docs" / "cases.md"
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """The ids of ``cases.md``, which lies beside the checkout and is no part of it."""
    if not CASES.is_file():
        pytest.skip("no ../shared with the list of cases")
    return set(re.findall(r"^### (C[0-9]{2}) ", CASES.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.fixture(scope="module")
def tested() -> set[str]:
    """The ids in the names of the test functions of this folder."""
    trees = [ast.parse(path.read_text(encoding="utf-8"), path.name) for path in HERE.glob("test_*.py")]
    names = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {match[1] for name in names if (match := re.match(r"test_(C[0-9]{2})_", name))}


def test_every_case_has_a_test(listed: set[str], tested: set[str]) -> None:
    assert listed
    assert sorted(listed - tested) == []


def test_every_id_is_that_of_a_case(listed: set[str], tested: set[str]) -> None:
    assert sorted(tested - listed) == []
