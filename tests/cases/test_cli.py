"""Cases of the kind "cli": logs that progress must not flood, and locales that cannot spell everything.

Failures (C76) and signals (C78) have files of their own.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL, Fetch
from cli.ground import PREFIX
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

LINES = 12
ASCII_LOCALE = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
}


@pytest.mark.parametrize("env", [{}, {"CI": "true"}], ids=["no terminal", "CI"])
def test_C73_a_log_is_not_flooded_and_stdout_has_results_only(
    fetch: Fetch,
    redist_tree: RedistTree,
    redist_server: RedistServer,
    thirty_megabytes: bytes,
    env: dict[str, str],
) -> None:
    redist_tree.replace_archive(thirty_megabytes, LABEL, update_manifest=True)
    redist_server.rate = 15_000_000
    done = fetch(env=env)
    assert (done.code, done.out) == (0, f"{fetch.root / PREFIX}\n")
    assert len(done.err.splitlines()) <= LINES
    assert "\r" not in done.err


posix = pytest.mark.skipif(os.name == "nt", reason="locales and file names of POSIX")


@posix
@pytest.mark.parametrize("name", ["caf\u00e9".encode(), b"not utf-8 \xff"], ids=["accent", "no UTF-8"])
def test_C75_a_path_is_printed_as_its_bytes_in_an_ascii_locale(
    redist_tree: RedistTree, tmp_path: Path, name: bytes
) -> None:
    root = tmp_path / os.fsdecode(name)
    done = Fetch(root, redist_tree.path)(env=ASCII_LOCALE)
    shown = os.fsencode(root / PREFIX).decode(errors="backslashreplace")
    assert (done.code, done.out) == (0, f"{shown}\n"), done.err
    assert f"installed: {shown}" in done.err
    assert run_command("verify", LABEL, "--root", root, env=ASCII_LOCALE).code == 0


@posix
def test_C75_what_a_manifest_says_is_shown_as_far_as_the_locale_can(redist_tree: RedistTree) -> None:
    redist_tree.edit_manifest(LABEL, lambda manifest: manifest["cudnn"].update(name="cuDNN\u2122"))
    shown = run_command("list", LABEL, "--source", redist_tree.path, env=ASCII_LOCALE)
    assert (shown.code, "cuDNN\\u2122" in shown.out) == (0, True)
    told = run_command("list", LABEL, "--source", redist_tree.path, "--json", env=ASCII_LOCALE)
    assert [each["name"] for each in json.loads(told.out)["components"]] == ["cuDNN\u2122"]


@posix
def test_C75_json_and_files_are_utf8_in_any_locale(redist_tree: RedistTree, tmp_path: Path) -> None:
    redist_tree.edit_manifest(LABEL, lambda manifest: manifest["cudnn"].update(name="cuDNN\u2122"))
    root = tmp_path / "caf\u00e9"
    fetch = Fetch(root, redist_tree.path)
    done = fetch(LABEL, "--json", env=ASCII_LOCALE)
    assert [prefix["path"] for prefix in json.loads(done.out)["prefixes"]] == [str(root / PREFIX)]
    failed = run_command("where", "9.1.0", "--root", root, "--json", env=ASCII_LOCALE)
    assert (failed.code, json.loads(failed.out)["error"]["where"]) == (3, str(root))
    # The same bytes as a run in a locale of UTF-8 leaves.
    plain = Fetch(tmp_path / "plain", redist_tree.path).installed(env={"LC_ALL": "C.UTF-8"})
    record = ".cudnn-redist.json"
    assert (root / PREFIX / record).read_bytes() == (plain.path / record).read_bytes()
