"""What the driver and the GPUs of a machine cannot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Finding
from .support import numbers, support_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .copies import Copy
    from .hardware import Hardware

__all__ = ["faults_of_hardware", "unfit_hardware", "unfit_release"]


def faults_of_hardware(hardware: Hardware) -> Iterator[Finding]:
    """Yield what is wrong with the hardware itself."""
    if hardware.trouble is not None:
        yield Finding(code="driver-broken", where=hardware.driver or "driver", detail=hardware.trouble)


def unfit_hardware(copy: Copy, hardware: Hardware) -> Iterator[Finding]:
    """Yield why a copy does not run on the hardware."""
    return unfit_release(copy.version or "", copy.cuda, hardware, where=str(copy.directory))


def unfit_release(version: str, cuda: int | None, hardware: Hardware, *, where: str) -> Iterator[Finding]:
    """Yield why a release does not run on the hardware, as far as the table of support knows or the driver tells."""
    support = support_of(version)
    name = f"cuDNN {version} for CUDA {cuda}"
    oldest = support.drivers.get(cuda or 0) if support else None
    # NVIDIA's compatibility package lets an older kernel driver run a newer CUDA.
    runs = bool(hardware.driver_cuda and cuda and hardware.driver_cuda[0] >= cuda)
    if oldest and hardware.driver and not runs and numbers(hardware.driver) < numbers(oldest):
        detail = f"{name} needs driver {oldest} or later, this is {hardware.driver}"
        yield Finding(code="driver-too-old", where=where, detail=detail)
    elif hardware.driver_cuda and cuda and hardware.driver_cuda[0] < cuda:
        newest = ".".join(map(str, hardware.driver_cuda))
        yield Finding(
            code="driver-too-old", where=where, detail=f"{name}, and the driver runs CUDA {newest} at most"
        )
    for gpu in hardware.gpus if support else ():
        if support and gpu.capability < support.capability:
            least, has = (".".join(map(str, each)) for each in (support.capability, gpu.capability))
            detail = f"{gpu.name} has compute capability {has}, cuDNN {version} needs {least} or later"
            yield Finding(code="gpu-too-old", where=where, detail=detail)
