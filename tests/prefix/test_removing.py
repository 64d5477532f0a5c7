"""Prefixes that go, and what killed runs left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from prefix.made import age, fill, installed, names
from prefix.ordinary import NOBODY, run_as_ordinary_user

from cudnn_redist.owners import own_mark
from cudnn_redist.prefix.installed import Prefix
from cudnn_redist.prefix.removing import remove_prefix, remove_tree, sweep

if TYPE_CHECKING:
    from pathlib import Path

DAY = 24 * 3600


def test_a_prefix_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "cuda13"
    installed(target)
    remove_prefix(target)
    assert names(target.parent) == []
    remove_prefix(target)


def test_removing_follows_no_link(tmp_path: Path) -> None:
    kept = fill(tmp_path / "kept")
    doomed = fill(tmp_path / "doomed")
    (doomed / "link").symlink_to(kept)
    remove_tree(doomed)
    (tmp_path / "link").symlink_to(kept)
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "missing")
    (tmp_path / "file").touch()
    remove_tree(tmp_path / "file")
    assert names(tmp_path) == ["kept"]
    assert names(kept) == ["include", "lib"]


REMOVE_READ_ONLY = """
import sys
from pathlib import Path
from cudnn_redist.prefix.removing import remove_prefix
root = Path(sys.argv[1], "mine")
(root / "top/lib").mkdir(parents=True)
(root / "top/LICENSE").touch(0o444)
(root / "top/lib/libcudnn.so.9").touch(0o555)
(root / "top/lib/libcudnn.so").symlink_to("libcudnn.so.9")
(root / "top/lib").chmod(0o555)
(root / "top").chmod(0o500)
try:
    (root / "top/lib/libcudnn.so").unlink()
except PermissionError:
    print("permissions hold")
remove_prefix(root / "top")
print(list(root.iterdir()))
"""


def test_read_only_files_and_directories_are_removed_by_an_ordinary_user(tmp_path: Path) -> None:
    """C43: licence files are 0444, libraries 0555."""
    done = run_as_ordinary_user("-c", REMOVE_READ_ONLY, tmp_path)
    assert (done.stdout.splitlines(), done.stderr) == (["permissions hold", "[]"], "")


REMOVE_ANOTHERS = """
import sys
from pathlib import Path
from cudnn_redist.prefix.removing import remove_prefix
remove_prefix(Path(sys.argv[1]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
def test_what_belongs_to_another_user_stays(tmp_path: Path) -> None:
    target = installed(tmp_path / "shared/prefix").path
    os.chown(target.parent, NOBODY, NOBODY)
    done = run_as_ordinary_user("-c", REMOVE_ANOTHERS, target)
    assert "PermissionError" in done.stderr
    assert Prefix.open(target).verify() == ()


@pytest.mark.parametrize("end", ["stage", "old"])
def test_what_a_dead_process_left_is_swept_at_once_and_what_a_live_one_uses_never(
    tmp_path: Path, end: str
) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    live, dead = own_mark(), re.sub(r"\.[0-9]+\.", f".{process.pid}.", own_mark())
    for mark in (live, dead):
        fill(tmp_path / f".cudnn-redist-{mark}.{end}")
    age(tmp_path / f".cudnn-redist-{live}.{end}", 30 * DAY)
    sweep([tmp_path])
    assert names(tmp_path) == [f".cudnn-redist-{live}.{end}"]


@pytest.mark.parametrize("name", [".cudnn-redist-elsewhere.7.0123abcd.stage", ".cudnn-redist-0a.old"])
def test_of_another_host_only_the_age_tells(tmp_path: Path, name: str) -> None:
    fill(tmp_path / name)
    age(tmp_path / name, 3000)
    sweep([tmp_path])
    assert names(tmp_path) == [name]
    age(tmp_path / name, 4000)
    sweep([tmp_path])
    assert names(tmp_path) == []


def test_only_leftovers_are_swept(tmp_path: Path) -> None:
    installed(tmp_path / "cuda13")
    fill(tmp_path / "other.stage")
    for name in names(tmp_path):
        age(tmp_path / name, 30 * DAY)
    sweep([tmp_path, tmp_path / "missing"])
    assert names(tmp_path) == ["cuda13", "other.stage"]
