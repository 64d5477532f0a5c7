"""A system that is not this one, and its variables."""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor.machines import Machine

from cudnn_redist.doctor.system import System, bytes_at, names_in
from cudnn_redist.doctor.telling import markdown


def test_paths_of_another_system_lie_below_its_root(tmp_path: Path) -> None:
    system = System(root=tmp_path)
    assert system.place("/usr/lib") == tmp_path / "usr/lib"
    assert System().place("/usr/lib") == Path("/usr/lib")
    assert (system.is_this, System().is_this) == (False, True)


@pytest.mark.parametrize(
    ("value", "directories"),
    [
        ("", []),
        ("/a:/b", ["/a", "/b"]),
        ("/a;/b", ["/a", "/b"]),
        (":/a", ["{here}", "/a"]),
        ("/a:", ["/a", "{here}"]),
    ],
)
def test_an_empty_entry_of_the_library_path_is_the_working_directory(
    value: str, directories: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = System(environ={"LD_LIBRARY_PATH": value}).directories_of("LD_LIBRARY_PATH")
    assert [str(path) for path in found] == [each.format(here=tmp_path) for each in directories]
    assert System(environ={}).directories_of("LD_LIBRARY_PATH") == ()


def test_what_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert bytes_at(tmp_path / "gone") == bytes_at(tmp_path) == bytes_at(tmp_path / ("x" * 300)) == b""
    assert list(names_in(tmp_path / "gone")) == list(names_in(tmp_path)) == []


def test_no_path_breaks_out_of_a_report(tmp_path: Path) -> None:
    machine = Machine(tmp_path, environ={"LD_LIBRARY_PATH": "/a```b"})
    machine.cudnn("/a```b", "9.14.0", parts=("_graph",))
    report = markdown(machine.diagnose(), "1", str)
    fences = [line for line in report.splitlines() if "```" in line]
    assert fences == ["```text", "```"] * 4
    assert "a'''b" in report
