"""``bundle``: one file to carry, and what the commands make of it."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree
    from redist.command import Completed


@pytest.fixture
def out(redist_tree: RedistTree, tmp_path: Path) -> Path:
    """A bundle of 9.27.0, whose source is gone."""
    path = tmp_path / "cudnn.bundle"
    done = bundled(path, redist_tree)
    assert (done.code, done.out) == (0, f"{path}\n"), done.err
    shutil.rmtree(redist_tree.path)
    return path


def bundled(path: Path, tree: RedistTree, *words: str, env: dict[str, str] | None = None) -> Completed:
    return run_command("bundle", path, "9.27.0", *CHOICE, "--source", tree.path, *words, env=env)


def test_it_tells_the_licence_the_size_and_the_digest(redist_tree: RedistTree, tmp_path: Path) -> None:
    path = tmp_path / "cudnn.bundle"

    done = bundled(path, redist_tree, "--json")

    told = json.loads(done.out)
    assert told["bundle"] == str(path)
    assert told["releases"] == ["cudnn 9.27.0"]
    assert [place.rpartition("/")[2] for place in told["archives"]] == [
        "cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
    ]
    assert told["size"] == path.stat().st_size
    assert told["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert done.err.count("NVIDIA's licence: ") == 1
    assert f"1 archive, {told['size']:,} bytes, sha256 {told['sha256']}" in done.err


def test_an_out_that_was_forgotten_is_told_before_anything(tmp_path: Path) -> None:
    done = run_command("bundle", "9.27.0", cwd=tmp_path)

    told = f"usage: {tmp_path / '9.27.0'}: this is taken for OUT, and no LABEL follows it, nor a --lock"
    assert (done.code, done.out, done.err) == (2, "", f"cudnn-redist: {told}\n")


def test_a_licence_that_must_be_accepted(redist_tree: RedistTree, tmp_path: Path) -> None:
    path = tmp_path / "cudnn.bundle"

    refused = bundled(path, redist_tree, "--strict-licence")

    assert (refused.code, refused.out, path.exists()) == (2, "", False)
    assert "--accept-licence" in reason(refused)
    accepted = {"CUDNN_REDIST_ACCEPT_LICENCE": "1"}
    assert bundled(path, redist_tree, "--strict-licence", env=accepted).code == 0
    assert bundled(path, redist_tree, "--strict-licence", "--accept-licence").code == 0


@pytest.mark.parametrize(
    "words",
    [("9.27.0", "--source"), ("9.27", "--source"), ("latest", "--source"), ("--lock",)],
    ids=" ".join,
)
def test_fetch_takes_it_as_a_source_and_as_a_lock(words: tuple[str, ...], out: Path, root: Path) -> None:
    done = run_command("fetch", *CHOICE, "--root", root, "--no-fallback", *words, out)

    assert (done.code, done.out) == (0, f"{root / PREFIX}\n"), done.err
    assert run_command("verify", "--lock", out, "--root", root).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("list", "--source", "BUNDLE"), "9.27.0\n"),
        (("list", "9.27.0", "--source", "BUNDLE"), "linux-x86_64"),
        (("url", "9.27.0", *CHOICE, "--source", "BUNDLE"), "cudnn.bundle/cudnn/redist/cudnn/linux-x86_64/"),
        (("lock", "9.27.0", *CHOICE, "--source", "BUNDLE"), "cudnn-redist.lock"),
        (("lock", "--check", "BUNDLE", "--source", "BUNDLE"), "cudnn 9.27.0: as locked"),
        (("mirror", "there", "9.27.0", *CHOICE, "--source", "BUNDLE"), "there"),
        (("bundle", "second.bundle", "--lock", "BUNDLE"), "second.bundle"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_other_commands_take_it_too(words: tuple[str, ...], told: str, out: Path, tmp_path: Path) -> None:
    done = run_command(*(str(out) if word == "BUNDLE" else word for word in words), cwd=tmp_path)

    assert (done.code, told in done.out) == (0, True), done.err


def test_a_file_that_is_no_bundle_is_no_source(root: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_text("dear all")

    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", letter)

    assert (done.code, done.out, root.exists()) == (2, "", False)
    assert "no bundle of ours" in reason(done)


def test_a_bundle_that_was_cut_is_damaged(out: Path, root: Path) -> None:
    out.write_bytes(out.read_bytes()[:-1])

    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", out)

    assert (done.code, done.out, root.exists()) == (6, "", False)
    assert "cut short" in reason(done)
