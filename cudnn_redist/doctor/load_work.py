"""Load the cuDNN of a prefix and ask it who it is: a program of its own, run in a child, which needs no GPU.

    python -I load_work.py LIBCUDNN

It prints JSON objects, one a line, each of which adds to what is known; ``step`` is what is tried next, so that the
last one tells where a child died. The functions are those of cuDNN's ``cudnn_graph.h`` (up to 8, ``cudnn.h`` and
``cudnn_backend.h``); a release that lacks one is not asked.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any, Final, Protocol

__all__ = ["main"]

# CUDNN_BACKEND_POINTWISE_DESCRIPTOR: the one that may be finalised empty. An engine configuration so treated ends 9.20.
_POINTWISE: Final = 0
_DRIVER: Final = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_PIPE: Final = 65536


class _Tell(Protocol):
    def __call__(self, **facts: Any) -> None: ...  # noqa: ANN401 - whatever JSON holds


def main(libcudnn: Path, tell: _Tell) -> None:
    """Load and ask, telling on the way."""
    if sys.platform == "win32":
        os.add_dll_directory(str(libcudnn.parent))
    tell(step="loading it")
    try:
        cudnn = ctypes.CDLL(str(libcudnn))
    except OSError as error:
        tell(refused={libcudnn.name: str(error)}, step="done")
        return
    tell(step="asking for its version")
    tell(version=_number(cudnn, "cudnnGetVersion"), cudart=_number(cudnn, "cudnnGetCudartVersion"))
    tell(step="making an empty descriptor")
    status = _descriptor_status(cudnn)
    tell(status=status, named=_name_of(status, cudnn))
    tell(mapped=_mapped(), step="loading its parts")
    # Only now, so that what stands in the folder does not change which parts cuDNN itself found.
    refusals = {part.name: _refusal(str(part)) for part in _parts(libcudnn)}
    tell(refused={name: refusal for name, refusal in refusals.items() if refusal})
    tell(driver=_refusal(_DRIVER) is None, step="done")


def _refusal(library: str) -> str | None:
    """Load a library, and return why that cannot be done."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


def _parts(libcudnn: Path) -> list[Path]:
    """Return what is to ``libcudnn.so.9`` as ``libcudnn_ops.so.9`` is; names with other endings lead to the same."""
    before, _, ending = libcudnn.name.partition("cudnn")
    return sorted(libcudnn.parent.glob(f"{before}cudnn_*{ending}"))


def _number(cudnn: ctypes.CDLL, name: str) -> int | None:
    try:
        function = getattr(cudnn, name)
    except AttributeError:
        return None
    function.restype = ctypes.c_size_t
    return int(function())


def _descriptor_status(cudnn: ctypes.CDLL) -> int | None:
    """Make and finalise a descriptor, for which cuDNN loads every part of the graph library and compares versions."""
    made = ctypes.c_void_p()
    try:
        status = cudnn.cudnnBackendCreateDescriptor(_POINTWISE, ctypes.byref(made))
        return int(status or cudnn.cudnnBackendFinalize(made))
    except AttributeError:
        return None


def _name_of(status: int | None, cudnn: ctypes.CDLL) -> str | None:
    """Return cuDNN's own name for a status, such as ``CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH``."""
    if status is None or not hasattr(cudnn, "cudnnGetErrorString"):
        return None
    cudnn.cudnnGetErrorString.restype = ctypes.c_char_p
    name: bytes | None = cudnn.cudnnGetErrorString(status)
    return None if name is None else name.decode("utf-8", "replace")


def _mapped() -> list[str]:
    """Return the files of cuDNN that are loaded, as far as the system tells (proc(5), maps)."""
    try:
        maps = Path("/proc/self/maps").read_bytes()
    except OSError:
        return []
    # Bytes, since a path may hold what a text takes for the end of a line; that of Linux is written as an escape.
    paths = {os.fsdecode(line[line.index(b"/") :]) for line in maps.split(b"\n") if b"/" in line}
    return sorted(path.replace("\\012", "\n") for path in paths if Path(path).name.startswith("libcudnn"))


class _Telling:
    """Where the facts go: the child's stdout, which is then closed to the library.

    What the library prints, told as ``printed``, goes into a pipe that takes no more than it can hold.
    """

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self._printed = b""
        self._pipe, into = os.pipe()
        if sys.platform != "win32":
            os.set_blocking(self._pipe, False)
            os.set_blocking(into, False)
            os.dup2(into, 1)
            os.dup2(into, 2)

    def __call__(self, **facts: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        if sys.platform != "win32":
            with contextlib.suppress(BlockingIOError):
                self._printed += os.read(self._pipe, _PIPE)
        self._out.write(json.dumps(facts | {"printed": self._printed.decode("utf-8", "replace")}) + "\n")
        self._out.flush()


def _leave_no_core() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _leave_no_core()
    main(Path(sys.argv[1]), _Telling())
