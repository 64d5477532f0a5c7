"""A place to unpack into whose surroundings tell when they are touched, and what a tree must be afterwards."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp  # noqa: TID251 - the ban is for what the product writes
from typing import TYPE_CHECKING

from unpack.watch import picture, touching_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cudnn_redist.unpack import Member, Unpacked

__all__ = ["is_as_listed", "stage"]


@contextmanager
def stage() -> Iterator[Path]:
    """Give an empty directory, gone afterwards; fail if anything beside it was opened, changed or made."""
    around = _surroundings()
    before = picture(around / "sentinel")
    destination = around / "tree"
    try:
        with touching_only(destination):
            destination.mkdir()
            yield destination
        assert picture(around / "sentinel") == before
        assert {path.name for path in around.iterdir()} == {"sentinel", "tree"}
    finally:
        shutil.rmtree(destination)


@cache
def _surroundings() -> Path:
    """Make what every unsafe member could reach, once for a process."""
    around = Path(mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, around)
    sentinel = around / "sentinel"
    sentinel.mkdir()
    (sentinel / "file").write_text("untouched")
    (sentinel / "file").chmod(0o400)
    return around


def is_as_listed(unpacked: Unpacked) -> None:
    """Require that the tree on the disk is the one that its list of members describes."""
    assert sorted(_paths(unpacked.root)) == [member.path for member in unpacked.members]
    for member in unpacked.members:
        _is_as_told(unpacked.root / member.path, member)


def _paths(root: Path) -> Iterator[str]:
    for folder, directories, files in os.walk(root):
        for name in (*directories, *files):
            yield Path(folder, name).relative_to(root).as_posix()


def _is_as_told(path: Path, member: Member) -> None:
    found = path.lstat()
    if member.kind == "link":
        # pathlib would tidy up what the link says.
        assert os.readlink(path) == member.target  # noqa: PTH115
        assert path.resolve(strict=True)
    elif member.kind == "directory":
        assert stat.S_ISDIR(found.st_mode)
    else:
        assert stat.S_ISREG(found.st_mode)
        assert found.st_size == member.size
        assert bool(found.st_mode & stat.S_IXUSR) is member.executable
        assert hashlib.sha256(path.read_bytes()).hexdigest() == member.sha256
    assert not found.st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)
