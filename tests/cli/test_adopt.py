from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree


@pytest.fixture
def at_hand(redist_tree: RedistTree) -> Path:
    """NVIDIA's archive of one choice."""
    return redist_tree.archive_path("9.27.0", "cudnn", "linux-x86_64", "cuda13")


def test_what_a_manifest_names_is_adopted_without_a_word(
    redist_tree: RedistTree, at_hand: Path, root: Path
) -> None:
    done = run_command("adopt", at_hand, "--source", redist_tree.path, "--root", root)
    assert (done.code, done.out, done.err) == (0, f"{root / PREFIX}\n", "")
    assert run_command("where", "9.27.0", *CHOICE, "--root", root).out == done.out


def test_what_nobody_names_is_adopted_and_told_from_then_on(at_hand: Path, root: Path) -> None:
    done = run_command("adopt", at_hand, "--root", root)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert done.err.startswith("not proven: no manifest at hand names an archive with sha256 ")
    checked = run_command("verify", root / PREFIX)
    assert (checked.code, ": unproven: " in checked.err) == (0, True)
    fetched = run_command("fetch", "9.27.0", *CHOICE, "--root", root)
    assert (fetched.code, "(adopted: nobody vouches for it)" in fetched.err) == (0, True)


def test_json_has_what_could_not_be_proven(at_hand: Path, root: Path) -> None:
    done = run_command("adopt", at_hand, "--root", root, "--json")
    facts = json.loads(done.out)
    assert (facts["path"], facts["label"], len(facts["unproven"])) == (str(root / PREFIX), "9.27.0", 1)


def test_what_is_no_archive_is_named_and_no_source_is_to_blame(root: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# ours")
    done = run_command("adopt", "README.md", "--root", root, cwd=tmp_path)
    told = f"adopt: {tmp_path / 'README.md'}: this is no archive but text: '# ours'"
    assert (done.code, done.out, reason(done)) == (6, "", told)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("none.tar.xz",), 2),
        (("{at_hand}", "--component", "cudnn_jit"), 2),
        (("{at_hand}", "--as", "9.26.0"), 2),
        (("{manifest}",), 6),
    ],
    ids=["absent", "another-component", "another-version", "no-archive"],
)
def test_what_cannot_be_adopted_has_its_exit_code(
    redist_tree: RedistTree, at_hand: Path, root: Path, words: tuple[str, ...], code: int
) -> None:
    names = {"at_hand": str(at_hand), "manifest": str(redist_tree.manifest_path("9.27.0"))}
    done = run_command("adopt", *(word.format(**names) for word in words), "--root", root)
    assert (done.code, done.out) == (code, "")
    assert reason(done)
