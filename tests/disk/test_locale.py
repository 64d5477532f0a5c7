"""Places whose names are any bytes, in a locale that has only ASCII (C75): all that writes there or reads it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from redist.command import run_command

from cudnn_redist import Prefix

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer
    from redist.command import Completed

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NAMES = {"letters": "Größe 文", "no UTF-8": os.fsdecode(b"\xff\xfe")}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_whole_life_in_such_a_place(redist_server: RedistServer, tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    root, dest, link, store = (home / each for each in ("root", "dest", "link", "store"))

    def run(*words: str | Path) -> Completed:
        done = run_command(*words, env=ASCII)
        assert done.code == 0, done.err
        return done

    source = (*CHOICE, "--root", root, "--source", redist_server.url, "--archives", store)
    run("fetch", "9.27.0", *source, "--link", link)
    run("fetch", "9.27.0", *source, "--dest", dest)
    run("fetch", "9.27.0", *source, "--force", "--verify-first", "--durable")
    assert len([request for request in redist_server.requests(".tar.xz") if request.status == 200]) == 1
    assert Prefix.open(link).verify() == Prefix.open(dest).verify() == ()
    for words in (("verify", "9.27.0"), ("list", "--installed")):
        run(*words, "--root", root)
    run("remove", "9.27.0", "--root", root)
    assert not (root / "cudnn").exists()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_reason_about_such_a_place_is_one_line(
    redist_server: RedistServer, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("a file where the root should be")
    words = ("fetch", "9.27.0", *CHOICE, "--root", tmp_path / name, "--source", redist_server.url)
    done = run_command(*words, env=ASCII)
    assert (done.code, done.out) == (7, "")
    assert "Traceback" not in done.err
    assert done.err.splitlines()[-1].startswith("cudnn-redist: ")
    assert redist_server.requests(".tar.xz") == []
