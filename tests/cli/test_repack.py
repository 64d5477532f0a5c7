"""``mirror --repack zst``: its words, and what they lead to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree


def test_a_fetch_from_it_gives_the_same_tree(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    words = ("9.27.0", *CHOICE, "--source")
    made = run_command(
        "mirror", tmp_path / "mirror", *words, redist_tree.path, "--repack", "zst", "--level", "1"
    )
    assert (made.code, made.out) == (0, f"{tmp_path / 'mirror'}\n"), made.err

    found = [
        run_command("fetch", *words, source, "--root", root / name, "--json")
        for name, source in (("xz", redist_tree.path), ("zst", tmp_path / "mirror"))
    ]

    (theirs,), (ours,) = (json.loads(done.out)["prefixes"] for done in found)
    assert ours["tree"] == theirs["tree"]
    assert ours["archive_sha256"] != theirs["archive_sha256"]
    assert (root / "zst" / PREFIX / "lib/libcudnn.so").exists()
    assert run_command("mirror", tmp_path / "mirror", "--check").code == 0


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--level", "3"), "--level is that of --repack"),
        (("--repack", "zst", "--level", "0"), "must be from 1 to 19"),
        (("--repack", "zst", "--level", "20"), "must be from 1 to 19"),
        (("--repack", "zst", "--level", "x"), "no whole number"),
        (("--repack", "bz2"), "invalid choice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_that_make_no_sense(words: tuple[str, ...], cause: str, tmp_path: Path) -> None:
    done = run_command("mirror", tmp_path / "mirror", "9.27.0", *words)

    assert (done.code, (tmp_path / "mirror").exists()) == (2, False)
    assert cause in reason(done)
