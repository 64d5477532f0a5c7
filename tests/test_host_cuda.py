"""Which CUDA a machine has: its toolkit, else its driver."""

from __future__ import annotations

import ctypes
import json
import sys
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.host import driver_cuda, find_toolkit
from cudnn_redist.manifest import CudaVariant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        pytest.param(
            "version.json", json.dumps({"cuda": {"name": "CUDA SDK", "version": "12.8.1"}}), "12.8", id="json"
        ),
        pytest.param("version.txt", "CUDA Version 10.2.89\n", "10.2", id="text"),
        pytest.param(
            "include/cuda.h", "#ifdef X\n#endif\n  #  define CUDA_VERSION 13000\n", "13.0", id="header"
        ),
        pytest.param("include/cuda.h", "#define CUDA_VERSION 11080 /* 11.8 */\n", "11.8", id="header-minor"),
    ],
)
def test_a_toolkit_tells_its_version(name: str, text: str, version: str, tmp_path: Path) -> None:
    write(tmp_path / "usr/local/cuda" / name, text)
    toolkit = find_toolkit({}, root=tmp_path)
    assert toolkit is not None
    assert toolkit.version == CudaVariant.asked(version)
    assert toolkit.found == f"/usr/local/cuda ({version})"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("version.json", "", id="empty"),
        pytest.param("version.json", "{", id="cut"),
        pytest.param("version.json", "[]", id="array"),
        pytest.param("version.json", '{"cuda": "12.8"}', id="text-for-object"),
        pytest.param("version.json", '{"cuda": {"version": 12.8}}', id="number-for-text"),
        pytest.param("version.json", "[" * 100_000, id="nested-beyond-reason"),
        pytest.param("version.txt", "CUDA Version unknown", id="no-number"),
        pytest.param("version.txt", "9" * 5000 + "." + "9" * 5000, id="absurd-numbers"),
        pytest.param("include/cuda.h", "#define CUDA_VERSION CUDA_API_VERSION", id="header-of-names"),
        pytest.param("include/cuda.h", "#define CUDA_VERSION 0000", id="header-of-zeros"),
        pytest.param("include/cuda.h", "#define CUDA_VERSION " + "9" * 5000, id="header-of-nines"),
        pytest.param("unrelated", "", id="nothing-there"),
    ],
)
def test_a_damaged_toolkit_is_none(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path / "usr/local/cuda" / name, text)
    assert find_toolkit({}, root=tmp_path) is None


def test_a_damaged_version_file_leaves_the_header(tmp_path: Path) -> None:
    write(tmp_path / "usr/local/cuda/version.json", "{")
    (tmp_path / "usr/local/cuda/version.txt").mkdir()
    write(tmp_path / "usr/local/cuda/include/cuda.h", "#define CUDA_VERSION 12080\n")
    toolkit = find_toolkit({}, root=tmp_path)
    assert toolkit is not None
    assert toolkit.version == CudaVariant(12, 8)


def toolkit_at(directory: Path, version: str) -> str:
    write(directory / "version.txt", f"CUDA Version {version}.1")
    return str(directory)


def nvcc_at(directory: Path, says: str) -> str:
    """Put a compiler into ``directory``/bin and return the directory to put on PATH."""
    nvcc = write(directory / "bin/nvcc", f"#!/bin/sh\n{says}\n")
    nvcc.chmod(0o755)
    return str(nvcc.parent)


NVCC_SAYS = """echo 'nvcc: NVIDIA (R) Cuda compiler driver'
echo 'Cuda compilation tools, release 12.4, V12.4.131'"""


def test_places_are_asked_in_order(tmp_path: Path) -> None:
    environ = {
        "CUDA_PATH": toolkit_at(tmp_path / "path", "12.1"),
        "CUDA_HOME": toolkit_at(tmp_path / "home", "12.2"),
        "PATH": nvcc_at(tmp_path / "wrapper", NVCC_SAYS),
    }
    toolkit_at(tmp_path / "usr/local/cuda", "12.5")
    seen = []
    for name in (*environ, "nothing"):
        toolkit = find_toolkit(environ, root=tmp_path)
        assert toolkit is not None
        seen.append((toolkit.version.version, toolkit.found.split()[0]))
        environ.pop(name, None)
    nvcc = str(tmp_path / "wrapper/bin/nvcc")
    assert seen == [("12.1", "CUDA_PATH"), ("12.2", "CUDA_HOME"), ("12.4", nvcc), ("12.5", "/usr/local/cuda")]


def test_a_variable_that_names_no_toolkit_is_passed_over(tmp_path: Path) -> None:
    environ = {
        "CUDA_PATH": str(tmp_path / "missing"),
        "CUDA_HOME": toolkit_at(tmp_path / "home", "13.0"),
    }
    toolkit = find_toolkit(environ, root=tmp_path)
    assert toolkit is not None
    assert toolkit.found == f"CUDA_HOME {tmp_path / 'home'} (13.0)"


def test_the_toolkit_around_nvcc_is_read_through_links(tmp_path: Path) -> None:
    toolkit_at(tmp_path / "cuda-12.6", "12.6")
    nvcc_at(tmp_path / "cuda-12.6", "exit 1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvcc").symlink_to("../cuda-12.6/bin/nvcc")
    toolkit = find_toolkit({"PATH": str(tmp_path / "bin")}, root=tmp_path)
    assert toolkit is not None
    assert toolkit.found == f"nvcc {tmp_path / 'bin/nvcc'} (12.6)"


@pytest.mark.parametrize("says", ["exit 1", "echo no release here", "echo release .", "printf '\\377\\376'"])
def test_an_nvcc_that_tells_nothing_is_passed_over(says: str, tmp_path: Path) -> None:
    environ = {"PATH": nvcc_at(tmp_path / "odd", says)}
    assert find_toolkit(environ, root=tmp_path) is None
    toolkit_at(tmp_path / "usr/local/cuda", "12.5")
    toolkit = find_toolkit(environ, root=tmp_path)
    assert toolkit is not None
    assert toolkit.version == CudaVariant(12, 5)


def test_an_nvcc_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    nvcc = write(tmp_path / "bin/nvcc", "\x7fELF no program at all")
    nvcc.chmod(0o755)
    assert find_toolkit({"PATH": str(nvcc.parent)}, root=tmp_path) is None


def test_the_environment_of_the_process_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_PATH", toolkit_at(tmp_path / "path", "12.1"))
    toolkit = find_toolkit()
    assert toolkit is not None
    assert toolkit.version == CudaVariant(12, 1)


class Driver:
    """Stands for the driver's library, which no test machine need have."""

    def __init__(self, answer: int, status: int = 0) -> None:
        def get_version(number: object) -> int:
            ctypes.cast(number, ctypes.POINTER(ctypes.c_int))[0] = answer  # type: ignore[arg-type]
            return status

        self.cuDriverGetVersion = get_version


def no_library(_name: str) -> Driver:
    raise OSError("cannot open shared object file")


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        pytest.param(lambda _: Driver(12080), CudaVariant(12, 8), id="12.8"),
        pytest.param(lambda _: Driver(13000), CudaVariant(13, 0), id="13.0"),
        pytest.param(lambda _: Driver(0), None, id="stub-library"),
        pytest.param(lambda _: Driver(-5), None, id="nonsense"),
        pytest.param(lambda _: Driver(12080, status=35), None, id="call-fails"),
        pytest.param(lambda _: object(), None, id="library-without-the-function"),
        pytest.param(no_library, None, id="no-driver"),
    ],
)
def test_what_the_driver_runs(load: Callable[[str], ctypes.CDLL], expected: CudaVariant | None) -> None:
    assert driver_cuda(load) == expected


def test_the_driver_library_is_named_as_the_loader_knows_it() -> None:
    asked = []

    def load(name: str) -> ctypes.CDLL:
        asked.append(name)
        raise OSError

    assert driver_cuda(load) is None
    assert asked == ["nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"]
