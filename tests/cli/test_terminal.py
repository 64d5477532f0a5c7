"""What strangers send is told in one line that cannot steer a terminal, and ``--debug`` tells every request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist.command import Completed, run_command
from redist.faults import Cut, Headers, Page, Raw, Redirect, Status, Together

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree
    from redist.faults import Fault

ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e\x9b"
ARCHIVE = "_cuda13-archive.tar.xz"


def fetched(server: RedistServer, root: Path, *words: str) -> Completed:
    source = f"http://me:hunter2@127.0.0.1:{server.port}/cudnn/redist/?token=t0ken"
    return run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", source, *words)


def steers(text: str) -> bool:
    return any(not each.isprintable() for each in text.replace("\n", ""))


@pytest.mark.parametrize("words", [(), ("--debug",), ("--json",)], ids=["plain", "debug", "json"])
@pytest.mark.parametrize(
    "fault",
    [
        Raw(f"HTTP/1.1 403 Go {ESCAPE} away\r\nContent-Length: 0\r\n\r\n".encode("latin-1", "replace")),
        Together(Status(200, {"Content-Type": "text/\x1b[31mred"}, b"x")),
        Redirect("http://h/\x1b[2J"),
        Redirect("ftp://h/\x1b[2J"),
    ],
    ids=["reason", "header", "redirect", "refused-redirect"],
)
def test_no_word_of_a_server_steers_the_terminal(
    fault: Fault, words: tuple[str, ...], redist_server: RedistServer, root: Path
) -> None:
    redist_server.always(ARCHIVE, fault)

    done = fetched(redist_server, root, "--retries", "0", *words)

    assert done.code in (4, 5)
    assert not steers(done.err)
    assert not steers(done.out)
    assert done.err.splitlines()[-1].startswith("cudnn-redist: ")


@pytest.mark.parametrize("words", [(), ("--debug",)], ids=["plain", "debug"])
def test_no_word_of_a_manifest_steers_the_terminal(
    words: tuple[str, ...], redist_tree: RedistTree, root: Path
) -> None:
    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest["cudnn"].update(version=ESCAPE))

    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path, *words)

    assert done.code in (0, 6)
    assert not steers(done.err)


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
def test_a_result_steers_no_terminal_and_reaches_a_program_as_it_is(
    redist_tree: RedistTree, tmp_path: Path
) -> None:
    root = tmp_path / "a\x1b[2Jb"
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    piped = run_command(*words)
    ours, theirs = os.openpty()
    shown = subprocess.run(
        [sys.executable, "-m", "cudnn_redist", *words], stdout=theirs, stderr=subprocess.DEVNULL, check=True
    )
    os.close(theirs)

    assert piped.out == f"{root / PREFIX}\n"
    assert shown.returncode == 0
    assert os.read(ours, 4096).decode().rstrip() == f"{tmp_path}/a\\x1b[2Jb/{PREFIX}"
    os.close(ours)


@pytest.mark.skipif(os.name == "nt", reason="locales of POSIX")
def test_where_the_terminal_is_ascii_the_reason_is(redist_server: RedistServer, root: Path) -> None:
    redist_server.always(".json", Page("<html>Bitte anmelden: caf\u00e9\u2122</html>"))
    ascii_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)

    told = reason(run_command(*words, env=ascii_locale))

    assert told.isascii()
    assert "Bitte anmelden: caf\\xe9\\u2122" in told


def test_debug_tells_every_request_in_order(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    url = f"{redist_server.url}cudnn/redist/"
    archive = redist_tree.archive_path("9.27.0").relative_to(redist_tree.redist).as_posix()
    redist_server.fail("9.27.0.json", Status(503), Redirect("/cudnn/redist/again.json?signature=s1gned"))
    redist_server.always("again.json", Redirect("redistrib_9.27.0.json"))
    redist_server.fail(ARCHIVE, Cut(30_000))

    done = fetched(redist_server, root, "--debug")

    told = [line for line in done.err.splitlines() if line.startswith("GET ")]
    assert done.code == 0, done.err
    assert [line.partition(":")[2].partition(":")[2].rpartition(": ")[2] for line in told] == [
        *("HTTP 503", "HTTP 302", "HTTP 302", "HTTP 200"),
        *("HTTP 200", "HTTP 206"),
    ]
    assert [line.split()[1] for line in told] == [
        *(f"{url}redistrib_9.27.0.json", f"{url}redistrib_9.27.0.json"),
        *(f"{url}again.json", f"{url}redistrib_9.27.0.json"),
        *(f"{url}{archive}", f"{url}{archive}"),
    ]
    assert "'Range': 'bytes=30000-'" in told[-1]
    assert not any(secret in done.err for secret in ("hunter2", "t0ken", "s1gned"))


def test_without_debug_no_request_is_told(redist_server: RedistServer, root: Path) -> None:
    assert "GET " not in fetched(redist_server, root).err


def test_what_has_arrived_is_told_to_be_kept(redist_server: RedistServer, root: Path) -> None:
    redist_server.fail(ARCHIVE, Cut(30_000))
    done = fetched(redist_server, root, "--retries", "0", "--json")
    assert reason(done).endswith("what has arrived is kept, and the same command goes on from there")
    assert json.loads(done.out)["error"]["landed"] == 30_000


@pytest.mark.parametrize("words", [(), ("--quiet",), ("--json",)], ids=["plain", "quiet", "json"])
def test_a_failure_after_a_warning_is_still_one_last_line(
    words: tuple[str, ...], redist_server: RedistServer, root: Path
) -> None:
    redist_server.always(ARCHIVE, Together(Status(503), Headers({"Retry-After": "7200"})))

    done = fetched(redist_server, root, *words)

    told = reason(done)
    assert (done.code, told.startswith("download: http://127.0.0.1:")) == (4, True)
    assert "HTTP 503 Service Unavailable; the server asks to wait 7200 s; try again later" in told
    if "--json" in words:
        assert json.loads(done.out)["error"]["retry_after"] == 7200
