"""What the driver says, asked in a child; the drivers here are small libraries that answer as told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doctor.fakes import DRIVER, library

from cudnn_redist.doctor.hardware import Gpu, find_hardware
from cudnn_redist.doctor.support import known_fault, numbers, support_of
from cudnn_redist.doctor.system import System

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
#include <string.h>
int cuDriverGetVersion(int *number) { *number = 12080; return 0; }
int cuInit(unsigned flags) { @INIT@; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int place) { *device = place; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strcpy(name, device ? "two" : "one"); return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) { *value = which == 75 ? 7 + device : 5; return 0; }
"""


def system_with(tmp_path: Path, init: str) -> System:
    driver = library(tmp_path / "made", SOURCE.replace("@INIT@", init), DRIVER)
    (tmp_path / DRIVER).write_bytes(driver)
    return System(environ={"LD_LIBRARY_PATH": str(tmp_path)})


def test_gpus_and_the_newest_cuda_are_told(tmp_path: Path) -> None:
    found = find_hardware(system_with(tmp_path, "return 0"))
    assert found.driver_cuda == (12, 8)
    assert found.gpus == (Gpu(name="one", capability=(7, 5)), Gpu(name="two", capability=(8, 5)))
    assert found.trouble is None


@pytest.mark.parametrize(
    ("init", "trouble"),
    [
        ("return 100", None),
        ("return 999", "the driver answers 999 to cuInit"),
        ("__builtin_trap()", "SIGILL"),
    ],
    ids=["no GPU", "refuses", "crashes"],
)
def test_a_driver_that_does_not_work_is_told_and_harms_nobody(
    init: str, trouble: str | None, tmp_path: Path
) -> None:
    found = find_hardware(system_with(tmp_path, init))
    assert (found.gpus, found.trouble) == ((), trouble)


def test_of_another_system_only_its_files_speak(tmp_path: Path) -> None:
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    version = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"
    (tmp_path / "proc/driver/nvidia/version").write_text(version)
    (tmp_path / "usr/local/cuda").mkdir(parents=True)
    (tmp_path / "usr/local/cuda/version.json").write_text('{"cuda": {"version": "13.0.1"}}')
    found = find_hardware(System(root=tmp_path))
    assert (found.driver, found.driver_cuda, found.gpus) == ("580.159.04", None, ())
    assert found.toolkit == "/usr/local/cuda (13.0)"


@pytest.mark.parametrize(
    ("version", "cudas", "capability"),
    [
        ("8.9.7.29", {11, 12}, (5, 0)),
        ("9.0.0", {11, 12}, (5, 0)),
        ("9.10.2", {11, 12}, (5, 0)),
        ("9.11.0", {12}, (7, 5)),
        ("9.14.0.64", {12, 13}, (7, 5)),
        ("9.20.0.48", {12, 13}, (7, 5)),
        ("9.28.1.4", {12, 13}, (7, 5)),
    ],
)
def test_what_is_known_of_a_release(version: str, cudas: set[int], capability: tuple[int, int]) -> None:
    support = support_of(version)
    assert support is not None
    assert (set(support.drivers), support.capability) == (cudas, capability)
    assert support.source


@pytest.mark.parametrize("version", ["9.29.0", "10.0.0", "8.8.0", "9", "", "nine", "9" * 5000])
def test_of_a_release_beyond_the_table_nothing_is_guessed(version: str) -> None:
    assert support_of(version) is None


def test_known_faults_and_numbers() -> None:
    assert "9.10.1" in (known_fault("9.10.0.56") or "")
    assert known_fault("9.10.1.4") is None
    assert (numbers("580.65.06"), numbers("x")) == ((580, 65, 6), ())
