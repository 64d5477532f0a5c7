from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doctor.fakes import LIBRARY, cudnn_files, fake_prefix
from doctor.gpu_fakes import FULL, JIT, OPS, built
from redist.command import run_command

from cudnn_redist import Prefix
from cudnn_redist.doctor.gpu import try_gpu
from cudnn_redist.host import driver_cuda

if TYPE_CHECKING:
    from collections.abc import Callable

    Tried = Callable[..., tuple[str, str]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="libraries of ELF")

# The environment of tests is stripped before they run.
GPU_PREFIX = os.environ.get("CUDNN_REDIST_GPU_PREFIX")
ON = " (on Make-believe 100, compute capability 9.0, driver for CUDA 13.0)"
WAYS = pytest.mark.parametrize(
    ("kind", "way"), [(FULL, "cudnnActivationForward"), (JIT, "a graph of one node")], ids=[FULL, JIT]
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver and two prefixes of our own."""
    return built(tmp_path_factory.mktemp("gpu"))


@pytest.fixture
def environment(ground: Path) -> dict[str, str]:
    """An environment in which our driver is the driver."""
    return {**os.environ, "LD_LIBRARY_PATH": str(ground)}


@pytest.fixture
def tried(ground: Path, environment: dict[str, str]) -> Tried:
    """Return code and detail of what comes of a cuDNN on our driver, where functions answer what is given."""

    def tried(kind: str = FULL, *, timeout: float = 60, **answers: object) -> tuple[str, str]:
        told = environment | {name: str(answer) for name, answer in answers.items()}
        finding = try_gpu(Prefix.open(ground / kind), told, timeout=timeout)
        assert finding.where == LIBRARY
        return finding.code, finding.detail

    return tried


@WAYS
def test_right_numbers_are_told_with_the_gpu_they_are_from(tried: Tried, kind: str, way: str) -> None:
    assert tried(kind) == ("gpu-worked", f"cuDNN 9.27.0, by {way}: right{ON}")


@WAYS
def test_wrong_numbers_are_a_fault(tried: Tried, kind: str, way: str) -> None:
    assert tried(kind, WRONG=1) == ("gpu-wrong", f"by {way}: 17 of 32 numbers are wrong{ON}")


OF_DRIVER = {
    "no GPU": ({"cuInit": 100}, "gpu-missing", "cuInit: 100: CUDA_ERROR_OF_A_KIND"),
    "no such GPU": ({"cuDeviceGet": 101}, "gpu-missing", "cuDeviceGet: 101: CUDA_ERROR_OF_A_KIND"),
    "a stub": ({"cuInit": 34}, "gpu-driver-missing", "cuInit: 34: CUDA_ERROR_OF_A_KIND"),
    "driver and kernel differ": ({"cuInit": 803}, "driver-too-old", "cuInit: 803: CUDA_ERROR_OF_A_KIND"),
    "no room for a context": (
        {"cuDevicePrimaryCtxRetain": 2},
        "gpu-out-of-memory",
        f"cuDevicePrimaryCtxRetain: 2: CUDA_ERROR_OF_A_KIND{ON}",
    ),
    "no room for numbers": (
        {"cuMemAlloc_v2": 2},
        "gpu-out-of-memory",
        f"cuMemAlloc_v2: 2: CUDA_ERROR_OF_A_KIND{ON}",
    ),
    "a kernel that fails": (
        {"cuCtxSynchronize": 700},
        "gpu-failed",
        f"cuCtxSynchronize: 700: CUDA_ERROR_OF_A_KIND{ON}",
    ),
}


@pytest.mark.parametrize(("answers", "code", "detail"), OF_DRIVER.values(), ids=OF_DRIVER)
def test_what_the_driver_answers_is_translated(
    tried: Tried, answers: dict[str, int], code: str, detail: str
) -> None:
    assert tried(**answers) == (code, detail)


OF_CUDNN = {
    "mixed": (FULL, "cudnnCreate", 1002, "set-mixed"),
    "mixed, of 8": (FULL, "cudnnCreate", 14, "set-mixed"),
    "part missing": (FULL, "cudnnCreate", 1008, "gpu-part-missing"),
    "old driver": (FULL, "cudnnCreate", 3005, "driver-too-old"),
    "old GPU": (FULL, "cudnnActivationForward", 3007, "gpu-too-old"),
    "memory": (FULL, "cudnnActivationForward", 4004, "gpu-out-of-memory"),
    "failure": (FULL, "cudnnActivationForward", 5000, "gpu-failed"),
    "jit, mixed": (JIT, "cudnnBackendFinalize", 1002, "set-mixed"),
    "jit, failure": (JIT, "cudnnBackendExecute", 5001, "gpu-failed"),
}


@pytest.mark.parametrize(("kind", "function", "status", "code"), OF_CUDNN.values(), ids=OF_CUDNN)
def test_what_cudnn_answers_is_translated(
    tried: Tried, kind: str, function: str, status: int, code: str
) -> None:
    assert tried(kind, **{function: status}) == (code, f"{function}: {status}: CUDNN_STATUS_OF_A_KIND{ON}")


def test_where_no_engine_makes_a_plan_the_last_refusal_is_told(tried: Tried) -> None:
    detail = f"cudnnBackendFinalize: 3008: CUDNN_STATUS_OF_A_KIND{ON}"
    assert tried(JIT, making_a_plan=3008) == ("gpu-part-missing", detail)


def test_that_no_engine_offers_to_run_a_graph_is_told(tried: Tried) -> None:
    assert tried(JIT, NO_ENGINE=1) == ("gpu-failed", f"find an engine: 3000: no engine offers to do it{ON}")


def test_a_crash_is_told_with_the_call_it_came_in(tried: Tried) -> None:
    assert tried(CREATING="crash") == ("gpu-crashed", f"SIGSEGV at cudnnCreate{ON}")


def test_work_that_does_not_end_is_given_up(tried: Tried) -> None:
    # Seconds enough for a busy machine to come as far as that.
    code, detail = tried(CREATING="hang", timeout=10)
    assert (code, detail) == ("gpu-timed-out", f"no answer within 10 s while at cudnnCreate{ON}")


def test_a_library_that_cannot_be_loaded_is_told(tmp_path: Path, environment: dict[str, str]) -> None:
    prefix = fake_prefix(tmp_path / "prefix", {LIBRARY: b"404 page not found\n" * 100})
    finding = try_gpu(prefix, environment)
    assert finding.code == "load-failed"
    assert "invalid ELF header" in finding.detail


def test_a_cudnn_without_the_functions_is_told(tmp_path: Path, environment: dict[str, str]) -> None:
    prefix = fake_prefix(tmp_path / "prefix", cudnn_files(tmp_path / "work"))
    finding = try_gpu(prefix, environment)
    assert finding.code == "load-failed"
    assert "undefined symbol: cudnnCreate" in finding.detail


@pytest.mark.skipif(driver_cuda() is not None, reason="this machine has a driver")
def test_without_a_driver_that_is_what_is_said(ground: Path) -> None:
    finding = try_gpu(Prefix.open(ground / FULL), os.environ)
    assert (finding.code, finding.severity) == ("gpu-driver-missing", "fault")
    assert finding.detail.startswith("load libcuda.so.1: ")


@pytest.mark.parametrize(
    ("files", "platform", "detail"),
    [
        pytest.param({OPS: b""}, None, "it has no libcudnn to load", id="no-library"),
        pytest.param({LIBRARY: b""}, "windows-arm64", "made for windows-arm64, and this is ", id="elsewhere"),
    ],
)
def test_what_cannot_be_tried_is_a_fault(
    files: dict[str, bytes], platform: str | None, detail: str, tmp_path: Path
) -> None:
    finding = try_gpu(fake_prefix(tmp_path / "prefix", files, platform=platform), os.environ)
    assert (finding.code, finding.severity) == ("gpu-untried", "fault")
    assert finding.detail.startswith(detail)


@pytest.mark.parametrize(
    ("answer", "code", "heard"), [("0", 0, "note: "), ("100", 9, "")], ids=["a GPU", "none"]
)
def test_the_command_tells_it(
    ground: Path, environment: dict[str, str], answer: str, code: int, heard: str
) -> None:
    done = run_command("verify", ground / FULL, "--gpu", env=environment | {"cuInit": answer})
    assert done.code == code
    told = "gpu-worked: " if code == 0 else "gpu-missing: "
    assert f"{heard}{ground / FULL}: {told}{LIBRARY}: " in done.err


def test_a_real_cudnn_works_on_a_real_gpu() -> None:
    """``CUDNN_REDIST_GPU_PREFIX`` names an installed prefix of a real release."""
    named = GPU_PREFIX
    if driver_cuda() is None or named is None:
        pytest.skip("no GPU: no driver here, or CUDNN_REDIST_GPU_PREFIX names no prefix to try on it")
    assert try_gpu(Prefix.open(Path(named)), os.environ).code == "gpu-worked"
