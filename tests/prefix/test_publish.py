from __future__ import annotations

import errno
import os
import stat
import time
from typing import TYPE_CHECKING

import pytest
from prefix.made import age, entries, fill, installed, names, record

from cudnn_redist.errors import PrefixError
from cudnn_redist.prefix.installed import Prefix
from cudnn_redist.prefix.publish import Stage, write_file
from cudnn_redist.prefix.removing import remove_prefix, remove_tree
from cudnn_redist.prefix.space import disk_errors

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist.prefix.record import Record

NEW = {"include/new.h": b"new"}
DAY = 24 * 3600


def never() -> bool:
    raise AssertionError("nothing was there to replace")


def publish_new(target: Path, *, replace: bool | None = None, durable: bool = False) -> bool:
    """Publish a prefix of one file to ``target``; ``replace`` is the answer to the question, if it is asked."""
    with Stage(target) as stage:
        root = fill(stage.path / "top", NEW, {})
        ask = never if replace is None else lambda: replace
        return stage.publish(root, new_record(), replace=ask, durable=durable)


def new_record() -> Record:
    return record(entries=entries(NEW, {}), archive_sha256="f" * 64)


def is_new(target: Path) -> bool:
    prefix = Prefix.open(target)
    return prefix.record == new_record() and prefix.verify() == ()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"


@pytest.mark.parametrize("durable", [False, True], ids=["usual", "durable"])
def test_an_absent_target_is_published_whole(target: Path, *, durable: bool) -> None:
    assert publish_new(target, durable=durable)
    assert is_new(target)
    assert names(target.parent) == [target.name]


def test_a_tree_without_a_top_folder_is_the_stage_itself(target: Path) -> None:
    with Stage(target) as stage:
        fill(stage.path, NEW, {})
        assert stage.publish(stage.path, new_record(), replace=never)
    assert is_new(target)
    assert names(target.parent) == [target.name]


def test_a_durable_prefix_may_hold_links(target: Path) -> None:
    with Stage(target) as stage:
        assert stage.publish(fill(stage.path / "top"), record(), replace=never, durable=True)
    assert Prefix.open(target).verify() == ()


def test_an_empty_directory_is_no_obstacle(target: Path) -> None:
    target.mkdir(parents=True)
    assert publish_new(target)
    assert is_new(target)


@pytest.mark.parametrize("kind", ["prefix", "directory", "file", "link", "dangling-link"])
def test_what_stands_there_is_replaced_when_it_may_go(target: Path, tmp_path: Path, kind: str) -> None:
    target.parent.mkdir(parents=True)
    kept = fill(tmp_path / "kept")
    match kind:
        case "prefix":
            installed(target)
        case "directory":
            fill(target)
        case "file":
            target.write_text("x")
        case "link":
            target.symlink_to(kept)
        case "dangling-link":
            target.symlink_to("nowhere")
    assert publish_new(target, replace=True)
    assert is_new(target)
    assert not target.is_symlink()
    assert names(target) == [".cudnn-redist.json", "include"]
    assert names(target.parent) == [target.name]
    assert names(kept) == ["include", "lib"]


def test_the_loser_of_a_race_leaves_the_winner(target: Path) -> None:
    with Stage(target) as loser:
        root = fill(loser.path / "top", NEW, {})
        winner = installed(target)
        assert not loser.publish(root, new_record(), replace=lambda: False)
    assert Prefix.open(target) == winner
    assert winner.verify() == ()
    assert names(target.parent) == [target.name]


def test_a_replacement_that_fails_puts_the_old_one_back(target: Path) -> None:
    old = installed(target)
    with Stage(target) as stage:
        root = fill(stage.path / "top", NEW, {})

        def replace() -> bool:
            # The new tree vanishes after its first rename was refused: the second one must fail.
            remove_tree(root)
            return True

        with pytest.raises(FileNotFoundError):
            stage.publish(root, new_record(), replace=replace)
    assert Prefix.open(target) == old
    assert old.verify() == ()
    assert names(target.parent) == [target.name]


def test_a_winner_that_vanishes_makes_room(target: Path) -> None:
    old = installed(target)

    def replace() -> bool:
        remove_prefix(old.path)
        return True

    with Stage(target) as stage:
        assert stage.publish(fill(stage.path / "top", NEW, {}), new_record(), replace=replace)
    assert is_new(target)
    assert names(target.parent) == [target.name]


def test_an_exception_leaves_no_stage(target: Path) -> None:
    def interrupted() -> None:
        with Stage(target) as stage:
            fill(stage.path / "top")
            raise KeyboardInterrupt

    ground = next(parent for parent in target.parents if parent.exists())
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not target.parent.exists() or names(target.parent) == []
    assert next(parent for parent in target.parents if parent.exists()) == ground


def test_a_stage_lies_beside_its_target_and_can_be_cleared(target: Path) -> None:
    with Stage(target) as stage:
        assert stage.path.parent == target.parent
        fill(stage.path)
        stage.clear()
        assert names(stage.path) == []
        with Stage(target) as other:
            assert other.path != stage.path


def test_a_record_is_never_written_over_a_file_of_the_archive(target: Path) -> None:
    with Stage(target) as stage:
        root = fill(stage.path / "top", {".cudnn-redist.json": b"{}"}, {})
        with pytest.raises(FileExistsError):
            stage.publish(root, record(), replace=never)
    assert not target.exists()


def test_what_the_system_refuses_is_a_prefix_error() -> None:
    with pytest.raises(PrefixError) as caught, disk_errors("/target", phase="publish"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value) == "publish: /target: No space left on device"
    with pytest.raises(PrefixError) as named, disk_errors("/target", phase="publish"):
        raise PermissionError(errno.EACCES, "Permission denied", "/target/lib")
    assert named.value.where == "/target/lib"
    with pytest.raises(PrefixError, match="without a number"), disk_errors("/target", phase="publish"):
        raise OSError("without a number")


def test_a_file_is_written_only_where_there_is_none(tmp_path: Path) -> None:
    write_file(tmp_path / "a", b"first")
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"first"


def test_a_prefix_moved_aside_counts_as_touched_just_now(tmp_path: Path) -> None:
    """Its files are old, but it may have to be put back: another process must not sweep it meanwhile."""
    target = installed(tmp_path / "cuda13").path
    age(target, 30 * DAY)
    with Stage(target) as stage:
        root = fill(stage.path / "top", NEW, {})

        def replace() -> bool:
            remove_tree(root)
            return True

        with pytest.raises(FileNotFoundError):
            stage.publish(root, new_record(), replace=replace)
    assert time.time() - target.stat().st_mtime < DAY
    assert Prefix.open(target).verify() == ()


def test_execute_bits_and_modes_follow_the_umask(target: Path) -> None:
    assert publish_new(target)
    mode = stat.S_IMODE((target / ".cudnn-redist.json").stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    assert mode == 0o666 & ~umask
