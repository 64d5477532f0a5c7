"""A plan becomes prefixes: what they hold, and when one is made again."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest
from installing import everything, leftovers, options, planned

from cudnn_redist import Prefix, install

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree


def test_a_plan_becomes_a_prefix(redist_server: RedistServer, root: Path) -> None:
    made = planned(redist_server.url, root)
    (prefix,) = install(made)
    assert prefix.path == root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert prefix == Prefix.open(prefix.path)
    assert prefix.verify() == ()
    assert (prefix.include_dir / "cudnn_version.h").is_file()
    assert leftovers(root) == []
    record = prefix.record
    assert record.version == "9.27.0.42"
    assert (record.archive_sha256, record.archive_size) == (made.archives[0].sha256, made.archives[0].size)
    assert record.manifest_sha256 == made.manifest_sha256
    assert record.archive_path == made.archives[0].relative_path


def test_symlinks_stay_relative_links(redist_tree: RedistTree, root: Path) -> None:
    """C45, C86: the chain of a library's names, not three copies."""
    (prefix,) = install(planned(redist_tree.path, root))
    names = ["libcudnn.so", "libcudnn.so.9", "libcudnn.so.9.27.0"]
    assert [str((prefix.lib_dir / name).readlink()) for name in names[:2]] == names[1:]
    file = (prefix.lib_dir / names[2]).lstat()
    assert stat.S_ISREG(file.st_mode)
    recorded = {entry.path: entry for entry in prefix.record.entries}
    assert [recorded[f"lib/{name}"].target for name in names] == [*names[1:], None]
    real = recorded["lib/libcudnn.so.9.27.0"]
    assert (real.kind, real.executable, real.size) == ("file", True, file.st_size)


def test_owner_write_is_added_and_execute_bits_are_kept(redist_tree: RedistTree, root: Path) -> None:
    """C43: the licence is 0444 in the archive."""
    (prefix,) = install(planned(redist_tree.path, root))
    assert (prefix.path / "LICENSE").stat().st_mode & 0o777 in (0o644, 0o600, 0o664, 0o640)
    assert (prefix.lib_dir / "libcudnn.so.9.27.0").stat().st_mode & 0o100
    assert (prefix.path / "LICENSE").stat().st_uid == os.geteuid()


def test_two_sources_give_identical_prefixes(
    redist_server: RedistServer, redist_tree: RedistTree, tmp_path: Path
) -> None:
    (served,) = install(planned(redist_server.url, tmp_path / "served"))
    (read,) = install(planned(redist_tree.path, tmp_path / "read"))
    assert everything(served.path) == everything(read.path)
    assert ".cudnn-redist.json" in everything(read.path)


def test_the_tree_is_the_same_from_every_kind_of_archive(redist_tree: RedistTree, tmp_path: Path) -> None:
    trees = set()
    for kind in ("tar.xz", "tar.zst", "tar.gz", "zip"):
        redist_tree.add_release("9.27.0", kind=kind)
        (prefix,) = install(planned(redist_tree.path, tmp_path / kind))
        assert prefix.verify() == ()
        trees.add((prefix.record.tree, frozenset(everything(prefix.path).items() - {record_of(prefix)})))
    assert len(trees) == 1


def record_of(prefix: Prefix) -> tuple[str, tuple[str, str]]:
    return ".cudnn-redist.json", everything(prefix.path)[".cudnn-redist.json"]


def test_what_is_installed_is_not_fetched_again(redist_server: RedistServer, root: Path) -> None:
    """C72: also when times changed."""
    made = planned(redist_server.url, root)
    (first,) = install(made)
    os.utime(first.lib_dir / "libcudnn.so.9.27.0", (0, 0))
    asked = len(redist_server.log)
    before = (first.path / ".cudnn-redist.json").stat()
    assert install(made) == (first,)
    assert len(redist_server.log) == asked
    assert (first.path / ".cudnn-redist.json").stat() == before


@pytest.mark.parametrize(
    "damage", ["directory-without-record", "file-gone", "record-cut", "record-unreadable"]
)
def test_a_damaged_prefix_repairs_itself(redist_tree: RedistTree, root: Path, damage: str) -> None:
    """C62: neither a directory nor a header makes an installation."""
    made = planned(redist_tree.path, root)
    path = made.archives[0].prefix
    if damage != "directory-without-record":
        install(made)
    match damage:
        case "directory-without-record":
            (path / "include").mkdir(parents=True)
            (path / "include/cudnn.h").write_text("half")
            (path / "libcudnn.so.8").touch()
        case "file-gone":
            (path / "lib/libcudnn.so.9.27.0").unlink()
        case "record-cut":
            (path / ".cudnn-redist.json").write_text("{")
        case "record-unreadable":
            (path / ".cudnn-redist.json").unlink()
            (path / ".cudnn-redist.json").mkdir()
    (prefix,) = install(made)
    assert prefix.verify() == ()
    assert leftovers(root) == []


def test_force_replaces_what_is_there(redist_tree: RedistTree, root: Path) -> None:
    made = planned(redist_tree.path, root)
    (prefix,) = install(made)
    (prefix.path / "mine.txt").touch()
    before = prefix.path.stat().st_ino
    (again,) = install(made, options=options(force=True))
    assert again == prefix
    assert again.verify() == ()
    assert again.path.stat().st_ino != before
    assert leftovers(root) == []


def test_another_archive_under_the_same_label_is_told_and_not_installed(
    redist_tree: RedistTree, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C71: only on request."""
    (prefix,) = install(planned(redist_tree.path, root))
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    made = planned(redist_tree.path, root, refresh=True)
    assert install(made) == (prefix,)
    assert "--force installs that" in caplog.text
    (forced,) = install(made, options=options(force=True))
    assert forced.record.version == "9.27.0.43"
    assert forced.record.archive_sha256 == made.archives[0].sha256 != prefix.record.archive_sha256
