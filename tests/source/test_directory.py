from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cudnn_redist.errors import ArchiveWithdrawn, LabelNotFound, ManifestError, TransferError
from cudnn_redist.source.base import MANIFEST_LIMIT, NoIndex
from cudnn_redist.source.directory import DirectorySource

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree


def test_a_folder_is_listed(redist_tree: RedistTree) -> None:
    labels = DirectorySource().read_labels(redist_tree.redist.as_uri() + "/")

    assert [label.text for label in labels] == ["9.26.0", "9.27.0"]


@pytest.mark.parametrize("name", ["missing", "file", "file/below"])
def test_what_is_no_folder_has_no_index(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(NoIndex):
        DirectorySource().read_labels((tmp_path / name).as_uri() + "/")


def test_a_manifest_is_read_as_it_is(redist_tree: RedistTree) -> None:
    path = redist_tree.manifest_path("9.27.0")

    assert DirectorySource().read_manifest(path.as_uri(), fresh=True) == path.read_bytes()


@pytest.mark.parametrize("name", ["missing.json", "file/x.json"])
def test_a_missing_manifest_is_a_missing_label(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(LabelNotFound) as caught:
        DirectorySource().read_manifest((tmp_path / name).as_uri())

    assert caught.value.where == str(tmp_path / name)


def test_an_endless_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b" " * (MANIFEST_LIMIT + 1))

    with pytest.raises(ManifestError, match="more than"):
        DirectorySource().read_manifest(path.as_uri())


def test_a_directory_is_no_manifest_and_no_archive(tmp_path: Path) -> None:
    source = DirectorySource()
    for read in (source.read_manifest, source.open_archive):
        with pytest.raises(TransferError, match="cannot be read") as caught:
            read(tmp_path.as_uri())
        assert caught.value.where == str(tmp_path)


def test_a_missing_archive_is_withdrawn(tmp_path: Path) -> None:
    with pytest.raises(ArchiveWithdrawn):
        DirectorySource().open_archive((tmp_path / "x.tar.xz").as_uri())


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="too long"):
        DirectorySource().read_labels((tmp_path / ("x" * 300)).as_uri() + "/")
