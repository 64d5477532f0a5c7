"""What NVIDIA says that releases of cuDNN run on: one small table, with its sources. Pure.

Read on 2026-11-30. What is not in the table is not known here, and nothing is guessed of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Support", "known_fault", "numbers", "support_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the releases from ``first`` to ``last`` (major and minor) run on.

    ``drivers`` holds, for each CUDA major that there is a build for, the oldest driver of Linux; ``capability`` is the
    lowest compute capability of a GPU; ``source`` where both stand.
    """

    first: tuple[int, int]
    last: tuple[int, int]
    drivers: Mapping[int, str]
    capability: tuple[int, int]
    source: str


_CUDA_11_DRIVER, _CUDA_12_DRIVER, _CUDA_13_DRIVER = "450.80.02", "525.60.13", "580.65.06"

_TABLE = (
    Support(
        first=(8, 9),
        last=(8, 9),
        drivers=MappingProxyType({11: _CUDA_11_DRIVER, 12: _CUDA_12_DRIVER}),
        capability=(5, 0),
        source="cuDNN Support Matrix 8.9.1, 8.9.5 and 8.9.6, table 1",
    ),
    Support(
        first=(9, 0),
        last=(9, 10),
        drivers=MappingProxyType({11: _CUDA_11_DRIVER, 12: _CUDA_12_DRIVER}),
        capability=(5, 0),
        source="cuDNN Support Matrix 9.0.0, 9.5.1 and 9.10.2",
    ),
    Support(
        first=(9, 11),
        last=(9, 11),
        drivers=MappingProxyType({12: _CUDA_12_DRIVER}),
        capability=(7, 5),
        # Arch's package of 9.10 says that it is kept for Maxwell, Pascal and Volta: 9.11 has them no more.
        source="NVIDIA's manifests of 9.11.0 and 9.11.1; cuDNN Support Matrix 9.17.0 for the capability",
    ),
    Support(
        first=(9, 12),
        last=(9, 17),
        drivers=MappingProxyType({12: _CUDA_12_DRIVER, 13: _CUDA_13_DRIVER}),
        capability=(7, 5),
        source="cuDNN Support Matrix 9.17.0; NVIDIA's manifests of 9.12.0 to 9.14.0",
    ),
    Support(
        first=(9, 18),
        last=(9, 28),
        drivers=MappingProxyType({12: _CUDA_12_DRIVER, 13: _CUDA_13_DRIVER}),
        # Releases drop GPUs and take none back: 9.28, the latest, has code for what 9.17 has.
        capability=(7, 5),
        source=(
            "the code for GPUs in libcudnn_ops of the wheels 9.20.0.48 and 9.28.1.4 for CUDA 13, 9.23.2.1 and 9.28.0.42"
            " for CUDA 12; NVIDIA's CUDA Compatibility, table 1, for the drivers"
        ),
    ),
)

# JAX's own check, in jax_plugins/cuda/__init__.py.
_FAULTS: Mapping[tuple[int, ...], str] = MappingProxyType(
    {(9, 10, 0): "is not binary-compatible with the other releases of 9; 9.10.1 mends it"}
)


def support_of(version: str) -> Support | None:
    """Return what a release such as ``9.14.0.64`` runs on, or ``None`` where the table does not know."""
    found = numbers(version)[:2]
    return next((row for row in _TABLE if len(found) > 1 and row.first <= found <= row.last), None)


def known_fault(version: str) -> str | None:
    """Return what is known to be wrong with a release, if anything is."""
    return _FAULTS.get(numbers(version)[:3])


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to compare with another: of cuDNN, of a driver."""
    found = re.match(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
