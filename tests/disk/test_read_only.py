"""A root that became read-only: what is there serves, the rest is exit 7 before any archive is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from installing import everything, planned
from redist.command import run_command

from cudnn_redist import install

if TYPE_CHECKING:
    from pathlib import Path

    from disk.mounting import Mounts
    from redist import RedistServer

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
PREFIX = "cudnn/9.26.0/cudnn/linux-x86_64/cuda13"
ELSEWHERE = "give a place that may be written to, by --root or --dest"


@pytest.fixture
def frozen(mounts: Mounts, tmp_path: Path, redist_server: RedistServer) -> Path:
    """A root with 9.26.0 in it, read-only since."""
    root = mounts.tmpfs(tmp_path / "root", "8m")
    install(planned(redist_server.url, root, "9.26.0"))
    mounts.read_only(root)
    return root


@pytest.mark.parametrize(
    "words",
    [
        ("fetch", "9.27.0", *CHOICE),
        ("fetch", "9.26.0", "--platform", "linux-x86_64", "--cuda", "12"),
        ("fetch", "9.26.0", *CHOICE, "--force"),
    ],
    ids=["another release", "another variant", "the same again"],
)
def test_nothing_is_fetched(frozen: Path, redist_server: RedistServer, words: tuple[str, ...]) -> None:
    before, asked = everything(frozen), len(redist_server.requests(".tar.xz"))
    done = run_command(*words, "--root", frozen, "--source", redist_server.url)
    assert (done.code, done.out) == (7, "")
    reason = done.err.splitlines()[-1]
    assert str(frozen) in reason
    assert reason.endswith(f": Read-only file system; {ELSEWHERE}")
    assert len(redist_server.requests(".tar.xz")) == asked
    assert everything(frozen) == before


def test_nothing_is_removed(frozen: Path) -> None:
    before = everything(frozen)
    done = run_command("remove", "9.26.0", "--root", frozen)
    assert (done.code, done.out) == (7, "")
    assert done.err.splitlines()[-1].endswith(": Read-only file system")
    assert everything(frozen) == before


@pytest.mark.parametrize(
    "words",
    [("fetch", *CHOICE), ("fetch", *CHOICE, "--refresh"), ("where", *CHOICE), ("verify",)],
    ids=" ".join,
)
def test_what_is_there_serves(frozen: Path, redist_server: RedistServer, words: tuple[str, ...]) -> None:
    command, *more = words
    source = ("--source", redist_server.url) if command == "fetch" else ()
    asked = len(redist_server.requests(".tar.xz"))
    done = run_command(command, "9.26.0", *more, "--root", frozen, *source)
    assert done.code == 0, done.err
    assert str(frozen / PREFIX) in done.out
    assert len(redist_server.requests(".tar.xz")) == asked


def test_a_link_elsewhere_is_still_made(frozen: Path, tmp_path: Path) -> None:
    link = tmp_path / "current"
    done = run_command("fetch", "9.26.0", *CHOICE, "--root", frozen, "--link", link)
    assert (done.code, link.readlink()) == (0, frozen / PREFIX)
    words = ("fetch", "9.26.0", *CHOICE, "--root", frozen, "--link", frozen / "current")
    refused = run_command(*words)
    assert refused.code == 7
    assert refused.err.splitlines()[-1] == f"cudnn-redist: link: {frozen / 'current'}: Read-only file system"


def test_a_read_only_store_is_looked_into_and_not_needed(
    mounts: Mounts, tmp_path: Path, redist_server: RedistServer
) -> None:
    store = mounts.tmpfs(tmp_path / "store", "8m")
    words = (*CHOICE, "--source", redist_server.url, "--archives", store)
    run_command("fetch", "9.26.0", *words, "--root", tmp_path / "one")
    mounts.read_only(store)
    asked = len(redist_server.requests(".tar.xz"))
    assert run_command("fetch", "9.26.0", *words, "--root", tmp_path / "two").code == 0
    assert len(redist_server.requests(".tar.xz")) == asked
    before = everything(store)
    done = run_command("fetch", "9.27.0", *words, "--root", tmp_path / "two")
    assert done.code == 0
    assert "could not be kept" in done.err
    assert everything(store) == before
