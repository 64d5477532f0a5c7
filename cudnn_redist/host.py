"""What this machine says about its platform and its CUDA, and where that was read.

What only some questions need is imported when they are asked: a fetch that finds everything in place starts here.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UsageError
from .manifest.targets import CudaVariant, Platform

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "Machine",
    "Toolkit",
    "default_root",
    "driver_cuda",
    "find_toolkit",
    "host_platform",
    "is_platform_of",
]

_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "x64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}
_FIRST_L4T_WITH_SBSA = 38
_L4T_RELEASE = re.compile(r"#\s*R([0-9]{1,3})\b")
_CUDA_H_VERSION = re.compile(r"^\s*#\s*define\s+CUDA_VERSION\s+([0-9]{4,6})\b", re.MULTILINE)
_VERSION = re.compile(r"\b([1-9][0-9]?)\.([0-9]{1,2})\b")
_NVCC_RELEASE = re.compile(r"\brelease ([0-9.]+)")


def driver_cuda(load: Callable[[str], ctypes.CDLL] | None = None) -> CudaVariant | None:
    """Return the newest CUDA that the installed driver runs, or ``None`` without a driver.

    Asks the driver library itself (``cuDriverGetVersion``, which needs no initialisation and no GPU).
    """
    import ctypes

    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ask = (load or ctypes.CDLL)(name).cuDriverGetVersion
    except (OSError, AttributeError):
        return None
    number = ctypes.c_int(0)
    if ask(ctypes.byref(number)) != 0:
        return None
    return _of_number(number.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the operating system calls itself, and where to ask more.

    ``root`` is where its files are looked up, ``environ`` its variables, ``driver`` tells the newest CUDA that its
    driver runs (``None``: no driver).
    """

    system: str
    machine: str
    release: str = ""
    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    driver: Callable[[], CudaVariant | None] = driver_cuda

    @classmethod
    def this(cls) -> Machine:
        """Ask the operating system."""
        if hasattr(os, "uname"):
            told = os.uname()
            return cls(system=told.sysname, machine=told.machine, release=told.release)
        import platform

        return cls(system=platform.system(), machine=platform.machine(), release=platform.release())


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """A CUDA toolkit found here: its version and the place that gave it away."""

    version: CudaVariant
    found: str


def host_platform(machine: Machine) -> tuple[Platform, str]:
    """Return the platform of ``machine`` and the sentence that says why.

    Raises ``UsageError``, asking for an explicit platform, where the machine has none or its signs conflict.
    """
    system, arch = machine.system.lower(), _MACHINES.get(machine.machine.lower())
    told = f"{machine.system or 'unknown system'} {machine.machine or 'unknown machine'}"
    if system == "linux" and machine.machine.lower() == "ppc64le":
        return Platform("linux-ppc64le"), f"this machine ({told})"
    if arch is None or system not in ("linux", "windows"):
        raise UsageError(
            f"there is no redist platform for this machine ({told}); give one with --platform", phase="choose"
        )
    if system == "linux" and arch == "arm64":
        return _arm_linux(machine)
    return Platform(f"{system}-{arch}"), f"this machine ({told})"


def is_platform_of(machine: Machine, platform: str) -> bool:
    """Whether programs of ``platform`` run on ``machine``; ``False`` where nobody can tell."""
    try:
        return host_platform(machine)[0] == platform
    except UsageError:
        return False


def find_toolkit(environ: Mapping[str, str] | None = None, *, root: Path = Path("/")) -> Toolkit | None:
    """Return the CUDA toolkit this machine would build with, or ``None``.

    Looked at in order: ``CUDA_PATH``, ``CUDA_HOME``, ``nvcc`` on ``PATH``, ``/usr/local/cuda``.
    """
    for version, found in _toolkits(os.environ if environ is None else environ, root):
        if version is not None:
            return Toolkit(version=version, found=f"{found} ({version.version})")
    return None


def default_root(environ: Mapping[str, str] | None = None) -> Path:
    """Return where prefixes go when nobody says: ``CUDNN_REDIST_ROOT``, else the user's data directory.

    Raises ``UsageError``, asking for a root, where the user has no home, as in many a container, or where the
    library that knows the user's directories is not installed, as beside torch.
    """
    environ = os.environ if environ is None else environ
    if environ.get("CUDNN_REDIST_ROOT"):
        return Path(environ["CUDNN_REDIST_ROOT"])
    try:
        from platformdirs import user_data_path
    except ImportError as error:
        raise UsageError(f"{error}; give --root (CUDNN_REDIST_ROOT)") from error
    try:
        # Its older versions leave a "~" that stands for no home.
        return user_data_path("cudnn-redist", appauthor=False).expanduser()
    except RuntimeError as error:
        raise UsageError(
            "this user has no home to keep prefixes in; give --root (CUDNN_REDIST_ROOT)"
        ) from error


def _arm_linux(machine: Machine) -> tuple[Platform, str]:
    """Tell Arm servers (sbsa) from Jetson (aarch64): both call themselves aarch64."""
    l4t, signs = _l4t_release(machine.root), _tegra_signs(machine)
    if l4t is None and not signs:
        return Platform("linux-sbsa"), "this machine (64-bit Arm Linux, no sign of Tegra)"
    if l4t is None or not signs:
        seen = "; ".join(signs) if signs else f"L4T {l4t} in /etc/nv_tegra_release, nothing else says Tegra"
        raise UsageError(
            f"cannot tell whether this Arm machine is a Jetson ({seen}); "
            "give --platform linux-sbsa or linux-aarch64",
            phase="choose",
        )
    if l4t >= _FIRST_L4T_WITH_SBSA:
        return Platform("linux-sbsa"), f"this machine (Tegra with L4T {l4t}, which runs sbsa builds)"
    return Platform("linux-aarch64"), f"this machine (Tegra with L4T {l4t})"


def _l4t_release(root: Path) -> int | None:
    match = _L4T_RELEASE.search(_text(root / "etc/nv_tegra_release"))
    return int(match[1]) if match else None


def _tegra_signs(machine: Machine) -> list[str]:
    signs = []
    if "tegra" in machine.release.lower():
        signs.append(f"the kernel is {machine.release}")
    compatible = _text(machine.root / "proc/device-tree/compatible")
    signs.extend(f"the device tree says {name}" for name in compatible.split("\0") if "tegra" in name)
    return signs


def _toolkits(environ: Mapping[str, str], root: Path) -> Iterator[tuple[CudaVariant | None, str]]:
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if environ.get(variable):
            yield _toolkit_version(Path(environ[variable])), f"{variable} {environ[variable]}"
    from shutil import which

    nvcc = which("nvcc", path=environ.get("PATH", ""))
    if nvcc:
        yield _toolkit_version(Path(os.path.realpath(nvcc)).parent.parent), f"nvcc {nvcc}"
        yield _asked_nvcc(nvcc), f"{nvcc} --version"
    yield _toolkit_version(root / "usr/local/cuda"), "/usr/local/cuda"


def _toolkit_version(directory: Path) -> CudaVariant | None:
    return (
        _of_version_json(_text(directory / "version.json"))
        or _of_text(_text(directory / "version.txt"))
        or _of_cuda_h(_text(directory / "include/cuda.h"))
    )


def _of_version_json(text: str) -> CudaVariant | None:
    try:
        return _of_text(json.loads(text)["cuda"]["version"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _of_cuda_h(text: str) -> CudaVariant | None:
    match = _CUDA_H_VERSION.search(text)
    return _of_number(int(match[1])) if match else None


def _of_number(number: int) -> CudaVariant | None:
    """Read CUDA's own packing, 1000 * major + 10 * minor (cuda.h, ``CUDA_VERSION``)."""
    major, minor = number // 1000, number % 1000 // 10
    return CudaVariant(major, minor) if major > 0 else None


def _of_text(text: str) -> CudaVariant | None:
    match = _VERSION.search(text)
    return CudaVariant(int(match[1]), int(match[2])) if match else None


def _asked_nvcc(nvcc: str) -> CudaVariant | None:
    """Ask a compiler that lies apart from its toolkit (distribution packages, wrappers)."""
    import subprocess

    try:
        told = subprocess.run(  # noqa: S603 - the user's own nvcc, found on the user's own PATH
            [nvcc, "--version"], capture_output=True, text=True, timeout=10, check=False, errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    release = _NVCC_RELEASE.search(told)
    return _of_text(release[1]) if release else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
