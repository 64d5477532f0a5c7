"""``--no-fallback``: nothing but the named sources is contacted, whatever they lack, or tell us to ask."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, reason
from redist import RedistServer
from redist.command import Completed, run_command
from redist.faults import Redirect, Status

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree

WORDS = {
    "fetch": ("fetch", "9.27.0", *CHOICE),
    "list": ("list",),
    "list-label": ("list", "9.27.0"),
    "url": ("url", "9.27.0", *CHOICE),
    "lock": ("lock", "9.27.0"),
    "mirror": ("mirror", "m", "9.27.0", *CHOICE),
    "bundle": ("bundle", "b", "9.27.0", *CHOICE),
}
# An audit hook hears of every connection and every name that is looked up, whoever asks for it.
_GUARD = """\
import os, sys

def guard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        where = arguments[1] if event == "socket.connect" else arguments[:2]
        with open(os.environ["CONTACTS"], "a") as file:
            print(*where[:2], file=file)
        if list(map(str, where[:2])) != ["127.0.0.1", os.environ["ALLOWED"]]:
            raise SystemExit(f"contacted {where}")

sys.addaudithook(guard)
"""


class Guarded:
    """Commands in processes that end when they contact anything but one port of this machine."""

    def __init__(self, folder: Path, server: RedistServer) -> None:
        self.folder = folder
        self.server = server
        (folder / "guard").mkdir()
        (folder / "guard" / "sitecustomize.py").write_text(_GUARD)
        self._contacts = folder / "contacts"
        self._contacts.touch()

    def run(self, *words: str | Path, **env: str) -> Completed:
        guard = {
            "PYTHONPATH": str(self.folder / "guard"),
            "CONTACTS": str(self._contacts),
            "ALLOWED": str(self.server.port),
            "CUDNN_REDIST_ROOT": str(self.folder / "root"),
        }
        return run_command(*words, "--retries", "0", env={**guard, **env}, cwd=self.folder)

    def contacts(self) -> set[str]:
        return set(self._contacts.read_text().splitlines())


@pytest.fixture
def guarded(tmp_path: Path, redist_server: RedistServer) -> Guarded:
    return Guarded(tmp_path, redist_server)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_without_it_nvidia_would_be_asked(words: tuple[str, ...], guarded: Guarded) -> None:
    """That the guard works, and what the switch is for."""
    assert guarded.run(*words).code == 1
    assert guarded.contacts() == {"developer.download.nvidia.com 443"}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("how", ["switch", "variable"])
def test_no_named_source_is_an_error_that_names_both(
    how: str, words: tuple[str, ...], guarded: Guarded
) -> None:
    done = (
        guarded.run(*words, "--no-fallback")
        if how == "switch"
        else guarded.run(*words, CUDNN_REDIST_NO_FALLBACK="1")
    )

    assert (done.code, guarded.contacts()) == (2, set())
    for name in ("--no-fallback", "CUDNN_REDIST_NO_FALLBACK", "--source", "CUDNN_REDIST_SOURCE"):
        assert name in reason(done)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("state", ["well", "empty", "failing"])
def test_only_the_named_source_is_contacted(state: str, words: tuple[str, ...], guarded: Guarded) -> None:
    server = guarded.server
    if state != "well":
        server.always("", Status(404 if state == "empty" else 500))
    done = guarded.run(*words, "--no-fallback", "--source", server.url)

    assert done.code == {"well": 0, "empty": 3, "failing": 4}[state], done.err
    assert guarded.contacts() == {f"127.0.0.1 {server.port}"}
    assert server.log


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_a_redirect_to_another_host_is_refused(
    words: tuple[str, ...], guarded: Guarded, redist_tree: RedistTree
) -> None:
    with RedistServer(redist_tree.path) as other:
        guarded.server.always("", Redirect(f"http://localhost:{other.port}/cudnn/redist/"))
        done = guarded.run(*words, "--no-fallback", "--source", guarded.server.url, "--json")

        assert other.log == []
    error = json.loads(done.out)["error"]
    assert (done.code, error["type"]) == (4, "TransferError")
    assert f"redirect to http://localhost:{other.port}/cudnn/redist/ refused: --no-fallback" in error["cause"]
    assert guarded.contacts() == {f"127.0.0.1 {guarded.server.port}"}


def test_a_redirect_on_the_same_host_is_followed(guarded: Guarded, redist_tree: RedistTree) -> None:
    path = redist_tree.archive_path("9.27.0").relative_to(redist_tree.path).as_posix()
    guarded.server.fail(".tar.xz", Redirect(f"/{path}"))
    done = guarded.run(*WORDS["fetch"], "--no-fallback", "--source", guarded.server.url)

    assert done.code == 0, done.err


def test_what_is_installed_needs_no_source(guarded: Guarded) -> None:
    assert guarded.run(*WORDS["fetch"], "--source", guarded.server.url).code == 0
    again = guarded.run(*WORDS["fetch"], CUDNN_REDIST_NO_FALLBACK="1")
    assert (again.code, guarded.run("list", "--installed", "--no-fallback").out) == (0, again.out)


def test_a_lock_does_not_lead_elsewhere(guarded: Guarded, redist_tree: RedistTree) -> None:
    """It names where it was made: without the switch that is asked."""
    with RedistServer(redist_tree.path) as maker:
        assert run_command("lock", "9.27.0", "--source", maker.url, cwd=guarded.folder).code == 0
        before = len(maker.log)
        locked = ("fetch", "--lock", "cudnn-redist.lock", *CHOICE)
        assert guarded.run(*locked, "--no-fallback").code == 2
        assert guarded.run(*locked, "--no-fallback", "--source", guarded.server.url).code == 0

        assert len(maker.log) == before
    assert guarded.contacts() == {f"127.0.0.1 {guarded.server.port}"}
