"""``main`` as a function: another program may call it, from any thread, with any stdout."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def test_it_returns_the_exit_code_and_leaves_signals_as_they_were(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main(["list", "--installed", "--root", str(tmp_path)]) == 0
    assert main(["where", "9.27.0", "--root", str(tmp_path)]) == 3
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert capfd.readouterr().err.startswith(f"cudnn-redist: prefix: {tmp_path}: 9.27.0 is not installed")


def test_it_runs_in_a_thread(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []
    words = ["where", "9.27.0", "--root", str(tmp_path)]
    thread = threading.Thread(target=lambda: codes.append(main(words)))
    thread.start()
    thread.join()
    assert codes == [3]
    assert "not installed" in capfd.readouterr().err


def test_it_writes_to_a_stdout_of_text() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, out.getvalue().startswith("cudnn-redist ")) == (0, True)


GROUPS = (
    "what",
    "which lock",
    "instead of making one",
    "licence",
    "from where",
    "where",
    "how",
    "what is told",
)


def helped(*words: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit):
        main([*words, "--help"])
    return out.getvalue()


def test_every_help_has_its_groups_in_one_order() -> None:
    commands = re.findall(r"^    ([a-z]+) ", helped(), flags=re.MULTILINE)
    shown = {
        command: re.findall(r"^([a-z ]+):$", helped(command), flags=re.MULTILINE) for command in commands
    }
    assert len(shown) > 10
    assert shown == {
        command: [each for each in GROUPS if each in groups] for command, groups in shown.items()
    }


def test_a_bug_is_exit_1(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "no\0/path"]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("cudnn-redist: bug: ValueError: ")
