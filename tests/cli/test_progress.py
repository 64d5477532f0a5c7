"""How far it is: nothing that floods a log, a bar for people, and nothing when nothing is wanted (C73)."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX
from redist.command import run_command
from redist.faults import Cut, Trickle

from cudnn_redist import Plan, Progress, plan
from cudnn_redist.cli.output import Output
from cudnn_redist.cli.progress import Display

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

ARCHIVE = "_cuda13-archive.tar.xz"


def test_a_log_gets_a_line_an_archive(redist_server: RedistServer, root: Path) -> None:
    redist_server.always(".tar.xz", Trickle(80_000))
    choice = ("--platform", "linux-x86_64", "--cuda", "12", "--cuda", "13")
    done = run_command("fetch", "9.27.0", *choice, "--root", root, "--source", redist_server.url)
    reasons = ["platform linux-x86_64: given", "cuda12: given", "cuda13: given"]
    assert done.err.splitlines() == [*reasons, *(f"installed: {path}" for path in done.out.splitlines())]
    assert "\r" not in done.err


def on_terminal(*words: str | Path, **env: str) -> tuple[int, str]:
    """Run the command with a pseudo-terminal as stderr; return its exit code and what was shown there."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    told = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **env}
    told |= {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    command = [sys.executable, "-m", "cudnn_redist", *map(str, words)]
    with subprocess.Popen(command, env=told, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b"".join(_read(ours, until=time.monotonic() + 120))
    os.close(ours)
    return process.returncode, shown.decode()


def _read(terminal: int, *, until: float) -> list[bytes]:
    pieces = []
    while select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
        try:
            pieces.append(os.read(terminal, 65536))
        except OSError:  # Linux says EIO once the last writer has gone
            break
        if not pieces[-1]:
            break
    return pieces


posix = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")


@posix
def test_a_terminal_gets_a_bar_with_phase_bytes_rate_and_time_left(
    redist_server: RedistServer, root: Path
) -> None:
    redist_server.always(ARCHIVE, Trickle(30_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    code, shown = on_terminal(*words)
    assert code == 0
    bars = [part for part in shown.split("\r") if "%|" in part]
    assert any(
        re.search(r"cudnn download: +\d+%\|.+\| [\d.]+k/[\d.]+k \[\d\d:\d\d<\d\d:\d\d, +[\d.]+kB/s\]", bar)
        for bar in bars
    )
    done = [int(found[1]) for bar in bars if (found := re.search(r"(\d+)%\|", bar))]
    assert done == sorted(done)
    assert max(done) <= 100
    assert f"installed: {root / PREFIX}" in shown


@posix
def test_a_note_does_not_run_into_the_bar(redist_server: RedistServer, root: Path) -> None:
    redist_server.fail(ARCHIVE, Cut(40_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url, "--debug")
    _, shown = on_terminal(*words)
    (note,) = (
        part for part in re.split(r"[\r\n]", shown) if "incomplete" in part or "RemoteProtocol" in part
    )
    assert note.startswith("download: ")


@posix
def test_a_bar_in_ascii_for_an_ascii_locale(redist_server: RedistServer, root: Path) -> None:
    redist_server.always(ARCHIVE, Trickle(100_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    code, shown = on_terminal(*words, **env)
    assert (code, "%|" in shown, shown.isascii()) == (0, True, True)


@posix
@pytest.mark.parametrize(
    ("more", "env"),
    [((), {"CI": "true"}), (("--no-progress",), {}), (("--quiet",), {})],
    ids=["CI", "--no-progress", "--quiet"],
)
def test_no_bar_where_none_is_wanted(
    redist_server: RedistServer, root: Path, more: tuple[str, ...], env: dict[str, str]
) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url, *more)
    code, shown = on_terminal(*words, **env)
    assert (code, "%|" in shown) == (0, False)
    assert ("installed: " in shown) is ("--quiet" not in more)


@posix
def test_a_local_source_shows_what_is_unpacked(redist_tree: RedistTree, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    code, shown = on_terminal(*words)
    assert code == 0
    assert f"installed: {root / PREFIX}" in shown


@pytest.fixture
def made_plan(redist_tree: RedistTree, root: Path) -> Plan:
    sources = [str(redist_tree.path)]
    return plan("9.27.0", platform="linux-x86_64", cuda="13", sources=sources, root=root)


def reports(plan: Plan, *told: tuple[str, int]) -> list[Progress]:
    (archive,) = plan.archives
    return [
        replace(Progress(archive=archive, phase="download"), phase=phase, done=done) for phase, done in told
    ]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([("download", 40_000), ("unpack", 90_000)], "download, 0 of 0 MB"),
        ([("download", 10**9), ("unpack", 10**9)], "unpack, 1000 of 0 MB"),
        ([("unpack", 4_000_000), ("unpack", 7_000_000)], "unpack, 7 MB"),
    ],
    ids=["both at once", "downloaded", "local"],
)
def test_a_line_counts_what_is_downloaded_else_what_is_unpacked(
    made_plan: Plan, capfd: pytest.CaptureFixture[str], told: list[tuple[str, int]], expected: str
) -> None:
    with Display(made_plan, Output(json=False, quiet=False), wanted=True, every=0) as display:
        for report in reports(made_plan, *told):
            display.show(report)
    last = capfd.readouterr().err.splitlines()[-1]
    assert re.fullmatch(rf"cudnn-linux-x86_64-.+{ARCHIVE[1:]}: {expected}, [\d.]+ MB/s", last)


def test_what_is_there_already_counts_neither_for_the_total_nor_for_the_rate(
    made_plan: Plan, capfd: pytest.CaptureFixture[str]
) -> None:
    (archive,) = made_plan.archives
    there = replace(archive, relative_path="there.tar.xz", size=10**9)
    resumed = replace(archive, relative_path="resumed.tar.xz", size=10**12)
    both = replace(made_plan, archives=(there, resumed))
    with Display(both, Output(json=False, quiet=False), wanted=True, every=0) as display:
        display.show(Progress(archive=there, phase="present"))
        for done in (9 * 10**11, 9 * 10**11 + 1):
            display.show(Progress(archive=resumed, phase="download", done=done))
    last = capfd.readouterr().err.splitlines()[-1]
    assert last == "resumed.tar.xz: download, 900000 of 1000000 MB, 0.0 MB/s"


def test_lines_keep_their_distance(made_plan: Plan, capfd: pytest.CaptureFixture[str]) -> None:
    started = time.monotonic()
    with Display(made_plan, Output(json=False, quiet=False), wanted=True, every=0.2) as display:
        while time.monotonic() - started < 0.7:
            for report in reports(made_plan, ("download", 1)):
                display.show(report)
    seconds = time.monotonic() - started
    assert 1 <= len(capfd.readouterr().err.splitlines()) <= seconds / 0.2
