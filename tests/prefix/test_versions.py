from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from prefix.made import entries, fill, record
from redist.content import version_header

from cudnn_redist.prefix.versions import other_versions

if TYPE_CHECKING:
    from pathlib import Path

VERSION_HEADER = "include/cudnn_version.h"
OTHER = version_header("9.26.0")


def others(root: Path, files: dict[str, bytes], version: str = "9.27.0.42") -> list[tuple[str, str]]:
    fill(root, files, {})
    return list(other_versions(root, record(version=version, entries=entries(files, {}))))


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({VERSION_HEADER: version_header("9.27.0")}, [], id="the same"),
        pytest.param({VERSION_HEADER: OTHER}, [(VERSION_HEADER, "9.26.0")], id="another"),
        pytest.param({"include/cudnn.h": OTHER}, [("include/cudnn.h", "9.26.0")], id="old header"),
        pytest.param(
            {VERSION_HEADER: version_header("9.27.0"), "include/cudnn.h": OTHER},
            [],
            id="the newer place first",
        ),
        pytest.param(
            {VERSION_HEADER: b"", "include/cudnn.h": OTHER}, [("include/cudnn.h", "9.26.0")], id="empty"
        ),
        pytest.param(
            {"lib/libcudnn.so.9.27.0": b"", "lib/libcudnn_ops.so.9.26.0": b""},
            [("lib/libcudnn_ops.so.9.26.0", "9.26.0")],
            id="library",
        ),
        pytest.param({"lib/libcudnn_ops.so.9": b"", "lib/libz.so.1.2.3": b""}, [], id="libraries without"),
    ],
)
def test_headers_and_libraries_are_compared(
    files: dict[str, bytes], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert others(tmp_path / "p", files) == found


@pytest.mark.parametrize("version", ["9.26", "r1"])
def test_a_version_of_other_form_is_compared_with_nothing(version: str, tmp_path: Path) -> None:
    assert others(tmp_path / "p", {VERSION_HEADER: OTHER}, version) == []


@pytest.mark.parametrize("there", ["nothing", "directory", "pipe", "link to a pipe"])
def test_what_is_no_file_any_more_says_nothing(there: str, tmp_path: Path) -> None:
    header = tmp_path / VERSION_HEADER
    header.parent.mkdir()
    match there:
        case "directory":
            header.mkdir()
        case "pipe":
            os.mkfifo(header)
        case "link to a pipe":
            os.mkfifo(tmp_path / "pipe")
            header.symlink_to(tmp_path / "pipe")
    recorded = record(entries=entries({VERSION_HEADER: OTHER}, {}))
    assert list(other_versions(tmp_path, recorded)) == []
