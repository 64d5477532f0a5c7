"""What ``verify`` and ``verify --load`` say of NVIDIA's own libraries, alone and beside another release; no GPU."""

from __future__ import annotations

import os
import platform
import shutil
from typing import TYPE_CHECKING

import pytest
from real import wheel
from real.unpacked import unpack

from cudnn_redist import Prefix
from cudnn_redist.doctor.loading import load
from cudnn_redist.findings import faults
from cudnn_redist.host import driver_cuda

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from real.wheel import WheelFile

    from cudnn_redist import Finding

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="libraries for x86-64 Linux"),
]

LIBRARY = "lib/libcudnn.so.9"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unpacked")


@pytest.fixture(scope="module")
def wheel_of_9_20() -> WheelFile:
    return wheel.download(wheel.CUDNN_9_20, wheel.cache_directory())


@pytest.fixture(scope="module")
def cudnn_9_20(wheel_of_9_20: WheelFile, place: Path) -> Prefix:
    return unpack(wheel_of_9_20, place / "9.20")


@pytest.fixture(scope="module")
def jit_9_27(real_wheel: WheelFile, place: Path) -> Prefix:
    return unpack(real_wheel, place / "jit")


@pytest.fixture(scope="module")
def beside_9_23(place: Path) -> dict[str, str]:
    """An environment in which a complete later release stands on LD_LIBRARY_PATH."""
    later = unpack(wheel.download(wheel.CUDNN_9_23, wheel.cache_directory()), place / "9.23", as_wheel=True)
    assert later.verify() == load(later, {}) == ()
    return {**os.environ, "LD_LIBRARY_PATH": str(later.lib_dir)}


def codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def test_what_is_named_and_not_shipped_is_known(cudnn_9_20: Prefix, jit_9_27: Prefix) -> None:
    (finding,) = cudnn_9_20.verify()
    assert finding.where == "lib/libcudnn_graph.so.9.20.0"
    assert finding.detail == "names libcudnn_engines_tensor_ir.so"
    notes = jit_9_27.verify()
    assert (set(codes(notes)), faults(notes)) == ({"named-not-shipped"}, ())


def test_a_part_that_9_20_does_not_ship_comes_from_a_later_release(
    cudnn_9_20: Prefix, beside_9_23: dict[str, str]
) -> None:
    assert load(cudnn_9_20, {}) == ()
    mixed, shadowed = load(cudnn_9_20, beside_9_23)
    assert (mixed.code, shadowed.code) == ("set-mixed", "shadowed")
    assert "status 1002" in mixed.detail
    assert "libcudnn_engines_tensor_ir.so.9 comes from" in shadowed.detail


def test_the_runpath_of_9_20_lets_the_environment_win(
    wheel_of_9_20: WheelFile, place: Path, beside_9_23: dict[str, str]
) -> None:
    """Loaded by its absolute path; in a wheel no part has a name with its release."""
    found = load(unpack(wheel_of_9_20, place / "wheel", as_wheel=True), beside_9_23)
    assert codes(found) == ["version-loaded-differs", "cuda-loaded-differs", "shadowed"]
    assert found[0].detail == "in this environment, reports 9.23.2, recorded as 9.20.0.48"


def test_the_rpath_of_9_27_does_not(jit_9_27: Prefix, beside_9_23: dict[str, str]) -> None:
    assert faults(load(jit_9_27, beside_9_23)) == ()


@pytest.mark.skipif(driver_cuda() is not None, reason="this machine has NVIDIA's driver")
def test_a_missing_driver_is_no_fault_of_the_prefix(jit_9_27: Prefix) -> None:
    (finding,) = load(jit_9_27, {})
    assert (finding.code, finding.severity) == ("driver-missing", "note")
    assert finding.where == "lib/libcudnn_engines_runtime_compiled.so.9"
    assert "libcuda.so.1" in finding.detail


def test_a_part_of_another_release_is_found_without_loading_and_with(
    cudnn_9_20: Prefix, beside_9_23: dict[str, str], place: Path
) -> None:
    shutil.copytree(cudnn_9_20.path, place / "mixed", symlinks=True, copy_function=os.link)
    prefix = Prefix.open(place / "mixed")
    heuristic = prefix.lib_dir / "libcudnn_heuristic.so.9.20.0"
    heuristic.unlink()
    heuristic.symlink_to(f"{beside_9_23['LD_LIBRARY_PATH']}/libcudnn_heuristic.so.9")
    assert "file-changed" in codes(prefix.verify())
    assert "set-mixed" in codes(load(prefix, {}))
