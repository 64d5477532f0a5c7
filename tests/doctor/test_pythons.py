"""What a Python has installed of cuDNN, and Pythons that are none."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.doctor.pythons import Python, ask_python, this_python
from cudnn_redist.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def site_with(tmp_path: Path, record: str, *, name: str = "nvidia_cudnn_cu13-9.27.0.42") -> Path:
    site = tmp_path / "lib/python3.12/site-packages"
    info = site / f"{name}.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text(record)
    return site


def test_a_wheel_is_found_by_its_record_wherever_its_libraries_lie(tmp_path: Path) -> None:
    record = (
        "nvidia/__init__.py,sha256=a,0\n"
        "nvidia/cudnn/lib/libcudnn.so.9,sha256=a,1\n"
        "nvidia/cudnn/lib/libcudnn_ops.so.9,sha256=a,1\n"
        '"a, b/bin/cudnn64_9.dll",sha256=a,1\n'
        "nvidia/cudnn/include/cudnn.h,sha256=a,1\n"
    )
    site = site_with(tmp_path, record)
    python = Python(prefix=tmp_path, program=tmp_path / "bin/python", sites=(site,))
    ((directory, origin),) = (found for found in python.wheels() if "nvidia" in str(found[0]))
    assert directory == site / "nvidia/cudnn/lib"
    assert (origin.name, origin.version, origin.cuda) == ("nvidia-cudnn-cu13 9.27.0.42", "9.27.0.42", 13)


@pytest.mark.parametrize(
    ("configuration", "command"),
    [
        ("home = /usr/bin\n", "{0}/bin/python -m pip install --force-reinstall --no-deps a==1"),
        ("home = /usr/bin\nuv = 0.9.1\n", "uv pip install --python {0}/bin/python --reinstall a==1"),
    ],
    ids=["pip", "uv"],
)
def test_what_mends_a_wheel_is_told_for_the_tool_that_made_the_environment(
    configuration: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "pyvenv.cfg").write_text(configuration)
    python = Python(prefix=tmp_path, program=tmp_path / "bin/python", sites=())
    assert python.reinstall("a==1") == command.format(tmp_path)


def test_this_python_has_this_package(tmp_path: Path) -> None:
    assert "pytest" in {distribution.name for distribution in this_python().distributions}
    assert Python(prefix=tmp_path, program=tmp_path, sites=(tmp_path / "gone",)).distributions == ()


def test_another_python_is_asked_for_its_own_packages(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    program = tmp_path / "venv/bin/python"
    asked = ask_python(program)
    assert asked.prefix == tmp_path / "venv"
    assert asked.program == program
    assert [site.is_relative_to(tmp_path / "venv") for site in asked.sites] == [True]


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        (None, "no Python that can be run"),
        ("#!/bin/sh\nexit 0\n", "this program is no Python"),
        ("#!/bin/sh\necho '{}'\n", "this program is no Python"),
        ("#!/bin/sh\necho '[1, 2, 3]'\n", "this program is no Python"),
        ("#!/bin/sh\necho broken >&2\nexit 1\n", "this Python fails: broken"),
        ("no program\n", "no Python that can be run"),
    ],
    ids=["gone", "silent", "an object", "numbers", "fails", "no program"],
)
def test_what_is_no_python_is_a_usage_error(script: str | None, cause: str, tmp_path: Path) -> None:
    program = tmp_path / "python"
    if script is not None:
        program.write_text(script)
        program.chmod(0o755)
    with pytest.raises(UsageError, match=cause):
        ask_python(program)
