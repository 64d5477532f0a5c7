"""A system that is not this one, and its variables."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/usr/local/cuda/lib64", "usr/local/cuda-13/lib64"),
        ("/usr/local/cuda/../x", "usr/local/x"),
        ("/up/etc", "etc"),
        ("/circle/a", "circle/a"),
        ("/gone/a", "no/such/a"),
        ("/nul\0/a", "nul\0/a"),
    ],
    ids=lambda value: value.replace("\0", "NUL"),
)
def test_links_of_another_system_are_followed_as_there(path: str, place: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "root")
    machine.link("/usr/local/cuda", "/etc/alternatives/cuda")
    machine.link("/etc/alternatives/cuda", "../../usr/local/cuda-13")
    machine.link("/up", "../../..")
    machine.link("/circle", "circle")
    machine.link("/gone", "/no/such")
    assert System(root=machine.root).place(path) == machine.root / place


@pytest.mark.parametrize(
    "configured",
    [
        b"include /\n",
        b"include **a [ ../../../*\n",
        b"include /**/*.conf\n",
        b"/usr\0/lib\n",
        b"/" + b"a" * 5000 + b"\n",
        bytes(range(256)),
    ],
    ids=["no pattern", "odd patterns", "everything", "NUL", "too long", "any bytes"],
)
def test_a_damaged_configuration_is_no_trouble(configured: bytes, tmp_path: Path) -> None:
    machine = Machine(
        tmp_path, environ={"LD_LIBRARY_PATH": f"/circle:/{'a' * 5000}", "CONDA_PREFIX": "/conda"}
    )
    machine.link("/circle", "circle")
    machine.write("/etc/ld.so.conf", configured)
    machine.write("/var/lib/dpkg/status", "Package: libcudnn9\nStatus: install ok installed\nVersion: 9\n")
    machine.write("/var/lib/dpkg/info/libcudnn9.list", b"/usr/\xff/libcudnn.so.9\n/\0/libcudnn.so.9\n")
    for place, file in enumerate(["lib\0/libcudnn.so.9", "\ud800/libcudnn.so.9", 1, None]):
        record = {"name": "cudnn", "version": "9", "files": [file]}
        machine.write(f"/conda/conda-meta/cudnn-{place}.json", json.dumps(record))
    assert machine.diagnose().findings == ()


def test_names_that_are_no_utf_8_are_kept(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("/opt/\udcff/libcudnn.so.9", "text")
    machine.write("/etc/ld.so.conf", b"/opt/\xff\n")
    assert [finding.code for finding in machine.diagnose().findings] == ["library-damaged"]


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
