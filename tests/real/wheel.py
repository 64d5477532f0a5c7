"""Real cuDNN bits from PyPI: one wheel, pinned by its sha256 and kept in a cache outside the checkout.

NVIDIA's binaries are never committed; what a clone holds is the pin.
"""

from __future__ import annotations

import email
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "CUDNN_REDIST_REAL_CACHE"
_DISTRIBUTION = re.compile(r"nvidia-(?P<component>cudnn(?:-jit)?)-cu(?P<major>\d+)")
_NVIDIA_PLATFORMS = {
    "manylinux_2_27_x86_64": "linux-x86_64",
    "manylinux_2_27_aarch64": "linux-sbsa",
    "win_amd64": "windows-x86_64",
}


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel of cuDNN; its name says which of NVIDIA's archives holds the same files."""

    distribution: str
    version: str
    tag: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.distribution.replace('-', '_')}-{self.version}-py3-none-{self.tag}.whl"

    @property
    def label(self) -> str:
        return self.version.rpartition(".")[0]

    @property
    def platform(self) -> str:
        return _NVIDIA_PLATFORMS[self.tag]

    @property
    def component(self) -> str:
        return self._named["component"].replace("-", "_")

    @property
    def cuda_major(self) -> str:
        return self._named["major"]

    @property
    def _named(self) -> re.Match[str]:
        named = _DISTRIBUTION.fullmatch(self.distribution)
        if named is None:
            raise ValueError(f"{self.distribution} is not a cuDNN wheel")
        return named


CUDNN_JIT = Wheel(
    distribution="nvidia-cudnn-jit-cu13",
    version="9.27.0.42",
    tag="manylinux_2_27_x86_64",
    sha256="d78f193e03ae0d884101d50e9019bffb9f99dabc5a58f50e069d145b84730c35",
)

CUDNN_JIT_SBSA = Wheel(
    distribution="nvidia-cudnn-jit-cu13",
    version="9.27.0.42",
    tag="manylinux_2_27_aarch64",
    sha256="7038db95da99d2c38bbabfe357b09e99d1a11694f1649cc3189c77b0dcf7e628",
)
# There is no smaller one for Windows: the JIT library is published for Linux alone.
CUDNN_WINDOWS = Wheel(
    distribution="nvidia-cudnn-cu13",
    version="9.27.0.42",
    tag="win_amd64",
    sha256="7d96f634adafd55c72231eb0500ca77ab109ec8ebff7b33000b76e081bc4558e",
)

# One that names a part it does not ship, and a later release that ships it: made for each other's trouble.
CUDNN_9_20 = Wheel(
    distribution="nvidia-cudnn-cu13",
    version="9.20.0.48",
    tag="manylinux_2_27_x86_64",
    sha256="0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304",
)
CUDNN_9_23 = Wheel(
    distribution="nvidia-cudnn-cu12",
    version="9.23.2.1",
    tag="manylinux_2_27_x86_64",
    sha256="a5e706320218dc7d661b0e13402f204eeccd07b18d061b4d60668f80e464dd1e",
)


@dataclass(frozen=True, kw_only=True)
class WheelFile:
    """A downloaded wheel: where it is, and what of it belongs into NVIDIA's archive."""

    wheel: Wheel
    path: Path

    def open(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.path)

    @cached_property
    def files(self) -> dict[str, zipfile.ZipInfo]:
        """Headers and libraries by the path they have below a prefix: ``lib/libcudnn.so.9``."""
        home = f"nvidia/{self.wheel.component}/"
        named = {info.filename.removeprefix(home): info for info in self._entries}
        return {name: info for name, info in named.items() if name.startswith(("bin/", "include/", "lib/"))}

    @cached_property
    def license(self) -> zipfile.ZipInfo:
        (info,) = (info for info in self._entries if ".dist-info/licenses/" in info.filename)
        return info

    @cached_property
    def _entries(self) -> list[zipfile.ZipInfo]:
        with self.open() as archive:
            return [info for info in archive.infolist() if not info.is_dir()]

    @cached_property
    def summary(self) -> str:
        with self.open() as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return str(email.message_from_bytes(archive.read(name))["Summary"])


def cache_directory() -> Path:
    """Return the directory for wheels and the trees made of them, created if need be."""
    given = os.environ.get(CACHE_VARIABLE)
    cache = Path(given) if given else platformdirs.user_cache_path("cudnn-redist") / "real"
    cache.mkdir(parents=True, exist_ok=True)
    return cache.absolute()


def download(wheel: Wheel, cache: Path) -> WheelFile:
    """Fetch ``wheel`` with pip, which checks the sha256, unless ``cache`` holds those bytes already."""
    path = cache / wheel.file_name
    if not path.exists() or sha256_of(path) != wheel.sha256:
        path.unlink(missing_ok=True)
        requirement = cache / f"{wheel.file_name}.{os.getpid()}.txt"
        requirement.write_text(f"{wheel.distribution}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
        try:
            subprocess.run(_pip_download(wheel, requirement, cache), check=True, stdin=subprocess.DEVNULL)
        finally:
            requirement.unlink()
    return WheelFile(wheel=wheel, path=path)


def _pip_download(wheel: Wheel, requirement: Path, cache: Path) -> list[str | Path]:
    # The platform is the wheel's, not this host's: an Arm machine compares the same x86-64 files.
    choice = ["--no-deps", "--only-binary=:all:", "--platform", wheel.tag]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", *choice]
    return [*pip, "--dest", cache, "--require-hashes", "--requirement", requirement]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
