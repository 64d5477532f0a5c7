"""What running programs have mapped."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from doctor.machines import Machine

from cudnn_redist.doctor.copies import Shelf
from cudnn_redist.doctor.diagnosing import diagnose
from cudnn_redist.doctor.hardware import Hardware
from cudnn_redist.doctor.mapped_faults import faults_of_mapped
from cudnn_redist.doctor.processes import Mapped, mapped_by, watch
from cudnn_redist.doctor.system import System
from cudnn_redist.doctor.telling import plain_text
from cudnn_redist.errors import NotAvailableError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MAP = """
import mmap, sys, time
def mapped(path):
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
maps = [mapped(path) for path in sys.argv[1:]]
print("mapped", flush=True)
"""
WAIT = MAP + "sys.stdin.read()\n"
STAY = MAP + "time.sleep(2)\n"


@pytest.fixture
def libraries(tmp_path: Path) -> list[str]:
    """Libraries of two releases."""
    machine = Machine(tmp_path)
    machine.cudnn("/a", "9.14.0")
    machine.cudnn("/b", "9.12.0", parts=("_ops",))
    return [
        f"{tmp_path}/a/libcudnn.so.9",
        f"{tmp_path}/a/libcudnn_graph.so.9",
        f"{tmp_path}/b/libcudnn_ops.so.9",
    ]


def test_the_libraries_of_a_process_are_told(libraries: list[str]) -> None:
    program = [sys.executable, "-c", WAIT, *libraries]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        mapped = mapped_by(process.pid)
        process.communicate(b"")
    assert mapped.paths == tuple(libraries)
    assert mapped.name.startswith(sys.executable)


def test_a_command_is_watched_to_its_end_with_its_children(
    libraries: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    child = [sys.executable, "-c", STAY, *libraries]
    parent = f"import subprocess, sys; subprocess.run({child!r}); sys.exit(3)"
    found = watch([sys.executable, "-c", parent])
    assert [(each.ended, each.paths) for each in found] == [(3, ()), (None, tuple(libraries))]
    assert capfd.readouterr() == ("", "mapped\n")


def test_parts_of_two_releases_in_one_process_are_a_fault(libraries: list[str], tmp_path: Path) -> None:
    mapped = Mapped(pid=7, name="x", paths=tuple(libraries))
    (finding,) = faults_of_mapped(mapped, (), Shelf())
    assert (finding.code, finding.where) == ("set-mixed", "process 7")
    assert f"libcudnn_ops.so.9 of 9.12.0 in {tmp_path}/b" in finding.detail
    assert list(faults_of_mapped(Mapped(pid=7, name="x", paths=tuple(libraries[:2])), (), Shelf())) == []


def test_the_files_of_a_container_are_not_taken_for_ours(libraries: list[str], tmp_path: Path) -> None:
    paths = tuple(path.removeprefix(str(tmp_path)) for path in libraries)
    mapped = Mapped(pid=7, name="x", paths=paths, root=tmp_path)
    diagnosis = diagnose(System(root=tmp_path / "none", environ={}), mapped=[mapped], hardware=Hardware())
    (finding,) = diagnosis.findings
    assert (finding.code, "libcudnn_ops.so.9 of 9.12.0 in /b" in finding.detail) == ("set-mixed", True)
    assert diagnosis.copies == ()
    told = plain_text(diagnosis)
    assert all(
        f"  {row}\n" in told for row in ("9.14.0   /a/libcudnn_graph.so.9", "9.12.0   /b/libcudnn_ops.so.9")
    )


def test_the_name_of_a_process_is_one_line() -> None:
    # Linux knows no words of a program that is just being started.
    program = [sys.executable, "-c", WAIT.replace("sys.argv[1:]", "()"), "a\n b"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = mapped_by(process.pid)
        process.communicate(b"")
    assert (found.name.split()[-2:], "\n" in found.name, found.sees_our_files) == (["a", "b"], False, True)


def test_a_library_that_is_gone_while_it_is_used_is_told(libraries: list[str]) -> None:
    mapped = Mapped(pid=7, name="x", paths=(f"{libraries[0]} (deleted)",))
    (finding,) = faults_of_mapped(mapped, (), Shelf())
    assert (finding.code, finding.where) == ("file-missing", libraries[0])


def test_nobody_and_nothing_to_run() -> None:
    with pytest.raises(NotAvailableError, match="there is no process"):
        mapped_by(2**22 + 1)
    with pytest.raises(UsageError, match="cannot be run"):
        watch(["/no/such/program"])
    assert mapped_by(os.getpid()).paths == ()
