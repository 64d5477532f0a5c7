"""What package managers know of cuDNN."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from doctor.machines import DEBIAN, Machine

from cudnn_redist.doctor.packages import conda_packages, dpkg_packages, jetpack, rpm_packages
from cudnn_redist.doctor.system import System

if TYPE_CHECKING:
    from pathlib import Path


def test_debian_packages_of_both_kinds_tell_their_cuda(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.dpkg("libcudnn9-cuda-13", "9.14.0.64-1", [f"{DEBIAN}/libcudnn.so.9.14.0"])
    machine.dpkg("libcudnn9-dev-cuda-13", "9.14.0.64-1", ["/usr/include/cudnn.h"])
    machine.dpkg("libcudnn8", "8.9.7.29-1+cuda12.2", ["/opt/libcudnn.so.8"])
    machine.dpkg("zlib1g", "1.2", [f"{DEBIAN}/libz.so.1"])
    found = [
        (directory, origin.name, origin.version, origin.cuda, origin.mend)
        for directory, origin in dpkg_packages(System(root=tmp_path))
    ]
    reinstall = "sudo apt-get install --reinstall"
    assert found == [
        (
            tmp_path / DEBIAN.lstrip("/"),
            "libcudnn9-cuda-13 9.14.0.64-1",
            "9.14.0.64",
            13,
            f"{reinstall} libcudnn9-cuda-13=9.14.0.64-1",
        ),
        (
            tmp_path / "opt",
            "libcudnn8 8.9.7.29-1+cuda12.2",
            "8.9.7.29",
            12,
            f"{reinstall} libcudnn8=8.9.7.29-1+cuda12.2",
        ),
    ]


def test_rpm_is_asked_where_it_is(tmp_path: Path) -> None:
    """The answer is that of ``rpm -qa --queryformat`` of Fedora 41; the program here only prints it."""
    (tmp_path / "var/lib/rpm").mkdir(parents=True)
    program = tmp_path / "bin/rpm"
    program.parent.mkdir()
    answer = "libcudnn9-cuda-13 9.14.0.64 /usr/lib64/libcudnn.so.9.14.0\nlibcudnn9-cuda-13 9.14.0.64 /usr/share/a b\n"
    program.write_text(f"#!/bin/sh\n[ \"$2\" = {tmp_path}/var/lib/rpm ] && printf '{answer}'\necho odd\n")
    program.chmod(0o755)
    system = System(root=tmp_path, environ={"PATH": "/bin"})
    assert list(rpm_packages(system)) == []
    asked = System(root=tmp_path, environ={"PATH": f"{program.parent}{os.pathsep}/bin"})
    ((directory, origin),) = rpm_packages(asked)
    assert (directory, origin.cuda) == (tmp_path / "usr/lib64", 13)
    assert origin.mend == "sudo dnf reinstall libcudnn9-cuda-13-9.14.0.64"


@pytest.mark.parametrize(
    "record", ["", "[]", "{}", '{"name": 1, "version": 2, "files": 3}', '{"name": "cudnn"']
)
def test_a_damaged_record_of_conda_is_passed_over(record: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("/conda-meta/a-cudnn-1.json", record)
    machine.conda("/", "9.14.0.64", build="cuda12_0")
    ((directory, origin),) = conda_packages(tmp_path)
    assert (directory, origin.name, origin.cuda) == (tmp_path / "lib", "cudnn 9.14.0.64", 12)
    assert origin.mend == f"conda install --prefix {tmp_path} --force-reinstall cudnn=9.14.0.64"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic", "36.4.3"),
        ("# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t186ref", "32.7.1"),
        ("nothing of the kind", None),
    ],
)
def test_the_release_of_a_jetson(text: str, release: str | None, tmp_path: Path) -> None:
    Machine(tmp_path).write("/etc/nv_tegra_release", text)
    assert jetpack(System(root=tmp_path)) == release
