"""What ``fetch`` and ``list`` say of a release that cannot run on the machine they run on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli.ground import reason
from redist.command import run_command

from cudnn_redist.host import Machine, host_platform

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree
    from redist.command import Completed

HERE = host_platform(Machine.this())[0]
WARNING = f"warning: cudnn 9.27.0.42 {HERE} cuda13 may not run here: "
DETAIL = "it is for CUDA 13, and the toolkit here is CUDA_PATH "


@pytest.fixture
def toolkit(tmp_path: Path) -> dict[str, str]:
    """An environment with a toolkit of CUDA 12.8."""
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda/version.json").write_text(json.dumps({"cuda": {"version": "12.8.0"}}))
    return {"CUDA_PATH": str(tmp_path / "cuda")}


def fetched(tree: RedistTree, root: Path, env: dict[str, str], *words: str) -> Completed:
    choice = ("--platform", HERE, "--cuda", "13", "--source", str(tree.path), "--root", str(root))
    return run_command("fetch", "9.27.0", *choice, *words, env=env)


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--json",)], ids=" ".join)
def test_fetch_warns_and_goes_on(
    redist_tree: RedistTree, root: Path, toolkit: dict[str, str], words: tuple[str, ...]
) -> None:
    done = fetched(redist_tree, root, toolkit, *words)
    assert done.code == 0
    assert f"{WARNING}{DETAIL}" in done.err


def test_strict_refuses_before_anything_is_written(
    redist_tree: RedistTree, root: Path, toolkit: dict[str, str]
) -> None:
    done = fetched(redist_tree, root, toolkit, "--strict")
    assert (done.code, done.out) == (3, "")
    assert reason(done).startswith(f"choose: cudnn 9.27.0.42 {HERE} cuda13: may not run here: {DETAIL}")
    assert not root.exists()


def test_what_is_there_is_answered_without_a_word_unless_strict(
    redist_tree: RedistTree, root: Path, toolkit: dict[str, str]
) -> None:
    assert fetched(redist_tree, root, {}, "--strict").code == 0
    again = fetched(redist_tree, root, toolkit)
    assert (again.code, "warning" in again.err) == (0, False)
    assert fetched(redist_tree, root, toolkit, "--strict").code == 3


def test_a_lock_is_looked_at_too(
    redist_tree: RedistTree, root: Path, toolkit: dict[str, str], tmp_path: Path
) -> None:
    lock = tmp_path / "cudnn-redist.lock"
    made = run_command("lock", "9.27.0", "--source", redist_tree.path, "--root", root, "-o", lock)
    assert made.code == 0
    words = ("--lock", lock, "--platform", HERE, "--cuda", "13", "--source", redist_tree.path, "--root", root)
    done = run_command("fetch", *words, "--strict", env=toolkit)
    assert (done.code, DETAIL in reason(done)) == (3, True)


def test_list_does_not_mind_a_toolkit_for_which_the_release_has_something(
    redist_tree: RedistTree, root: Path, toolkit: dict[str, str]
) -> None:
    words = ("9.27.0", "--strict", "--source", redist_tree.path, "--root", root)
    done = run_command("list", *words, env=toolkit)
    assert (done.code, "warning" in done.err) == (0, False)


def test_list_warns_of_a_release_with_a_known_fault(redist_tree: RedistTree, root: Path) -> None:
    redist_tree.add_release("9.10.0", version="9.10.0.56", platforms=(HERE,))
    words = ("9.10.0", "--source", redist_tree.path, "--root", root)
    done = run_command("list", *words)
    assert (done.code, "may not run here: 9.10.0.56 is not binary-compatible" in done.err) == (0, True)
    assert run_command("list", *words, "--strict").code == 3
