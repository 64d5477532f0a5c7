"""Prefixes that go, and what killed runs left behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from prefix.made import age, fill, installed, names
from prefix.ordinary import NOBODY, run_as_ordinary_user

from cudnn_redist.prefix.installed import Prefix
from cudnn_redist.prefix.publish import remove_prefix, remove_tree, sweep

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
from cudnn_redist.prefix.publish import remove_prefix
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
from cudnn_redist.prefix.publish import remove_prefix
remove_prefix(Path(sys.argv[1]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
def test_what_belongs_to_another_user_stays(tmp_path: Path) -> None:
    target = installed(tmp_path / "shared/prefix").path
    os.chown(target.parent, NOBODY, NOBODY)
    done = run_as_ordinary_user("-c", REMOVE_ANOTHERS, target)
    assert "PermissionError" in done.stderr
    assert Prefix.open(target).verify() == ()


@pytest.mark.parametrize("name", [".cudnn-redist-0a.stage", ".cudnn-redist-0a.old"])
def test_leftovers_are_swept_after_a_day(tmp_path: Path, name: str) -> None:
    fill(tmp_path / name)
    sweep(tmp_path)
    assert names(tmp_path) == [name]
    age(tmp_path / name, DAY - 600)
    sweep(tmp_path)
    assert names(tmp_path) == [name]
    age(tmp_path / name, DAY + 600)
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_a_stage_that_is_still_being_filled_is_not_swept(tmp_path: Path) -> None:
    """A slow line takes days for a large file, and nothing but that file is touched meanwhile."""
    stage = fill(tmp_path / ".cudnn-redist-0a.stage")
    age(stage, 2 * DAY)
    with (stage / "lib/libcudnn.so.9.27.0").open("ab") as file:
        file.write(b"more")
    sweep(tmp_path)
    assert stage.is_dir()


def test_only_leftovers_are_swept(tmp_path: Path) -> None:
    installed(tmp_path / "cuda13")
    fill(tmp_path / "other.stage")
    for name in names(tmp_path):
        age(tmp_path / name, 30 * DAY)
    sweep(tmp_path)
    sweep(tmp_path / "missing")
    assert names(tmp_path) == ["cuda13", "other.stage"]
