"""What Linux tells of the files that a process has mapped, with real mappings."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prefix.ordinary import run_as_ordinary_user

from cudnn_redist.maps import MappedFile, mapped_files

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

NAMES = {
    "plain": b"library.so",
    "spaces": b" a  b ",
    "newline": b"a\nb",
    "carriage return": b"a\rb",
    "other ends of lines": "a\f\x1c\u2028b".encode(),
    "a backslash and digits": b"a\\101\\134b",
    "no UTF-8": b"\xff\xfe",
    "deleted in the middle": b"a (deleted) b",
}


@pytest.fixture
def library(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file that this process has mapped."""
    path = tmp_path / os.fsdecode(getattr(request, "param", b"library.so"))
    path.write_bytes(b"some")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        yield path


def below(directory: Path) -> list[MappedFile]:
    return [file for file in mapped_files("self") if Path(file.path).is_relative_to(directory)]


@pytest.mark.parametrize("library", NAMES.values(), ids=NAMES, indirect=True)
def test_a_file_is_told_by_the_name_that_it_has(library: Path) -> None:
    (file,) = below(library.parent)
    assert (file.path, file.told, file.deleted) == (str(library), str(library), False)


def test_another_process_is_looked_at_by_its_number(library: Path) -> None:
    assert str(library) in {file.path for file in mapped_files(os.getpid())}


@pytest.mark.parametrize("library", [b"library.so", b"a\nb"], ids=["plain", "newline"], indirect=True)
@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
def test_a_file_that_is_gone_is_told_as_such(library: Path, *, replaced: bool) -> None:
    library.unlink()
    if replaced:
        library.write_bytes(b"another")
    (file,) = below(library.parent)
    assert (file.path, file.deleted, file.told) == (str(library), True, f"{library} (deleted)")


def test_a_process_that_has_ended_has_nothing_and_is_then_no_more() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert mapped_files(process.pid) == set()
        process.wait()
        with pytest.raises(FileNotFoundError):
            mapped_files(process.pid)


READ = """
import sys
from cudnn_redist.doctor.processes import mapped_by
from cudnn_redist.errors import PrefixError
from cudnn_redist.maps import mapped_files
pid = int(sys.argv[1])
for look in (mapped_files, mapped_by):
    try:
        look(pid)
    except (PermissionError, PrefixError) as error:
        print(type(error).__name__, "may not be read" in str(error))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a process of another user")
def test_what_is_somebody_elses_may_not_be_read() -> None:
    done = run_as_ordinary_user("-c", READ, os.getpid())
    assert (done.stdout.splitlines(), done.stderr) == (["PermissionError False", "PrefixError True"], "")
