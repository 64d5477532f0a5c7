"""``--dest`` and ``--link``: places of the user's own, of which nothing is overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, leftovers, reason, snapshot
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

posix = pytest.mark.skipif(os.name == "nt", reason="symbolic links and devices of POSIX")


def link_words(root: Path, link: Path, *more: str) -> list[str | Path]:
    return ["fetch", "9.27.0", *CHOICE, "--root", root, "--link", link, *more]


def test_dest_takes_exactly_that_directory(redist_server: RedistServer, root: Path, tmp_path: Path) -> None:
    dest = tmp_path / "cudnn"
    words = ("fetch", "9.27.0", *CHOICE, "--source", redist_server.url, "--root", root, "--dest", dest)
    done = run_command(*words)
    assert (done.code, done.out) == (0, f"{dest}\n")
    assert (dest / "include/cudnn.h").is_file()
    assert {path.name for path in root.iterdir()} <= {".log.jsonl", ".partial", ".turns"}
    asked = len(redist_server.log)
    again = run_command(*words)
    assert (again.out, len(redist_server.log)) == (f"{dest}\n", asked)
    assert run_command("verify", dest).code == 0


def test_dest_of_ours_takes_another_release(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    words = ("--source", redist_tree.path, "--root", root, "--dest", tmp_path / "cudnn", *CHOICE)
    run_command("fetch", "9.26.0", *words)
    assert run_command("fetch", "9.27.0", *words).code == 0
    assert b"#define CUDNN_MINOR 27" in (tmp_path / "cudnn/include/cudnn_version.h").read_bytes()


def test_dest_leaves_what_is_not_ours_alone(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mine")
    before = snapshot(tmp_path / "mine")
    words = ("fetch", "9.27.0", *CHOICE, "--source", redist_tree.path, "--root", root)
    done = run_command(*words, "--dest", tmp_path / "mine")
    assert done.code == 7
    assert str(tmp_path / "mine") in reason(done)
    assert snapshot(tmp_path / "mine") == before


@pytest.mark.parametrize(
    "words",
    [
        ("--dest", "d", "--root", "d"),
        ("--dest", "d", "--root", "d/below"),
        ("--dest", "d", "--archives", "d/archives"),
        ("--dest", "d", "--link", "d"),
        ("--dest", "d", "--link", "d/include/link"),
        ("--dest", "d", "--cuda", "12"),
        ("--link", "l", "--cuda", "12"),
        ("--link", "l", "--platform", "linux-sbsa"),
        ("--root", ""),
        ("--dest", ""),
        ("--link", ""),
        ("--source", ""),
    ],
    ids=" ".join,
)
def test_what_cannot_end_well_is_refused_before_anything_is_fetched(
    redist_server: RedistServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    env = {"CUDNN_REDIST_ROOT": str(tmp_path / "root")}
    source = ("--source", redist_server.url)
    done = run_command("fetch", "9.27.0", *CHOICE, *source, *words, cwd=tmp_path, env=env)
    assert (done.code, done.out) == (2, "")
    assert reason(done).startswith("usage: ")
    assert list(tmp_path.iterdir()) == []
    assert redist_server.requests(".tar.xz") == []


@posix
@pytest.mark.parametrize(
    "words",
    [("--dest", "inner"), ("--dest", "lib/deeper/inner"), ("--root", "inner"), ("--link", "inner")],
    ids=" ".join,
)
def test_nothing_is_put_into_a_prefix(
    redist_server: RedistServer, root: Path, tmp_path: Path, words: tuple[str, str]
) -> None:
    common = (*CHOICE, "--source", redist_server.url)
    run_command("fetch", "9.27.0", *common, "--root", root)
    before, asked = snapshot(root / PREFIX), len(redist_server.requests(".tar.xz"))
    option, name = words
    place = () if option == "--root" else ("--root", tmp_path / "other")
    done = run_command("fetch", "9.26.0", *common, *place, option, root / PREFIX / name)
    assert (done.code, done.out) == (7, "")
    assert "lies in another prefix; that is left alone" in reason(done)
    assert snapshot(root / PREFIX) == before
    assert len(redist_server.requests(".tar.xz")) == asked


@posix
@pytest.mark.parametrize(
    "words",
    [
        ("fetch", "9.27.0", "--root", "here"),
        ("fetch", "9.27.0", "--dest", "here"),
        ("list", "--source", "here"),
        ("verify", "./here"),
    ],
    ids=" ".join,
)
def test_a_path_that_counts_from_a_directory_that_is_gone(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "gone").mkdir()
    script = 'rmdir "$PWD" && exec "$0" -m cudnn_redist "$@"'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, *words],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "here: counts from the working directory, which is gone" in done.stderr.splitlines()[-1]


def test_a_link_is_made_and_turned(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    link = tmp_path / "deep" / "current"
    source = ("--source", str(redist_tree.path))
    first = run_command("fetch", "9.26.0", *CHOICE, "--root", root, "--link", link, *source)
    assert first.out == f"{root / 'cudnn/9.26.0/cudnn/linux-x86_64/cuda13'}\n"
    assert (link / "include/cudnn.h").is_file()
    run_command(*link_words(root, link, *source))
    assert link.readlink() == root / PREFIX
    again = run_command(*link_words(root, link, *source))
    assert (again.code, link.readlink()) == (0, root / PREFIX)
    assert [path.name for path in link.parent.iterdir()] == ["current"]


@posix
@pytest.mark.parametrize("target", ["nowhere", "."], ids=["dangling", "directory"])
def test_a_link_that_is_there_is_replaced_itself(
    redist_tree: RedistTree, root: Path, tmp_path: Path, target: str
) -> None:
    (tmp_path / "current").symlink_to(target)
    done = run_command(*link_words(root, tmp_path / "current", "--source", str(redist_tree.path)))
    assert (done.code, (tmp_path / "current").readlink()) == (0, root / PREFIX)


@posix
@pytest.mark.parametrize("kind", ["file", "directory"])
def test_a_link_replaces_nothing_that_is_no_link(
    redist_server: RedistServer, root: Path, tmp_path: Path, kind: str
) -> None:
    taken = tmp_path / "current"
    if kind == "file":
        taken.write_text("mine")
    else:
        taken.mkdir()
    before = snapshot(taken)
    done = run_command(*link_words(root, taken, "--source", redist_server.url))
    assert (done.code, done.out) == (7, "")
    assert reason(done) == f"link: {taken}: exists and is no link; it is left alone"
    assert (snapshot(taken), root.exists(), redist_server.log) == (before, False, [])


@posix
def test_a_link_where_none_can_be_is_a_reason_of_its_own(
    redist_tree: RedistTree, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    link = tmp_path / "file" / "current"
    done = run_command(*link_words(root, link, "--source", str(redist_tree.path)))
    assert (done.code, done.out) == (7, "")
    assert reason(done).startswith(f"link: {link}: ")
    assert leftovers(tmp_path) == []


@posix
def test_one_link_cannot_point_at_two_prefixes_that_are_there(
    redist_tree: RedistTree, root: Path, tmp_path: Path
) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--cuda", "12", "--root", root, "--source", redist_tree.path)
    run_command(*words)
    done = run_command(*words, "--link", tmp_path / "current")
    assert done.code == 2
    assert "one link points at one prefix, and this asks for 2" in reason(done)
    assert not (tmp_path / "current").is_symlink()
