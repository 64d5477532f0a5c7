from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from cudnn_redist.unpack.files import NewFile, repeat_file

OTHER_FILE_SYSTEM = Path("/dev/shm")


def written(path: Path, data: bytes = b"content") -> NewFile:
    file = NewFile(path, executable=True, mtime=1_790_000_000)
    with file:
        file.write(data)
    return file


def test_a_file_knows_what_was_written(tmp_path: Path) -> None:
    file = written(tmp_path / "f")
    assert (file.size, file.sha256) == (7, hashlib.sha256(b"content").hexdigest())
    assert (tmp_path / "f").read_bytes() == b"content"


@pytest.mark.parametrize("there", ["file", "link", "dangling link", "directory"])
def test_nothing_that_exists_is_written_to(there: str, tmp_path: Path) -> None:
    place, victim = tmp_path / "f", tmp_path / "victim"
    victim.write_text("untouched")
    if there == "directory":
        place.mkdir()
    elif there == "file":
        os.link(victim, place)
    else:
        place.symlink_to(victim if there == "link" else tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        written(place)
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "nowhere").exists()


def test_what_failed_has_no_digest(tmp_path: Path) -> None:
    file = NewFile(tmp_path / "f", executable=False, mtime=0)
    with pytest.raises(TypeError), file:
        file.write("half")  # type: ignore[arg-type]
    assert file.sha256 is None


def test_a_second_name_is_a_hard_link_where_there_can_be_one(tmp_path: Path) -> None:
    repeat_file(written(tmp_path / "f"), tmp_path / "g")
    assert (tmp_path / "g").samefile(tmp_path / "f")


def test_a_second_name_is_a_copy_where_there_can_be_no_link(tmp_path: Path) -> None:
    if not OTHER_FILE_SYSTEM.is_dir() or OTHER_FILE_SYSTEM.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    original = OTHER_FILE_SYSTEM / f"cudnn-redist-test-{os.getpid()}"
    try:
        repeat_file(written(original, b"x" * 3_000_000), tmp_path / "g")
    finally:
        original.unlink()
    copy = (tmp_path / "g").stat()
    assert (copy.st_size, copy.st_mtime, copy.st_nlink) == (3_000_000, 1_790_000_000, 1)
    assert copy.st_mode & 0o100


def test_a_second_name_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("mine")
    with pytest.raises(FileExistsError):
        repeat_file(written(tmp_path / "f"), tmp_path / "g")
    assert (tmp_path / "g").read_text() == "mine"
