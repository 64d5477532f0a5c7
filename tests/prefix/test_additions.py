from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from prefix.made import fill, names

from cudnn_redist.prefix.additions import add_files
from cudnn_redist.prefix.record import Entry

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"Name: cuDNN\n"


def added(path: str, data: bytes = TEXT) -> Entry:
    return Entry(path=path, kind="file", size=len(data), sha256=hashlib.sha256(data).hexdigest())


def test_what_is_added_is_told_with_the_directories_that_it_needed(tmp_path: Path) -> None:
    root = fill(tmp_path / "p")
    entries = add_files(root, {"lib/pkgconfig/cudnn.pc": TEXT, "lib/cmake/cudnn/x.cmake": b""})
    assert entries == (
        Entry(path="lib/cmake", kind="directory"),
        Entry(path="lib/cmake/cudnn", kind="directory"),
        added("lib/cmake/cudnn/x.cmake", b""),
        Entry(path="lib/pkgconfig", kind="directory"),
        added("lib/pkgconfig/cudnn.pc"),
    )
    assert (root / "lib/pkgconfig/cudnn.pc").read_bytes() == TEXT


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert add_files(tmp_path, {}) == ()
    assert names(tmp_path) == []


def test_two_names_that_are_one_on_this_file_system_are_written_once_and_both_recorded(
    tmp_path: Path,
) -> None:
    """A link stands in for a file system that folds case: under both names there is one file."""
    (tmp_path / "one.pc").write_bytes(TEXT)
    (tmp_path / "ONE.pc").symlink_to("one.pc")
    assert add_files(tmp_path, {"ONE.pc": TEXT}) == (added("ONE.pc"),)


def test_a_file_that_stands_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"the vendor's")
    with pytest.raises(FileExistsError):
        add_files(tmp_path, {"x": TEXT})
    assert (tmp_path / "x").read_bytes() == b"the vendor's"
