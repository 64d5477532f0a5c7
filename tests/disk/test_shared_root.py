"""A root that two users share: what the permissions allow works, the rest is exit 7, and nobody's prefix suffers."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from disk.users import ANNE, BERT, GROUP, run_as
from installing import everything, leftovers
from redist.faults import Cut

from cudnn_redist import Prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redist import RedistServer
    from redist.command import Completed

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
OTHER = ("--platform", "linux-x86_64", "--cuda", "12")
PREFIX = "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
SHARING = 0o002
ELSEWHERE = "give a place that may be written to, by --root or --dest"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory for the group, whose files stay the group's; pytest's own lies where only its user may look."""
    root = Path("/tmp") / f"shared-{secrets.token_hex(6)}"
    root.mkdir()
    if os.geteuid() == 0:
        os.chown(root, 0, GROUP)
    root.chmod(0o2775)
    yield root
    shutil.rmtree(root)


class Users:
    """Anne and Bert at one root and one source."""

    def __init__(self, root: Path, source: str) -> None:
        self.root = root
        self.source = source

    def fetch(self, user: int, *words: str, umask: int = SHARING) -> Completed:
        where = ("--root", self.root, "--source", self.source)
        return run_as(user, "fetch", *words, *where, umask=umask)


@pytest.fixture
def users(shared: Path, redist_server: RedistServer) -> Users:
    users = Users(shared, redist_server.url)
    done = users.fetch(ANNE, "9.27.0", *CHOICE)
    assert done.code == 0, done.err
    return users


def owner(path: Path) -> int:
    return path.stat().st_uid


def sticky(root: Path) -> None:
    """Let nobody rename or remove what another user owns, anywhere under the root."""
    for path in (root, *root.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o1000)


def test_what_one_installed_serves_the_other(users: Users, redist_server: RedistServer) -> None:
    asked = len(redist_server.log)
    done = users.fetch(BERT, "9.27.0", *CHOICE)
    assert (done.code, done.out) == (0, f"{users.root / PREFIX}\n")
    assert len(redist_server.log) == asked
    assert run_as(BERT, "verify", "9.27.0", "--root", users.root).code == 0


@pytest.mark.parametrize("kind", ["group", "sticky"])
def test_both_install_side_by_side(users: Users, kind: str) -> None:
    if kind == "sticky":
        sticky(users.root)
    for label, choice in (("9.27.0", OTHER), ("9.26.0", CHOICE)):
        done = users.fetch(BERT, label, *choice)
        assert done.code == 0, done.err
    assert owner(users.root / PREFIX) == ANNE
    assert owner(users.root / PREFIX.replace("13", "12")) == BERT
    assert len((users.root / ".log.jsonl").read_text().splitlines()) == 3
    assert leftovers(users.root) == []


def test_one_replaces_and_removes_what_the_other_installed(users: Users) -> None:
    done = users.fetch(BERT, "9.27.0", *CHOICE, "--force")
    assert done.code == 0, done.err
    assert owner(users.root / PREFIX) == BERT
    assert Prefix.open(users.root / PREFIX).verify() == ()
    assert run_as(ANNE, "remove", "9.27.0", "--root", users.root, umask=SHARING).code == 0
    assert not (users.root / "cudnn").exists()


def test_where_the_sticky_bit_forbids_it_the_others_prefix_stays(users: Users) -> None:
    sticky(users.root)
    before = everything(users.root / "cudnn")
    for done in (
        users.fetch(BERT, "9.27.0", *CHOICE, "--force"),
        run_as(BERT, "remove", "9.27.0", "--root", users.root, umask=SHARING),
    ):
        assert (done.code, done.out) == (7, "")
        reason = done.err.splitlines()[-1]
        assert str(users.root / PREFIX) in reason
        assert ": Operation not permitted" in reason
    assert everything(users.root / "cudnn") == before
    assert leftovers(users.root) == []


def test_a_partial_of_the_other_is_neither_used_nor_in_the_way(
    users: Users, redist_server: RedistServer
) -> None:
    redist_server.fail(".tar.xz", Cut(20_000))
    assert users.fetch(ANNE, "9.26.0", *CHOICE, "--retries", "0").code == 4
    done = users.fetch(BERT, "9.26.0", *CHOICE)
    assert done.code == 0, done.err
    assert {request.range for request in redist_server.requests(".tar.xz")} == {None}
    (left,) = (users.root / ".partial").glob("*.part")
    assert owner(left) == ANNE
    assert users.fetch(ANNE, "9.26.0", *CHOICE, "--force").code == 0
    assert [request.range for request in redist_server.requests(".tar.xz")][-1] == "bytes=20000-"
    assert leftovers(users.root) == []


def test_directories_that_one_kept_to_himself_are_named_to_the_other(
    shared: Path, redist_server: RedistServer
) -> None:
    users = Users(shared, redist_server.url)
    assert users.fetch(ANNE, "9.27.0", *CHOICE, umask=0o022).code == 0
    before, asked = everything(shared), len(redist_server.requests(".tar.xz"))
    done = users.fetch(BERT, "9.26.0", *CHOICE)
    assert (done.code, done.out) == (7, "")
    reason = done.err.splitlines()[-1]
    assert str(shared / "cudnn/9.26.0") in reason
    assert reason.endswith(f": Permission denied; {ELSEWHERE}")
    assert len(redist_server.requests(".tar.xz")) == asked
    assert everything(shared) == before


@pytest.mark.parametrize("closed", [".log.jsonl", ".manifests/cudnn"])
def test_what_the_root_cannot_remember_is_no_failure(users: Users, closed: str) -> None:
    """The prefix stands, so the command says so; that something is not kept is a line on stderr."""
    for path in (users.root / closed, *(users.root / closed).rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = users.fetch(BERT, "9.26.0", *CHOICE)
    prefix = users.root / PREFIX.replace("9.27.0", "9.26.0")
    assert (done.code, done.out) == (0, f"{prefix}\n"), done.err
    assert f"{users.root / closed}" in done.err
    assert "could not be kept: Permission denied" in done.err
    assert Prefix.open(prefix).verify() == ()
