from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from prefix.made import EXECUTABLE, FILES, installed
from prefix.ordinary import run_as_ordinary_user
from redist.libraries import elf_library

from cudnn_redist.host import Machine, host_platform
from cudnn_redist.libc import glibc_version
from cudnn_redist.prefix.check import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEADER = "include/cudnn.h"


def test_an_untouched_prefix_has_no_findings(tmp_path: Path) -> None:
    assert check(installed(tmp_path / "p")) == ()


def test_times_do_not_matter(tmp_path: Path) -> None:
    prefix = installed(tmp_path / "p")
    os.utime(prefix.path / HEADER, (0, 0))
    assert prefix.looks_whole()
    assert check(prefix) == ()


def remake(path: Path, data: bytes = b"") -> None:
    path.unlink()
    path.write_bytes(data)


def relink(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("change", "path", "code", "detail"),
    [
        pytest.param(
            lambda p: (p / HEADER).unlink(),
            HEADER,
            "file-missing",
            "the record has a file here",
            id="missing",
        ),
        pytest.param(
            lambda p: (p / HEADER).write_bytes(b"x"),
            HEADER,
            "file-changed",
            "1 bytes, recorded as 13",
            id="size",
        ),
        pytest.param(
            lambda p: (p / HEADER).write_bytes(b"#pragma twice"),
            HEADER,
            "file-changed",
            "sha256 is abf019",
            id="content",
        ),
        pytest.param(
            lambda p: (p / EXECUTABLE).chmod(0o644),
            EXECUTABLE,
            "file-changed",
            "is not executable, recorded as executable",
            id="execute-bit-gone",
        ),
        pytest.param(
            lambda p: (p / HEADER).chmod(0o755),
            HEADER,
            "file-changed",
            "is executable, recorded as not",
            id="execute-bit-come",
        ),
        pytest.param(
            lambda p: relink(p / "lib/libcudnn.so", "/usr/lib/libcudnn.so"),
            "lib/libcudnn.so",
            "file-changed",
            "links to /usr/lib/libcudnn.so, recorded as libcudnn.so.9",
            id="link",
        ),
        pytest.param(
            lambda p: remake(p / "lib/libcudnn.so"),
            "lib/libcudnn.so",
            "file-changed",
            "is a file, recorded as a link",
            id="file-for-link",
        ),
        pytest.param(
            lambda p: relink(p / HEADER, EXECUTABLE), HEADER, "file-changed", "is a link", id="link-for-file"
        ),
        pytest.param(
            lambda p: ((p / HEADER).unlink(), os.mkfifo(p / HEADER)),
            HEADER,
            "file-changed",
            "is a special file, recorded as a file",
            id="pipe-for-file",
        ),
        pytest.param(
            lambda p: (p / "include/more.h").touch(),
            "include/more.h",
            "file-extra",
            "a file that the record does not have",
            id="extra-file",
        ),
        pytest.param(
            lambda p: (p / "lib64").symlink_to("lib"), "lib64", "file-extra", "a link that", id="extra-link"
        ),
        pytest.param(
            lambda p: (p / "empty").mkdir(), "empty", "file-extra", "a directory that", id="extra-directory"
        ),
    ],
)
def test_one_difference_is_one_finding(
    change: Callable[[Path], object], path: str, code: str, detail: str, tmp_path: Path
) -> None:
    prefix = installed(tmp_path / "p")
    change(prefix.path)
    (finding,) = prefix.verify()
    assert (finding.where, finding.code) == (path, code)
    assert detail in finding.detail
    assert str(finding).startswith(f"{code}: {path}: ")


def test_every_difference_is_told_in_order_of_path(tmp_path: Path) -> None:
    """C83: a set of libraries with one missing is not whole."""
    prefix = installed(tmp_path / "p")
    (prefix.path / HEADER).unlink()
    (prefix.path / EXECUTABLE).unlink()
    (prefix.path / "a").touch()
    assert [(finding.where, finding.code) for finding in check(prefix)] == [
        ("a", "file-extra"),
        (HEADER, "file-missing"),
        (EXECUTABLE, "file-missing"),
    ]
    assert not prefix.looks_whole()


def test_a_file_in_place_of_a_directory_hides_what_was_in_it(tmp_path: Path) -> None:
    prefix = installed(tmp_path / "p")
    (prefix.path / HEADER).unlink()
    (prefix.path / "include").rmdir()
    (prefix.path / "include").touch()
    assert [(finding.where, finding.code) for finding in check(prefix)] == [
        ("include", "file-changed"),
        (HEADER, "file-missing"),
    ]


UNREADABLE = """
import sys
from pathlib import Path
from cudnn_redist.prefix.installed import Prefix
for finding in Prefix.open(Path(sys.argv[1])).verify():
    print(finding)
"""


def close(folder: Path, mode: int, name: str = "f") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).touch()
    folder.chmod(mode)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(
            lambda p: (p / HEADER).chmod(0), [f"file-unreadable: {HEADER}: Permission denied"], id="file"
        ),
        pytest.param(
            lambda p: close(p / "mine", 0o644),
            [
                "file-extra: mine: a directory that the record does not have",
                "file-unreadable: mine/f: Permission denied",
            ],
            id="directory that may be listed but not entered",
        ),
        pytest.param(
            lambda p: close(p / "include", 0o311, "extra.h"),
            ["file-unreadable: include: Permission denied"],
            id="directory that may be entered but not listed",
        ),
    ],
)
def test_what_may_not_be_read_is_told_as_such(
    change: Callable[[Path], object], told: list[str], tmp_path: Path
) -> None:
    prefix = installed(tmp_path / "p")
    change(prefix.path)
    done = run_as_ordinary_user("-c", UNREADABLE, prefix.path)
    for folder in (prefix.path / "mine", prefix.path / "include"):
        folder.chmod(0o755) if folder.is_dir() else None
    assert (done.stdout.splitlines(), done.stderr) == (told, "")


def test_a_file_of_several_pieces_is_read_to_its_end(tmp_path: Path) -> None:
    data = bytes(3 << 20) + b"end"
    prefix = installed(tmp_path / "p", {"lib/large": data}, {})
    assert prefix.verify() == ()
    (prefix.path / "lib/large").write_bytes(data.upper())
    assert [(finding.where, finding.code) for finding in prefix.verify()] == [("lib/large", "file-changed")]


def test_what_stands_in_a_library_is_told_beside_its_change(tmp_path: Path) -> None:
    """A text, and a library for another machine, under the name of what was installed."""
    prefix = installed(tmp_path / "p")
    (prefix.path / EXECUTABLE).write_text("not found")
    assert [(finding.where, finding.code) for finding in prefix.verify()] == [
        (EXECUTABLE, "file-changed"),
        (EXECUTABLE, "library-damaged"),
    ]
    (prefix.path / EXECUTABLE).write_bytes(elf_library("linux-sbsa"))
    assert [finding.code for finding in prefix.verify()] == ["file-changed", "machine-differs"]


def test_a_part_of_another_release_is_a_fault(tmp_path: Path) -> None:
    other = {**FILES, "lib/libcudnn_ops.so.9.26.1": elf_library()}
    (finding,) = installed(tmp_path / "p", other).verify()
    assert str(finding) == ("version-differs: lib/libcudnn_ops.so.9.26.1: says 9.26.1, recorded as 9.27.0.42")
    assert finding.severity == "fault"


@pytest.mark.skipif(glibc_version() is None, reason="the C library of this machine is not glibc")
def test_only_a_prefix_for_this_machine_is_judged_by_its_c_library(tmp_path: Path) -> None:
    here = host_platform(Machine.this())[0]
    other = "linux-sbsa" if here == "linux-x86_64" else "linux-x86_64"
    codes = {}
    for platform in (here, other):
        library = elf_library(platform, soname="libcudnn.so.9", glibc=("GLIBC_2.17", "GLIBC_2.999"))
        prefix = installed(tmp_path / platform, {EXECUTABLE: library}, platform=platform)
        codes[platform] = [finding.code for finding in prefix.verify()]
    assert codes == {here: ["glibc-too-old"], other: []}
