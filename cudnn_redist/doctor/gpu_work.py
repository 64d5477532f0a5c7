"""One ReLU on a GPU by the cuDNN of a prefix, with nothing but the driver: a program of its own, run in a child.

    python -I gpu_work.py LIBCUDNN

It prints JSON objects, one a line, each of which adds to what is known: ``step`` is what is tried next, so that the
last one tells where a child died; ``status`` what the last call answered (0: done, and ``compare`` is the last of
all), ``detail`` that in words. Numbers are those of cuDNN 9's ``cudnn_graph.h`` and ``cudnn_ops.h``, and of CUDA's
``cuda.h``.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any, Final, Protocol

__all__ = ["Refused", "main"]

_DRIVER: Final = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
# CUdevice_attribute: the two halves of the compute capability.
_CAPABILITY: Final = (75, 76)
# cudnnBackendDescriptorType_t
_POINTWISE, _ENGINE_CONFIG, _ENGINE_HEURISTIC, _PLAN = 0, 3, 4, 5
_OPERATION_POINTWISE, _GRAPH, _VARIANT_PACK, _TENSOR = 13, 15, 16, 17
# cudnnBackendAttributeType_t
_HANDLE, _DATA_TYPE, _INT64, _POINTER, _HEURISTIC_MODE, _POINTWISE_MODE, _DESCRIPTOR = 0, 1, 3, 6, 8, 14, 15
_FLOAT32, _RELU_FORWARD, _NOT_SUPPORTED = 0, 100, 3000
# cudnnBackendAttributeName_t
_ATTR_POINTWISE_MODE, _ATTR_POINTWISE_MATH_PREC = 0, 1
_ATTR_ENGINEHEUR_MODE, _ATTR_ENGINEHEUR_OPERATION_GRAPH, _ATTR_ENGINEHEUR_RESULTS = 200, 201, 202
_ATTR_EXECUTION_PLAN_HANDLE, _ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 400, 401
_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: Final = 402
_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR: Final = 750
_ATTR_OPERATION_POINTWISE_XDESC, _ATTR_OPERATION_POINTWISE_YDESC = 751, 753
_ATTR_OPERATIONGRAPH_HANDLE, _ATTR_OPERATIONGRAPH_OPS = 800, 801
_ATTR_TENSOR_BYTE_ALIGNMENT, _ATTR_TENSOR_DATA_TYPE, _ATTR_TENSOR_DIMENSIONS = 900, 901, 902
_ATTR_TENSOR_STRIDES, _ATTR_TENSOR_UNIQUE_ID = 903, 906
_ATTR_VARIANT_PACK_UNIQUE_IDS, _ATTR_VARIANT_PACK_DATA_POINTERS = 1000, 1001
_ATTR_VARIANT_PACK_WORKSPACE: Final = 1003
# CUDNN_HEUR_MODE_A, then CUDNN_HEUR_MODE_FALLBACK.
_HEURISTIC_MODES: Final = (3, 2)
_MOST_CONFIGS: Final = 8
# One row of 32 numbers, the least that every engine takes.
_SHAPE: Final = (1, 32, 1, 1)
_COUNT: Final = 32
_ALIGNMENT: Final = 16
_LONGEST: Final = 1024


class _Tell(Protocol):
    def __call__(self, **facts: Any) -> None: ...  # noqa: ANN401 - whatever JSON holds


class Refused(Exception):
    """A call of the driver or of cuDNN answered with something else than 0."""

    def __init__(self, step: str, status: int, words: str) -> None:
        super().__init__(f"{step}: {status}")
        self.step = step
        self.status = status
        self.words = words


def main(libcudnn: Path, tell: _Tell) -> None:
    """Do the work, telling on the way."""
    try:
        driver = _Driver(_DRIVER, tell)
        _take_device(driver, tell)
        if sys.platform == "win32":
            os.add_dll_directory(str(libcudnn.parent))
        cudnn = _Cudnn(str(libcudnn), tell)
        tell(step="cudnnGetVersion", version=cudnn.version())
        _work(driver, cudnn, whole=_is_whole(libcudnn), tell=tell)
    except Refused as refusal:
        tell(step=refusal.step, status=refusal.status, detail=refusal.words)
    except (OSError, AttributeError) as error:
        tell(detail=str(error))


class _Library:
    """A loaded library whose calls answer 0 or raise ``Refused``."""

    def __init__(self, path: str, tell: _Tell) -> None:
        self._tell = tell
        tell(step=f"load {os.path.basename(path)}")  # noqa: PTH119 - a name, no place on this disk
        self.loaded = ctypes.CDLL(path)

    def __call__(self, name: str, *arguments: object) -> None:
        self._tell(step=name)
        status = getattr(self.loaded, name)(*arguments)
        if status != 0:
            raise Refused(name, status, self.words(status))

    def words(self, status: int) -> str:
        raise NotImplementedError


class _Driver(_Library):
    def words(self, status: int) -> str:
        name = ctypes.c_char_p()
        if hasattr(self.loaded, "cuGetErrorName"):
            self.loaded.cuGetErrorName(status, ctypes.byref(name))
        return (name.value or b"").decode("utf-8", "replace")


class _Cudnn(_Library):
    def words(self, status: int) -> str:
        """Return cuDNN's name for a status, and its own words for the last refusal, which cuDNN 9 keeps."""
        self.loaded.cudnnGetErrorString.restype = ctypes.c_char_p
        name: bytes = self.loaded.cudnnGetErrorString(status) or b""
        last = ctypes.create_string_buffer(_LONGEST)
        if hasattr(self.loaded, "cudnnGetLastErrorString"):
            self.loaded.cudnnGetLastErrorString(last, ctypes.c_size_t(len(last)))
        return ": ".join(text.decode("utf-8", "replace") for text in (name, last.value) if text)

    def version(self) -> int:
        self.loaded.cudnnGetVersion.restype = ctypes.c_size_t
        return int(self.loaded.cudnnGetVersion())


def _take_device(driver: _Driver, tell: _Tell) -> None:
    """Take the first GPU and make it current."""
    driver("cuInit", 0)
    number, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    driver("cuDriverGetVersion", ctypes.byref(number))
    driver("cuDeviceGet", ctypes.byref(device), 0)
    name = ctypes.create_string_buffer(256)
    driver("cuDeviceGetName", name, len(name), device)
    capability = []
    for attribute in _CAPABILITY:
        value = ctypes.c_int()
        driver("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        capability.append(str(value.value))
    tell(
        device=name.value.decode("utf-8", "replace"),
        capability=".".join(capability),
        driver_cuda=number.value,
    )
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver("cuCtxSetCurrent", context)


def _is_whole(libcudnn: Path) -> bool:
    """Whether the classic entry points are there: cudnn_jit has the graph library alone."""
    return any("cudnn_ops" in path.name for path in libcudnn.parent.iterdir())


def _work(driver: _Driver, cudnn: _Cudnn, *, whole: bool, tell: _Tell) -> None:
    tell(way="cudnnActivationForward" if whole else "a graph of one node")
    given = [float(number - _COUNT // 2) for number in range(_COUNT)]
    source, target = _Memory(driver, given), _Memory(driver, [-1.0] * _COUNT)
    handle = ctypes.c_void_p()
    cudnn("cudnnCreate", ctypes.byref(handle))
    (_classic if whole else _graph)(driver, cudnn, handle, source, target)
    driver("cuCtxSynchronize")
    got = target.read()
    wrong = sum(number != max(before, 0.0) for number, before in zip(got, given, strict=True))
    tell(step="compare", status=0 if wrong == 0 else 1, detail=f"{wrong} of {_COUNT} numbers are wrong")


class _Memory:
    """Some floats on the GPU."""

    def __init__(self, driver: _Driver, numbers: list[float]) -> None:
        self._driver = driver
        self._floats = ctypes.c_float * len(numbers)
        self._address = ctypes.c_uint64()
        here = self._floats(*numbers)
        size = ctypes.c_size_t(ctypes.sizeof(here))
        driver("cuMemAlloc_v2", ctypes.byref(self._address), size)
        driver("cuMemcpyHtoD_v2", self._address, here, size)

    @property
    def pointer(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._address.value)

    def read(self) -> list[float]:
        here = self._floats()
        self._driver("cuMemcpyDtoH_v2", here, self._address, ctypes.c_size_t(ctypes.sizeof(here)))
        return list(here)


def _classic(_: _Driver, cudnn: _Cudnn, handle: ctypes.c_void_p, source: _Memory, target: _Memory) -> None:
    tensor, activation = ctypes.c_void_p(), ctypes.c_void_p()
    cudnn("cudnnCreateTensorDescriptor", ctypes.byref(tensor))
    cudnn("cudnnSetTensor4dDescriptor", tensor, 0, _FLOAT32, *_SHAPE)
    cudnn("cudnnCreateActivationDescriptor", ctypes.byref(activation))
    cudnn("cudnnSetActivationDescriptor", activation, 1, 0, ctypes.c_double(0.0))
    one, zero = ctypes.byref(ctypes.c_float(1.0)), ctypes.byref(ctypes.c_float(0.0))
    out = (tensor, target.pointer)
    cudnn("cudnnActivationForward", handle, activation, one, tensor, source.pointer, zero, *out)


def _graph(driver: _Driver, cudnn: _Cudnn, handle: ctypes.c_void_p, source: _Memory, target: _Memory) -> None:
    before, after = (_tensor(cudnn, identity) for identity in (1, 2))
    relu, floats = _ints(_RELU_FORWARD), _ints(_FLOAT32)
    mode = _descriptor(
        cudnn,
        _POINTWISE,
        (_ATTR_POINTWISE_MODE, _POINTWISE_MODE, relu),
        (_ATTR_POINTWISE_MATH_PREC, _DATA_TYPE, floats),
    )
    node = _descriptor(
        cudnn,
        _OPERATION_POINTWISE,
        (_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, _DESCRIPTOR, _pointers(mode)),
        (_ATTR_OPERATION_POINTWISE_XDESC, _DESCRIPTOR, _pointers(before)),
        (_ATTR_OPERATION_POINTWISE_YDESC, _DESCRIPTOR, _pointers(after)),
    )
    graph = _descriptor(
        cudnn,
        _GRAPH,
        (_ATTR_OPERATIONGRAPH_HANDLE, _HANDLE, _pointers(handle)),
        (_ATTR_OPERATIONGRAPH_OPS, _DESCRIPTOR, _pointers(node)),
    )
    plan = _plan(cudnn, handle, graph)
    size, workspace = ctypes.c_int64(), ctypes.c_uint64()
    room = (ctypes.c_int64(1), None, ctypes.byref(size))
    cudnn("cudnnBackendGetAttribute", plan, _ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, _INT64, *room)
    driver("cuMemAlloc_v2", ctypes.byref(workspace), ctypes.c_size_t(max(size.value, 1)))
    pack = _descriptor(
        cudnn,
        _VARIANT_PACK,
        (_ATTR_VARIANT_PACK_UNIQUE_IDS, _INT64, _longs(1, 2)),
        (_ATTR_VARIANT_PACK_DATA_POINTERS, _POINTER, _pointers(source.pointer, target.pointer)),
        (_ATTR_VARIANT_PACK_WORKSPACE, _POINTER, _pointers(ctypes.c_void_p(workspace.value))),
    )
    cudnn("cudnnBackendExecute", handle, plan, pack)


def _plan(cudnn: _Cudnn, handle: ctypes.c_void_p, graph: ctypes.c_void_p) -> ctypes.c_void_p:
    """Return the first plan that an engine makes of the graph."""
    refusal = Refused("find an engine", _NOT_SUPPORTED, "no engine offers to do it")
    for mode in _HEURISTIC_MODES:
        try:
            sought = (
                (_ATTR_ENGINEHEUR_OPERATION_GRAPH, _DESCRIPTOR, _pointers(graph)),
                (_ATTR_ENGINEHEUR_MODE, _HEURISTIC_MODE, _ints(mode)),
            )
            configs = _results(cudnn, _descriptor(cudnn, _ENGINE_HEURISTIC, *sought))
        except Refused as error:
            refusal = error
            continue
        for config in configs:
            try:
                chosen = (
                    (_ATTR_EXECUTION_PLAN_HANDLE, _HANDLE, _pointers(handle)),
                    (_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, _DESCRIPTOR, _pointers(config)),
                )
                return _descriptor(cudnn, _PLAN, *chosen)
            except Refused as error:
                refusal = error
    raise refusal


def _results(cudnn: _Cudnn, heuristic: ctypes.c_void_p) -> list[ctypes.c_void_p]:
    configs = [ctypes.c_void_p() for _ in range(_MOST_CONFIGS)]
    for config in configs:
        cudnn("cudnnBackendCreateDescriptor", _ENGINE_CONFIG, ctypes.byref(config))
    found = ctypes.c_int64()
    room = (ctypes.c_int64(len(configs)), ctypes.byref(found), _pointers(*configs))
    cudnn("cudnnBackendGetAttribute", heuristic, _ATTR_ENGINEHEUR_RESULTS, _DESCRIPTOR, *room)
    return configs[: found.value]


def _tensor(cudnn: _Cudnn, identity: int) -> ctypes.c_void_p:
    return _descriptor(
        cudnn,
        _TENSOR,
        (_ATTR_TENSOR_DATA_TYPE, _DATA_TYPE, _ints(_FLOAT32)),
        (_ATTR_TENSOR_DIMENSIONS, _INT64, _longs(*_SHAPE)),
        (_ATTR_TENSOR_STRIDES, _INT64, _longs(_COUNT, 1, 1, 1)),
        (_ATTR_TENSOR_UNIQUE_ID, _INT64, _longs(identity)),
        (_ATTR_TENSOR_BYTE_ALIGNMENT, _INT64, _longs(_ALIGNMENT)),
    )


def _descriptor(cudnn: _Cudnn, kind: int, *attributes: tuple[int, int, ctypes.Array[Any]]) -> ctypes.c_void_p:
    """Make a descriptor of the backend API, with (name, type, values) as its attributes."""
    made = ctypes.c_void_p()
    cudnn("cudnnBackendCreateDescriptor", kind, ctypes.byref(made))
    for name, sort, values in attributes:
        cudnn("cudnnBackendSetAttribute", made, name, sort, ctypes.c_int64(len(values)), values)
    cudnn("cudnnBackendFinalize", made)
    return made


def _ints(*values: int) -> ctypes.Array[Any]:
    return (ctypes.c_int * len(values))(*values)


def _longs(*values: int) -> ctypes.Array[Any]:
    return (ctypes.c_int64 * len(values))(*values)


def _pointers(*values: ctypes.c_void_p) -> ctypes.Array[Any]:
    return (ctypes.c_void_p * len(values))(*(value.value for value in values))


def _teller() -> _Tell:
    """Return what writes to the child's stdout, which is then closed to the library."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**facts: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        out.write(json.dumps(facts) + "\n")
        out.flush()

    return tell


def _leave_no_core() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _leave_no_core()
    main(Path(sys.argv[1]), _teller())
