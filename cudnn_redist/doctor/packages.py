"""The cuDNNs that package managers know of: dpkg's and conda's by their databases, rpm's by asking it."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from .copies import Origin
from .system import text_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .system import System

__all__ = ["conda_packages", "dpkg_packages", "jetpack", "rpm_packages"]

_LIBRARY = re.compile(r"libcudnn[^/]*\.so\.[0-9]+")
_CUDA_IN_NAME = re.compile(r"-cuda-([0-9]{1,3})")
_CUDA_IN_VERSION = re.compile(r"\+cuda([0-9]{1,3})")
_CUDA_IN_BUILD = re.compile(r"cuda_?([0-9]{2})")
_L4T = re.compile(r"#\s*R([0-9]+).*?REVISION:\s*([0-9.]+)")
_SECONDS = 60.0


def dpkg_packages(system: System) -> Iterator[tuple[Path, Origin]]:
    """Yield the directories of installed Debian packages of cuDNN (dpkg(1): ``status`` and ``info/NAME.list``)."""
    database = system.place("/var/lib/dpkg")
    for stanza in text_at(database / "status").split("\n\n"):
        if "cudnn" not in stanza:
            continue
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line[1:])
        name, version = fields.get("Package", ""), fields.get("Version", "")
        if "cudnn" not in name or not fields.get("Status", "").endswith(" installed"):
            continue
        lists = (
            database / "info" / f"{name}{ending}.list" for ending in ("", f":{fields.get('Architecture')}")
        )
        origin = Origin(
            kind="package",
            name=f"{name} {version}",
            version=version.partition("-")[0].partition("+")[0],
            cuda=_cuda(name, version),
            mend=f"sudo apt-get install --reinstall {name}={version}",
        )
        yield from ((directory, origin) for directory in _directories(system, "".join(map(text_at, lists))))


def rpm_packages(system: System) -> Iterator[tuple[Path, Origin]]:
    """Yield the directories of installed RPM packages of cuDNN, as ``rpm`` tells them, where there is one."""
    rpm = shutil.which("rpm", path=system.environ.get("PATH", ""))
    databases = (system.place(each) for each in ("/usr/lib/sysimage/rpm", "/var/lib/rpm"))
    database = next((each for each in databases if each.is_dir()), None)
    if rpm is None or database is None:
        return
    query = ["-qa", "*cudnn*", "--queryformat", "[%{=NAME} %{=VERSION} %{FILENAMES}\\n]"]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own rpm, which only reads here
            [rpm, "--dbpath", str(database), *query],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    lines = (line.split(" ", 2) for line in done.stdout.decode("utf-8", "replace").splitlines())
    for name, version, path in (words for words in lines if len(words) == 3):  # noqa: PLR2004 - as it was asked
        origin = Origin(
            kind="package",
            name=f"{name} {version}",
            version=version,
            cuda=_cuda(name, version),
            mend=f"sudo dnf reinstall {name}-{version}",
        )
        yield from ((directory, origin) for directory in _directories(system, path))


def conda_packages(prefix: Path) -> Iterator[tuple[Path, Origin]]:
    """Yield the directory of cuDNN of a conda environment (``conda-meta/*.json``)."""
    try:
        records = sorted((prefix / "conda-meta").glob("*cudnn*.json"))
    except OSError:
        return
    for record in records:
        try:
            told = json.loads(text_at(record))
            name, version, files = str(told["name"]), str(told["version"]), told.get("files", ())
            build = _CUDA_IN_BUILD.search(str(told.get("build", "")))
            paths = [file for file in files if _LIBRARY.match(posixpath.basename(file))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        origin = Origin(
            kind="conda",
            name=f"{name} {version}",
            version=version,
            cuda=int(build[1]) if build else None,
            mend=f"conda install --prefix {prefix} --force-reinstall {name}={version}",
        )
        for directory in dict.fromkeys(posixpath.dirname(path) for path in paths):
            yield prefix / directory, origin


def jetpack(system: System) -> str | None:
    """Return the release of Jetson Linux, such as ``36.4.3``, where this is a Jetson."""
    told = _L4T.search(system.text("/etc/nv_tegra_release"))
    return f"{told[1]}.{told[2]}" if told else None


def _cuda(name: str, version: str) -> int | None:
    """Return the CUDA that a package is for: ``libcudnn9-cuda-13``, or up to 8 ``8.9.7.29-1+cuda12.2``."""
    told = _CUDA_IN_NAME.search(name) or _CUDA_IN_VERSION.search(version)
    return int(told[1]) if told else None


def _directories(system: System, files: str) -> list[Path]:
    """Return the directories of the libraries of cuDNN among the lines of a list of files."""
    paths = (line.strip() for line in files.splitlines())
    found = (posixpath.dirname(path) for path in paths if _LIBRARY.match(posixpath.basename(path)))
    return [system.place(directory) for directory in dict.fromkeys(found)]
