"""Ask the driver which GPUs there are: a program of its own, run in a child.

    python -I device_work.py

It prints one JSON object: ``driver_cuda`` (CUDA's own packing), ``gpus`` (name and the two halves of the compute
capability) and, where the driver refuses, ``trouble``; an empty one without a driver. Numbers are those of ``cuda.h``.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any, Final

__all__ = ["main"]

# CUdevice_attribute: the two halves of the compute capability.
_CAPABILITY: Final = (75, 76)
_NO_DEVICE: Final = 100


def main() -> dict[str, Any]:
    """Return what the driver says."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return {}
    number = ctypes.c_int()
    told: dict[str, Any] = {"gpus": []}
    if driver.cuDriverGetVersion(ctypes.byref(number)) == 0:
        told["driver_cuda"] = number.value
    status = driver.cuInit(0)
    if status not in (0, _NO_DEVICE):
        told["trouble"] = f"the driver answers {status} to cuInit"
    if status == 0:
        told["gpus"] = _gpus(driver)
    return told


def _gpus(driver: ctypes.CDLL) -> list[tuple[str, int, int]]:
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    return [_gpu(driver, place) for place in range(count.value)]


def _gpu(driver: ctypes.CDLL, place: int) -> tuple[str, int, int]:
    device, value = ctypes.c_int(), ctypes.c_int()
    driver.cuDeviceGet(ctypes.byref(device), place)
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGetName(name, len(name), device)
    halves = []
    for attribute in _CAPABILITY:
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        halves.append(value.value)
    return name.value.decode("utf-8", "replace"), halves[0], halves[1]


if __name__ == "__main__":
    print(json.dumps(main()))  # noqa: T201 - to the parent
