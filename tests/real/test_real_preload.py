"""``adopt`` and ``preload`` with NVIDIA's own wheels, beside another release on LD_LIBRARY_PATH; no GPU."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from real import wheel

from cudnn_redist import adopt
from cudnn_redist.findings import faults

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist import Prefix

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="libraries for x86-64 Linux"),
]

PROGRAM = """
import ctypes, json, sys
from cudnn_redist import preload
told = preload(sys.argv[1])
cudnn = ctypes.CDLL("libcudnn.so.9")
cudnn.cudnnGetVersion.restype = ctypes.c_size_t
made = ctypes.c_void_p()
status = cudnn.cudnnBackendCreateDescriptor(0, ctypes.byref(made)) or cudnn.cudnnBackendFinalize(made)
print(json.dumps({
    "promised": told.promised,
    "findings": [[finding.code, finding.detail] for finding in told.findings],
    "version": cudnn.cudnnGetVersion(),
    "status": status,
}))
"""


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prefix]:
    """9.20 and 9.23 whole, and the JIT library of 9.27, each from its wheel."""
    root = tmp_path_factory.mktemp("root")
    wheels = {"9.20": wheel.CUDNN_9_20, "9.23": wheel.CUDNN_9_23, "jit": wheel.CUDNN_JIT}
    return {
        name: adopt(wheel.download(each, wheel.cache_directory()).path, root=root)
        for name, each in wheels.items()
    }


def preloaded(prefix: Prefix, beside: Path) -> dict[str, Any]:
    """Preload in a child, whose LD_LIBRARY_PATH leads to another release, and make a descriptor."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(prefix.path)],
        env={**os.environ, "LD_LIBRARY_PATH": str(beside)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_wheel_becomes_a_sound_prefix_of_the_release_it_is(adopted: dict[str, Prefix]) -> None:
    places = {name: prefix.record.levels[1:] for name, prefix in adopted.items()}
    assert places == {
        "9.20": ("9.20.0", "cudnn", "linux-x86_64", "cuda13"),
        "9.23": ("9.23.2", "cudnn", "linux-x86_64", "cuda12"),
        "jit": ("9.27.0", "cudnn_jit", "linux-x86_64", "cuda13"),
    }
    assert [faults(prefix.verify()) for prefix in adopted.values()] == [(), (), ()]


def test_nothing_is_promised_for_9_20_and_rightly_so(adopted: dict[str, Prefix]) -> None:
    told = preloaded(adopted["9.20"], adopted["9.23"].lib_dir)
    assert told["promised"] is False
    assert told["findings"] == [["named-not-shipped", "names libcudnn_engines_tensor_ir.so"]]
    assert (told["version"], told["status"]) == (92000, 1002)


def test_the_whole_9_23_is_promised_beside_9_20(adopted: dict[str, Prefix]) -> None:
    told = preloaded(adopted["9.23"], adopted["9.20"].lib_dir)
    assert (told["promised"], told["findings"]) == (True, [])
    assert (told["version"], told["status"]) == (92302, 0)


def test_nothing_is_promised_for_the_jit_library(adopted: dict[str, Prefix]) -> None:
    told = preloaded(adopted["jit"], adopted["9.23"].lib_dir)
    assert "named-not-shipped" in {code for code, _ in told["findings"]}
    assert (told["promised"], told["version"]) == (False, 92700)
