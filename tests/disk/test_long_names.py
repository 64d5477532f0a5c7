"""Roots as long as the system allows, and a little longer: a prefix or a reason, never a half of one."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from installing import everything, leftovers, planned
from redist.command import run_command

from cudnn_redist import Prefix, install
from cudnn_redist.errors import PrefixError

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

    from cudnn_redist import Plan

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
PATH_MAX = 4096
"""Linux's, with the NUL at its end."""
COMPONENT = "n" * 200


@pytest.fixture
def long_root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A root whose path has so many bytes that ``request.param`` are left for what comes below it."""
    length = PATH_MAX - 1 - request.param
    root = tmp_path
    while length - len(os.fsencode(root)) > len(COMPONENT) + 2:
        root /= COMPONENT
    root /= "r" * (length - len(os.fsencode(root)) - 1)
    assert len(os.fsencode(root)) == length
    return root


def outcome(made: Plan) -> Prefix | PrefixError:
    """Return what an installation gives, the reason included."""
    try:
        return install(made)[0]
    except PrefixError as error:
        return error


@pytest.mark.parametrize("long_root", [20, 75, 90, 120, 150, 180, 210, 240, 270, 330], indirect=True)
@pytest.mark.parametrize("over", ["directory", "http"])
def test_a_root_near_the_longest_path(
    redist_server: RedistServer, redist_tree: RedistTree, long_root: Path, over: str
) -> None:
    """Between what is surely too long and what fits, the stage or the partial is too long where the prefix is not."""
    ground = next(parent for parent in long_root.parents if parent.exists())
    got = outcome(planned(redist_tree.path if over == "directory" else redist_server.url, long_root))
    spare = PATH_MAX - len(os.fsencode(long_root))
    assert isinstance(got, Prefix) or spare < 330
    assert isinstance(got, PrefixError) or spare > 92
    if isinstance(got, Prefix):
        assert got.verify() == ()
    else:
        assert got.cause == os.strerror(errno.ENAMETOOLONG)
        assert str(got.where).startswith(str(long_root))
        assert [path for path in everything(ground) if "libcudnn" in path] == []
    assert leftovers(ground) == []


@pytest.mark.parametrize("long_root", [75, 400], indirect=True)
def test_the_command_at_a_root_near_the_longest_path(redist_tree: RedistTree, long_root: Path) -> None:
    done = run_command("fetch", "9.27.0", *CHOICE, "--root", long_root, "--source", redist_tree.path)
    assert "Traceback" not in done.err
    if PATH_MAX - len(os.fsencode(long_root)) > 300:
        assert done.code == 0, done.err
        for words in (("verify", "9.27.0"), ("where", "9.27.0", *CHOICE), ("remove", "9.27.0")):
            assert run_command(*words, "--root", long_root).code == 0
    else:
        assert (done.code, done.out) == (7, "")
        assert done.err.splitlines()[-1].endswith(": File name too long")


LONGEST = "ä" + "n" * 253
"""NAME_MAX bytes."""


def test_names_of_the_longest_kind(redist_server: RedistServer, tmp_path: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--source", redist_server.url)
    root, link, store = (tmp_path / each / LONGEST for each in ("root", "link", "store"))
    done = run_command(*words, "--root", root, "--link", link, "--archives", store)
    assert done.code == 0, done.err
    assert Prefix.open(link).verify() == ()
    assert "could not be kept" not in done.err
    dest = tmp_path / "dest" / LONGEST
    assert run_command(*words, "--root", root, "--dest", dest, "--force").code == 0
    assert Prefix.open(dest).verify() == ()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("option", ["--root", "--dest", "--link"])
def test_a_longer_name_is_refused_before_anything_is_fetched(
    redist_server: RedistServer, tmp_path: Path, option: str
) -> None:
    place = tmp_path / (LONGEST + "n")
    root = () if option == "--root" else ("--root", tmp_path / "root")
    done = run_command("fetch", "9.27.0", *CHOICE, "--source", redist_server.url, option, place, *root)
    assert (done.code, done.out) == (7, ""), done.err
    reason = done.err.splitlines()[-1]
    assert str(place) in reason
    assert reason.endswith(": File name too long")
    assert redist_server.requests(".tar.xz") == []
    assert everything(tmp_path) == {}


def test_a_store_of_a_longer_name_keeps_nothing_and_stops_nothing(
    redist_server: RedistServer, tmp_path: Path
) -> None:
    words = ("--root", tmp_path / "root", "--archives", tmp_path / (LONGEST + "n"))
    done = run_command("fetch", "9.27.0", *CHOICE, "--source", redist_server.url, *words)
    assert done.code == 0
    assert "could not be kept" in done.err
