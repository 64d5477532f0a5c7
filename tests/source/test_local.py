"""What lies on this machine is read alike from a directory and from a bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cudnn_redist.errors import ArchiveError, ArchiveWithdrawn, LabelNotFound, ManifestError, UsageError
from cudnn_redist.mirroring.packing import content_of, write_bundle
from cudnn_redist.source.base import MANIFEST_LIMIT, NoIndex
from cudnn_redist.source.local import LocalSource, is_there, require_source

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "cudnn/redist/redistrib_9.26.0.json": b"older",
    "cudnn/redist/redistrib_9.27.0.json": b"newer",
    "cudnn/redist/redistrib_9.28.0.json": b" " * (MANIFEST_LIMIT + 1),
    "cudnn/redist/cudnn/archive.tar.xz": b"archive",
    "letter": b"dear all",
}


@pytest.fixture(params=["directory", "bundle"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a source, without a slash at its end."""
    tree = tmp_path / "source"
    if request.param == "bundle":
        with tree.open("wb") as out:
            write_bundle(out, {place: content_of(data) for place, data in FILES.items()})
    else:
        for place, data in FILES.items():
            (tree / place).parent.mkdir(parents=True, exist_ok=True)
            (tree / place).write_bytes(data)
    return tree.as_uri()


def test_labels_manifests_and_archives_are_read(url: str) -> None:
    local = LocalSource()

    assert [label.text for label in local.read_labels(f"{url}/cudnn/redist/")] == [
        "9.26.0",
        "9.27.0",
        "9.28.0",
    ]
    assert local.read_manifest(f"{url}/cudnn/redist/redistrib_9.27.0.json") == b"newer"
    with local.open_archive(f"{url}/cudnn/redist/cudnn/archive.tar.xz") as file:
        assert file.read() == b"archive"


def test_what_is_missing_is_told(url: str) -> None:
    local = LocalSource()

    with pytest.raises(NoIndex):
        local.read_labels(f"{url}/nccl/redist/")
    with pytest.raises(LabelNotFound):
        local.read_manifest(f"{url}/cudnn/redist/redistrib_9.99.0.json")
    with pytest.raises(ManifestError, match="more than"):
        local.read_manifest(f"{url}/cudnn/redist/redistrib_9.28.0.json")
    for place in ("cudnn/redist/other.tar.xz", "letter/archive.tar.xz"):
        with pytest.raises(ArchiveWithdrawn):
            local.open_archive(f"{url}/{place}")


def test_whether_a_file_is_there_costs_no_error(url: str) -> None:
    assert require_source(url)
    assert is_there(f"{url}/cudnn/redist/redistrib_9.27.0.json")
    assert not is_there(f"{url}/cudnn/redist/redistrib_9.99.0.json")
    assert not is_there(f"{url}/letter/redistrib_9.27.0.json")
    assert not require_source(f"{url}.other")


def test_a_file_that_is_no_bundle_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear all")
    with (tmp_path / "cut").open("wb") as out:
        write_bundle(out, {"letter": content_of(b"dear all")})
        out.truncate(700)

    with pytest.raises(UsageError, match="no bundle of ours"):
        require_source((tmp_path / "letter").as_uri())
    with pytest.raises(ArchiveError, match="cut short"):
        require_source((tmp_path / "cut").as_uri())
