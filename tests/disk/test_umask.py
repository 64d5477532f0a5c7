"""Permissions are the umask's: of a prefix, and of all that the root keeps beside it."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from disk.users import run_as
from redist.faults import Cut

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
UMASKS = pytest.mark.parametrize("umask", [0o022, 0o027, 0o077], ids="{:03o}".format)


def modes(place: Path) -> dict[str, int]:
    """Return the permissions of everything at and below ``place`` but links."""
    paths = (path for path in (place, *place.rglob("*")) if not path.is_symlink())
    return {str(path.relative_to(place)): stat.S_IMODE(path.stat().st_mode) for path in paths}


@UMASKS
def test_everything_follows_the_umask(tmp_path: Path, redist_server: RedistServer, umask: int) -> None:
    """Of a tar and of a zip, at the root and in a directory of the user's own."""
    root, dest = tmp_path / "root", tmp_path / "deep/dest"
    words = ("fetch", "9.27.0", *CHOICE, "--source", redist_server.url)
    for more in (("--platform", "windows-x86_64", "--archives", tmp_path / "store"), ("--dest", dest)):
        done = run_as(0, *words, "--root", root, *more, umask=umask)
        assert done.code == 0, done.err
    for place in (root, dest.parent, tmp_path / "store"):
        found = modes(place)
        assert len(found) > 3
        for path, mode in found.items():
            directory = (place / path).is_dir()
            tool = not directory and path.endswith((".so.9.27.0", ".dll"))
            assert oct(mode) == oct((0o777 if directory or tool else 0o666) & ~umask), path


@UMASKS
def test_a_partial_is_for_nobody_else(tmp_path: Path, redist_server: RedistServer, umask: int) -> None:
    redist_server.always(".tar.xz", Cut(20_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", tmp_path / "root", "--source", redist_server.url)
    assert run_as(0, *words, "--retries", "0", umask=umask).code == 4
    found = modes(tmp_path / "root/.partial")
    assert found.pop(".") == 0o777 & ~umask
    assert len(found) == 2
    assert set(found.values()) == {0o600}
