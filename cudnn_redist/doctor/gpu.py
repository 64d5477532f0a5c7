"""``verify --gpu``: a little real work on a GPU by the cuDNN of a prefix, in a child process.

Neither a compiler nor a CUDA toolkit is needed: the child talks to the driver and to the prefix's libraries alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..findings import Finding
from .child import run_apart
from .loading import library_of, spelled_version, unfit_here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..prefix.installed import Prefix
    from .child import Told

__all__ = ["TIMEOUT", "try_gpu"]

TIMEOUT = 180.0
"""Seconds for the work: an H200 takes under ten, but a GPU that is asked for the first time may take a minute."""

_WORK = Path(__file__).with_name("gpu_work.py")
# CUresult (cuda.h): of the driver's own calls, whose names begin with "cu" alone.
_OF_DRIVER = {
    2: "gpu-out-of-memory",
    34: "gpu-driver-missing",
    100: "gpu-missing",
    101: "gpu-missing",
    209: "gpu-too-old",
    222: "driver-too-old",
    803: "driver-too-old",
    804: "driver-too-old",
}
# cudnnStatus_t: those of 9 (cudnn_graph.h) have four digits, those up to 8 (cudnn_ops_infer.h) two at most.
_OF_CUDNN = {
    2: "gpu-out-of-memory",
    6: "gpu-too-old",
    11: "gpu-part-missing",
    14: "set-mixed",
    1002: "set-mixed",
    1008: "gpu-part-missing",
    3005: "driver-too-old",
    3007: "gpu-too-old",
    3008: "gpu-part-missing",
    3009: "gpu-part-missing",
    4003: "gpu-out-of-memory",
    4004: "gpu-out-of-memory",
}


def try_gpu(prefix: Prefix, environment: Mapping[str, str], *, timeout: float = TIMEOUT) -> Finding:
    """Do one ReLU with the cuDNN of ``prefix`` on the first GPU, and return what came of it.

    The full set works through its classic entry points, the graph library of ``cudnn_jit`` through a graph of one
    node. The numbers are compared with those of the CPU: ``gpu-worked`` where they are right, and anything else is
    a fault, such as that there is no GPU. The child gets ``environment`` and ``timeout`` seconds. Raises ``OSError``
    where none can be started.
    """
    library = library_of(prefix.record)
    unfit = unfit_here(prefix.record) if library else "it has no libcudnn to load"
    if library is None or unfit:
        return Finding(code="gpu-untried", where=library or ".", detail=unfit)
    path = str((prefix.path / library).absolute())
    told = run_apart(_WORK, path, environment=environment, timeout=timeout)
    code, detail = _unfinished(told) if told.ended != "well" else _finished(told.facts)
    return Finding(code=code, where=library, detail=detail + _on(told.facts))


def _unfinished(told: Told) -> tuple[str, str]:
    step = told.facts.get("step")
    if told.ended == "late":
        return "gpu-timed-out", f"{told.how} while at {step or 'its start'}"
    if step is None:
        return "gpu-untried", f"this Python does not start so: {told.how}"
    return "gpu-crashed", f"{told.how} at {step}"


def _finished(facts: Mapping[str, object]) -> tuple[str, str]:
    step, status, detail = str(facts.get("step")), facts.get("status"), facts.get("detail")
    if step == "compare":
        if status == 0:
            return "gpu-worked", f"cuDNN {_release(facts)}, by {facts['way']}: right"
        return "gpu-wrong", f"by {facts['way']}: {detail}"
    if not isinstance(status, int):
        code = "gpu-driver-missing" if "device" not in facts else "load-failed"
        return code, f"{step}: {detail}"
    known = _OF_CUDNN if step.startswith("cudnn") else _OF_DRIVER
    return known.get(status, "gpu-failed"), ": ".join(filter(None, (f"{step}: {status}", str(detail or ""))))


def _release(facts: Mapping[str, object]) -> str:
    number = facts.get("version")
    return spelled_version(number) if isinstance(number, int) else "?"


def _on(facts: Mapping[str, object]) -> str:
    """Return the words that name the GPU and the driver, as far as they are known."""
    if "device" not in facts:
        return ""
    cuda = facts["driver_cuda"]
    runs = f"{cuda // 1000}.{cuda % 1000 // 10}" if isinstance(cuda, int) else "?"
    return f" (on {facts['device']}, compute capability {facts['capability']}, driver for CUDA {runs})"
