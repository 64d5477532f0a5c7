"""``verify --load`` at the outside: a library that does not load ends a child, and is a finding."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from cli.ground import reason
from doctor.fakes import LIBRARY, cudnn_files, fake_prefix
from prefix.ordinary import run_as_ordinary_user
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="libraries of ELF")


def test_a_library_that_loads_is_as_recorded(tmp_path: Path) -> None:
    prefix = fake_prefix(tmp_path / "prefix", cudnn_files(tmp_path / "work"))
    done = run_command("verify", "./prefix", "--load", "--json", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    (told,) = json.loads(done.out)["prefixes"]
    assert (told["path"], told["findings"]) == (str(prefix.path), [])


@pytest.mark.parametrize(
    ("facts", "code", "detail"),
    [
        pytest.param(
            {"on_load": "raise(SIGSEGV)"}, "load-crashed", "SIGSEGV while loading it", id="it crashes"
        ),
        pytest.param({"status": 1002}, "set-mixed", "status 1002: ", id="it is mixed"),
    ],
)
def test_a_library_that_does_not_work_is_a_finding_with_every_field(
    facts: dict[str, Any], code: str, detail: str, tmp_path: Path
) -> None:
    prefix = fake_prefix(tmp_path / "prefix", cudnn_files(tmp_path / "work", **facts))
    assert run_command("verify", prefix.path).code == 0
    done = run_command("verify", prefix.path, "--load", "--json")
    assert (done.code, reason(done)) == (9, f"verify: {prefix.path}: 1 fault")
    (finding,) = json.loads(done.out)["error"]["findings"]
    assert (finding["prefix"], finding["code"], finding["where"]) == (str(prefix.path), code, LIBRARY)
    assert finding["detail"].startswith(detail)
    assert finding.keys() == {"prefix", "code", "severity", "where", "detail", "meaning", "remedy"}


def test_a_text_in_place_of_the_library_is_told_by_reading_and_by_loading(tmp_path: Path) -> None:
    prefix = fake_prefix(tmp_path / "prefix", {LIBRARY: b"404 page not found\n" * 100})
    done = run_command("verify", prefix.path, "--load", "--json")
    assert (done.code, reason(done)) == (9, f"verify: {prefix.path}: 2 faults")
    codes = [finding["code"] for finding in json.loads(done.out)["error"]["findings"]]
    assert codes == ["library-damaged", "load-failed"]


VERIFY = "import sys; from cudnn_redist.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("mode", "codes"),
    [
        pytest.param(0o311, {"file-unreadable"}, id="not listed"),
        pytest.param(0o644, {"file-unreadable", "load-failed"}, id="not entered"),
    ],
)
def test_a_directory_without_permission_is_told(mode: int, codes: set[str], tmp_path: Path) -> None:
    prefix = fake_prefix(tmp_path / "prefix", cudnn_files(tmp_path / "work"))
    prefix.lib_dir.chmod(mode)
    done = run_as_ordinary_user("-c", VERIFY, "verify", prefix.path, "--load", "--json")
    prefix.lib_dir.chmod(0o755)
    assert (done.returncode, "Traceback" in done.stderr) == (9, False)
    assert {finding["code"] for finding in json.loads(done.stdout)["error"]["findings"]} == codes
