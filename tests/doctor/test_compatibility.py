from __future__ import annotations

from typing import Any

import pytest

from cudnn_redist.doctor.compatibility import Candidate, Here, misfits
from cudnn_redist.doctor.hardware import Gpu, Hardware
from cudnn_redist.host import Toolkit
from cudnn_redist.manifest import CudaVariant

HOPPER, PASCAL = Gpu(name="NVIDIA H200", capability=(9, 0)), Gpu(name="Tesla P100", capability=(6, 0))


def toolkit(major: int, minor: int) -> Toolkit:
    return Toolkit(version=CudaVariant(major, minor), found=f"CUDA_PATH /cuda ({major}.{minor})")


def here(**changes: Any) -> Here:  # noqa: ANN401 - any field
    """Return a Linux machine with everything new, or one that differs in ``changes``."""
    new = Hardware(driver="580.95.05", driver_cuda=(13, 0), gpus=(HOPPER,))
    fields: dict[str, Any] = {
        "platform": "linux-x86_64",
        "is_linux": True,
        "glibc": (2, 39),
        "hardware": new,
        "toolkit": toolkit(13, 0),
    }
    return Here(**fields | changes)


def candidate(
    version: str = "9.14.0.64", variant: str | None = "cuda13", component: str = "cudnn"
) -> Candidate:
    return Candidate(component, version, "linux-x86_64", variant)


FITTING = {
    "everything new": (here(), candidate()),
    "no driver, as on a machine that builds": (here(hardware=Hardware()), candidate()),
    "no GPU": (here(hardware=Hardware(driver="580.95.05", driver_cuda=(13, 0))), candidate()),
    "no toolkit": (here(toolkit=None), candidate(variant="cuda12")),
    "a release of which nothing is known": (here(glibc=(2, 5)), candidate(version="99.1.0.1")),
    "an archive for any CUDA": (here(), candidate(variant=None)),
    "an old driver with NVIDIA's compatibility package": (
        here(hardware=Hardware(driver="535.54.03", driver_cuda=(13, 0), gpus=(HOPPER,))),
        candidate(),
    ),
    "no more of anything than it needs": (
        here(
            glibc=(2, 27),
            hardware=Hardware(driver="580.65.06", gpus=(Gpu(name="Tesla T4", capability=(7, 5)),)),
        ),
        candidate(version="9.20.0.48"),
    ),
    "another platform, for another machine": (here(platform="linux-sbsa", glibc=None), candidate()),
    "a machine that has no platform": (here(platform=None, glibc=None), candidate()),
    "what holds no library": (here(glibc=None), candidate(component="cudnn_samples")),
    "Windows, whose C library is its own": (
        here(platform="windows-x86_64", is_linux=False, glibc=None),
        Candidate("cudnn", "9.14.0.64", "windows-x86_64", "cuda13"),
    ),
}


@pytest.mark.parametrize(("machine", "archive"), FITTING.values(), ids=FITTING)
def test_of_what_may_well_run_nothing_is_said(machine: Here, archive: Candidate) -> None:
    assert misfits([archive], machine) == ()


OLD_DRIVER = Hardware(driver="535.54.03", driver_cuda=(12, 2), gpus=(HOPPER,))
UNFIT = {
    "driver": (
        here(hardware=OLD_DRIVER),
        candidate(),
        "driver-too-old",
        "cuDNN 9.14.0.64 for CUDA 13 needs driver 580.65.06 or later, this is 535.54.03",
    ),
    "driver, and the table does not know the release": (
        here(hardware=OLD_DRIVER),
        candidate(version="99.1.0.1"),
        "driver-too-old",
        "cuDNN 99.1.0.1 for CUDA 13, and the driver runs CUDA 12.2 at most",
    ),
    "GPU": (
        here(hardware=Hardware(driver="580.95.05", driver_cuda=(13, 0), gpus=(HOPPER, PASCAL))),
        candidate(),
        "gpu-too-old",
        "Tesla P100 has compute capability 6.0, cuDNN 9.14.0.64 needs 7.5 or later",
    ),
    "glibc": (
        here(glibc=(2, 17)),
        candidate(version="9.27.0.42"),
        "glibc-too-old",
        "needs glibc 2.27, this machine has 2.17",
    ),
    "musl": (here(glibc=None), candidate(), "libc-foreign", "the C library here is not glibc"),
    "toolkit": (
        here(toolkit=toolkit(12, 8)),
        candidate(),
        "cuda-major-differs",
        "it is for CUDA 13, and the toolkit here is CUDA_PATH /cuda (12.8)",
    ),
    "a release with a fault": (
        here(toolkit=None),
        candidate(version="9.10.0.56", variant="cuda12"),
        "release-faulty",
        "9.10.0.56 is not binary-compatible with the other releases of 9; 9.10.1 mends it",
    ),
    "the JIT library": (
        here(glibc=None),
        candidate(component="cudnn_jit"),
        "libc-foreign",
        "the C library here is not glibc",
    ),
}


@pytest.mark.parametrize(("machine", "archive", "code", "detail"), UNFIT.values(), ids=UNFIT)
def test_what_cannot_run_is_told_with_the_reason(
    machine: Here, archive: Candidate, code: str, detail: str
) -> None:
    (finding,) = misfits([archive], machine)
    assert (finding.code, finding.detail, finding.where) == (code, detail, str(archive))


def test_each_archive_is_told_of_by_its_own_words() -> None:
    found = misfits([candidate(), candidate(variant="cuda12")], here(hardware=OLD_DRIVER, toolkit=None))
    assert [finding.where for finding in found] == ["cudnn 9.14.0.64 linux-x86_64 cuda13"]


def test_a_toolkit_is_satisfied_by_one_of_several() -> None:
    both = [candidate(), candidate(variant="cuda12")]
    assert misfits(both, here(toolkit=toolkit(12, 8))) == ()
    assert len(misfits(both, here(toolkit=toolkit(11, 8)))) == 2


def test_this_machine_is_asked_where_no_other_is_given() -> None:
    machine = Here.this()
    assert misfits([candidate()]) == misfits([candidate()], machine)
