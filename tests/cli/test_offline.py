"""``--offline`` opens no socket: every command runs in a process in which making one is an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist.command import run_command

from cudnn_redist import InstallOptions, TransferOptions, fetch, plan
from cudnn_redist.errors import OfflineError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist import RedistServer, RedistTree
    from redist.command import Completed

NO_SOCKETS = """
import socket

class NoSocket(socket.socket):
    def __init__(self, *words, **named):
        raise AssertionError("a socket was made")

socket.socket = NoSocket
"""


class Ground(NamedTuple):
    """An environment without sockets, and what is at hand in it."""

    env: Mapping[str, str]
    folder: Path

    def run(self, *words: str | Path) -> Completed:
        done = run_command(*words, env=self.env, cwd=self.folder)
        assert "a socket was made" not in done.err
        return done


@pytest.fixture
def ground(redist_tree: RedistTree, tmp_path: Path) -> Ground:
    """A directory source, a bundle and a lock of it, and an empty root."""
    (tmp_path / "python").mkdir()
    (tmp_path / "python/sitecustomize.py").write_text(NO_SOCKETS)
    env = {"PYTHONPATH": str(tmp_path / "python"), "CUDNN_REDIST_ROOT": str(tmp_path / "root")}
    for words in (
        ("bundle", "a.bundle", "9.27.0", *CHOICE),
        ("lock", "9.27.0", "-o", "a.lock", *CHOICE),
        ("mirror", "mirror", "9.27.0", *CHOICE),
    ):
        done = run_command(*words, "--source", redist_tree.path, env=env, cwd=tmp_path)
        assert done.code == 0, done.err
    return Ground(env, tmp_path)


def test_no_socket_can_be_made_there(ground: Ground, redist_server: RedistServer) -> None:
    done = run_command("list", "--source", redist_server.url, "--retries", "0", env=ground.env)

    assert done.code != 0
    assert "a socket was made" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("fetch", "9.27.0", *CHOICE, "--source", "mirror"),
        ("fetch", "9.27.0", *CHOICE, "--source", "a.bundle"),
        ("fetch", "9.27", *CHOICE, "--source", "a.bundle"),
        ("fetch", "--lock", "a.bundle", *CHOICE),
        ("fetch", "--lock", "a.lock", *CHOICE, "--source", "mirror"),
        ("fetch", "9.27.0", *CHOICE, "--source", "mirror", "--dry-run"),
        ("list", "--source", "a.bundle"),
        ("list", "9.27.0", "--source", "mirror"),
        ("url", "9.27.0", *CHOICE, "--source", "a.bundle"),
        ("lock", "9.27.0", "--source", "a.bundle"),
        ("lock", "--check", "a.lock", "--source", "a.bundle"),
        ("lock", "--outdated", "a.lock", "--json", "--source", "a.bundle"),
        ("lock", "--upgrade", "--output", "a.lock", "--source", "mirror"),
        ("mirror", "second", "9.27.0", *CHOICE, "--source", "a.bundle"),
        ("bundle", "second.bundle", "9.27.0", *CHOICE, "--source", "mirror"),
    ],
    ids=" ".join,
)
def test_what_is_on_this_machine_is_enough(words: tuple[str, ...], ground: Ground) -> None:
    done = ground.run(*words, "--offline")

    assert (done.code, bool(done.out)) == (0, True), done.err


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("fetch", "9.27.0", *CHOICE), "redistrib_9.27.0.json"),
        (("fetch", "latest", *CHOICE), ""),
        (("fetch", "--lock", "web.lock", *CHOICE), "cudnn/linux-x86_64/"),
        (("list",), ""),
        (("list", "--channels"), "bin-archive/release/channels.json"),
        (("list", "9.27.0"), "redistrib_9.27.0.json"),
        (("url", "9.27.0", *CHOICE), "redistrib_9.27.0.json"),
        (("lock", "9.27.0"), "redistrib_9.27.0.json"),
        (("lock", "--check", "web.lock"), "redistrib_9.27.0.json"),
        (("mirror", "second", "9.27.0"), "redistrib_9.27.0.json"),
        (("bundle", "second.bundle", "9.27.0"), "redistrib_9.27.0.json"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_what_would_have_been_asked_is_told(
    words: tuple[str, ...], asked: str, ground: Ground, redist_server: RedistServer
) -> None:
    source = f"{redist_server.url}cudnn/redist/"
    made = run_command("lock", "9.27.0", "-o", ground.folder / "web.lock", "--source", source)
    assert made.code == 0, made.err
    before = len(redist_server.log)

    done = ground.run(*words, "--source", source, "--offline")

    assert (done.code, done.out) == (4, ""), done.err
    told = reason(done)
    assert f": {source}{asked}" in told
    assert "offline; otherwise this would be asked for; leave --offline out" in told
    assert not (ground.folder / "root").exists() or not list((ground.folder / "root").rglob("cuda13"))
    assert len(redist_server.log) == before


def test_without_a_source_nvidia_is_not_asked(ground: Ground) -> None:
    done = ground.run("fetch", "9.27.0", *CHOICE, "--offline", "--json")

    error = json.loads(done.out)["error"]
    assert (done.code, error["type"], error["exit_code"]) == (4, "OfflineError", 4)
    assert error["where"].endswith("/compute/cudnn/redist/redistrib_9.27.0.json")


def test_a_variable_says_the_same(ground: Ground) -> None:
    env = {**ground.env, "CUDNN_REDIST_OFFLINE": "1"}

    done = run_command("fetch", "9.27.0", *CHOICE, env=env)

    assert done.code == 4
    assert "offline" in reason(done)


def test_what_is_installed_answers(ground: Ground, redist_server: RedistServer) -> None:
    """The prefix for itself, and the manifest that is kept of it for other questions."""
    env = {"CUDNN_REDIST_ROOT": ground.env["CUDNN_REDIST_ROOT"]}
    assert run_command("fetch", "9.27.0", *CHOICE, "--source", redist_server.url, env=env).code == 0

    for words in (
        ("fetch", "9.27.0", *CHOICE),
        ("list", "9.27.0"),
        ("url", "9.27.0", "--platform", "linux-sbsa"),
        ("lock", "9.27.0"),
    ):
        for source in (redist_server.url, "http://127.0.0.1:9/"):
            done = ground.run(*words, "--source", source, "--offline")
            assert (done.code, bool(done.out)) == (0, True), done.err
    done = ground.run("fetch", "9.27.0", "--platform", "linux-sbsa", "--cuda", "13", "--offline")
    assert done.code == 4
    assert "archive.tar.xz: offline" in reason(done)
    assert (ground.folder / "root" / PREFIX).is_dir()


@pytest.mark.parametrize("source", ["where it came from", "elsewhere"])
def test_a_partial_label_means_the_newest_installed(
    ground: Ground, redist_server: RedistServer, redist_tree: RedistTree, source: str
) -> None:
    redist_tree.add_release("9.27.1")
    named = ("--source", redist_server.url if source == "where it came from" else "http://127.0.0.1:9/")
    env = {"CUDNN_REDIST_ROOT": ground.env["CUDNN_REDIST_ROOT"]}
    for label in ("9.26.0", "9.27.0"):
        assert run_command("fetch", label, *CHOICE, "--source", redist_server.url, env=env).code == 0

    for label in ("latest", "9", "9.27"):
        done = ground.run("fetch", label, *CHOICE, *named, "--offline")
        assert (done.code, done.out) == (0, f"{ground.folder / 'root' / PREFIX}\n"), done.err
        assert f"label {label}: the newest installed is 9.27.0" in done.err
    older = ground.run("fetch", "9.26", *CHOICE, *named, "--offline")
    assert older.out == f"{ground.folder / 'root' / PREFIX.replace('9.27.0', '9.26.0')}\n"
    assert ground.run("lock", "9.27", *named, "--offline").code == 0
    assert ground.run("fetch", "9.25", *CHOICE, *named, "--offline").code == 4
    assert ground.run("fetch", "latest", *CHOICE, *named, "--offline", "--refresh").code == 4
    assert ground.run("fetch", "latest", *CHOICE, *named, "--offline", "--channel", "stable").code == 4


def test_a_partial_label_without_a_line_is_a_failure(ground: Ground, redist_server: RedistServer) -> None:
    env = {"CUDNN_REDIST_ROOT": ground.env["CUDNN_REDIST_ROOT"]}
    assert run_command("fetch", "9.27.0", *CHOICE, "--source", redist_server.url, env=env).code == 0
    redist_server.close()

    done = run_command("fetch", "9.27", *CHOICE, "--source", redist_server.url, "--retries", "0", env=env)

    assert done.code == 4, done.err


def test_the_library_says_the_same(redist_server: RedistServer, tmp_path: Path) -> None:
    choice = {"platform": "linux-x86_64", "cuda": "13", "sources": [redist_server.url], "root": tmp_path}

    with pytest.raises(OfflineError, match="offline"):
        plan("9.27.0", offline=True, **choice)
    with pytest.raises(OfflineError, match="offline"):
        fetch("9.27.0", offline=True, **choice)
    with pytest.raises(OfflineError, match="offline"):
        fetch("9.27.0", options=InstallOptions(transfer=TransferOptions(offline=True)), **choice)

    assert redist_server.log == []
    prefix = fetch("9.27.0", **choice)
    assert fetch("9.27.0", offline=True, **choice) == prefix
