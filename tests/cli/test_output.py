"""What a command says survives any reader and a bug, and results never mix with the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason, snapshot
from redist.command import run_command

if TYPE_CHECKING:
    from redist import RedistTree

posix = pytest.mark.skipif(os.name == "nt", reason="shells and locales of POSIX")


UNTIL_GONE = "(trap '' PIPE; while echo; do :; done) 2>/dev/null;"
"""What waits for the end of a reader that may be started later than the writer."""


def in_shell(
    script: str, *words: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a script of sh in which ``"$@"`` is the command with these words."""
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "cudnn_redist", *map(str, words)]
    told = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **(env or {})}
    told |= {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return subprocess.run(command, env=told, capture_output=True, check=False, timeout=60)


@posix
@pytest.mark.parametrize(
    ("script", "code"),
    [
        (f'{{ {UNTIL_GONE} "$@"; echo $? >&3; }} 3>&2 2>/dev/null | head -c 0', 141),
        ('{ "$@"; echo $? >&3; } 3>&2 2>/dev/null >&-', 0),
        ('{ "$@"; echo $? >&3; } 3>&2 2>/dev/null <&-', 0),
        ('{ "$@" 2>&-; echo $? >&3; } 3>&2', 0),
        ('{ "$@" 2>&- >&- <&-; echo $? >&3; } 3>&2', 0),
        (f'{{ {UNTIL_GONE} "$@" 2>&1 >/dev/null; echo $? >&3; }} 3>&2 | head -c 0', 0),
    ],
    ids=["reader gone", "no stdout", "no stdin", "no stderr", "nothing", "reader of stderr gone"],
)
def test_who_listens_does_not_matter(redist_tree: RedistTree, root: Path, script: str, code: int) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    done = in_shell(script, *words)
    assert done.stderr.decode() == f"{code}\n"
    assert run_command("verify", "9.27.0", "--root", root).code == 0


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("words", [("--help",), ("--version",), ("fetch", "--help")], ids=" ".join)
def test_help_to_a_reader_who_has_gone_is_quiet(words: tuple[str, ...], unbuffered: str) -> None:
    script = f'{{ {UNTIL_GONE} "$@"; echo $? >&3; }} 3>&2 | head -c 0'
    done = in_shell(script, *words, env={"PYTHONUNBUFFERED": unbuffered})
    assert done.stderr == b"141\n"


@posix
def test_a_failure_to_a_reader_who_has_gone_keeps_its_code(root: Path) -> None:
    script = f'{{ {UNTIL_GONE} "$@" 2>&-; echo $? >&3; }} 3>&2 | head -c 0'
    done = in_shell(script, "where", "9.27.0", "--json", "--root", root)
    assert done.stderr == b"3\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", [("--version",), ("list", "--installed", "--json")], ids=" ".join)
def test_a_full_disk_behind_stdout_is_a_failure(words: tuple[str, ...]) -> None:
    done = in_shell('"$@" >/dev/full', *words)
    assert (done.returncode, done.stderr) == (7, b"cudnn-redist: output: stdout: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_stderr_stops_nothing(redist_tree: RedistTree, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    done = in_shell('"$@" 2>/dev/full', *words)
    assert (done.returncode, done.stdout.decode()) == (0, f"{root / PREFIX}\n")


def broken(folder: Path) -> dict[str, str]:
    """Put a dependency that cannot be loaded where Python looks first."""
    (folder / "platformdirs.py").write_text("raise ValueError('broken\\ninstallation')\n")
    return {"PYTHONPATH": str(folder)}


def test_a_bug_is_one_line_and_exit_1(tmp_path: Path) -> None:
    done = run_command("list", "--installed", env=broken(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert reason(done) == ("bug: ValueError: broken installation (--debug shows where; please report it)")


def test_debug_shows_where_a_bug_is(tmp_path: Path) -> None:
    done = run_command("list", "--installed", "--debug", env=broken(tmp_path))
    assert done.code == 1
    assert done.err.startswith("Traceback ")
    assert done.err.splitlines()[-1].startswith("cudnn-redist: bug: ValueError")


def test_debug_shows_the_traceback_of_a_failure_before_its_reason(root: Path) -> None:
    done = run_command("where", "9.27.0", "--root", root, "--debug")
    assert done.code == 3
    assert done.err.startswith("Traceback ")
    assert done.err.splitlines()[-1].startswith("cudnn-redist: prefix: ")


@posix
def test_a_user_without_a_home_has_no_netrc_and_no_trouble(redist_tree: RedistTree, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    done = in_shell('unset HOME; "$@"', *words)
    assert (done.returncode, done.stdout.decode()) == (0, f"{root / PREFIX}\n")


def test_quiet_does_not_silence_the_reason(root: Path) -> None:
    done = run_command("where", "9.27.0", "--root", root, "--quiet")
    assert done.code == 3
    assert done.err.splitlines() == [f"cudnn-redist: {reason(done)}"]


@pytest.mark.parametrize(
    "words", [("--help",), ("fetch", "--help"), ("list", "-h"), ("remove", "--help")], ids=" ".join
)
def test_help_is_a_result(words: tuple[str, ...]) -> None:
    done = run_command(*words, env={"COLUMNS": "100"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("usage: cudnn-redist ")
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize(
    "words", [(), ("unknown",), ("fetch",), ("--unknown",)], ids=["none", "unknown", "label", "option"]
)
def test_words_that_make_no_command_are_exit_2(words: tuple[str, ...]) -> None:
    done = run_command(*words)
    assert (done.code, done.out) == (2, "")
    assert reason(done).startswith("usage: ")
    assert "--help" in reason(done)


def test_a_root_that_is_a_file_is_exit_7(redist_tree: RedistTree, root: Path) -> None:
    root.write_text("mine")
    before = snapshot(root)
    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    assert (done.code, done.out) == (7, "")
    assert str(root) in reason(done)
    assert snapshot(root) == before
