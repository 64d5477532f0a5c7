"""The programs that ways need: Debian's must be there already, those of PyPI get an environment each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DEBIAN = {
    "aria2c": "aria2",
    "bash": "bash",
    "bsdtar": "libarchive-tools",
    "curl": "curl",
    "nginx": "nginx",
    "openssl": "openssl",
    "unzip": "unzip",
    "xz": "xz-utils",
    "zstd": "zstd",
}
PYPI = {"lzma-mt": "lzma-mt==0.2.1", "nvidia-binarchive": "nvidia-binarchive==0.7.0", "uv": "uv==0.13.9"}
_SYSTEM = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"))


def missing_packages(needed: Iterable[str]) -> list[str]:
    """Return the Debian packages of those needed programs that this machine lacks."""
    debian = (name for name in sorted(set(needed)) if name not in PYPI)
    return [DEBIAN[name] for name in debian if shutil.which(name, path=_SYSTEM) is None]


def environment(needed: Iterable[str], *, ours: Path, cache: Path, home: Path) -> dict[str, str]:
    """Return the variables of every run; ``PATH`` leads to ours, then to PyPI's (in ``cache``), then to Debian's.

    ``LZMA_MT`` is where ``lzma-mt`` can be imported from, if it is needed: what the extra ``fast`` would install.
    """
    peers = {name: _installed(PYPI[name], cache) for name in sorted(set(needed)) if name in PYPI}
    path = os.pathsep.join(map(str, (ours.parent, *peers.values(), _SYSTEM)))
    variables = {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8", "NO_PROXY": "127.0.0.1"}
    if "lzma-mt" in peers:
        (site,) = peers["lzma-mt"].parent.glob("lib/python*/site-packages")
        variables["LZMA_MT"] = str(site)
    return variables


def _installed(requirement: str, cache: Path) -> Path:
    """Return the directory of the programs of ``requirement``."""
    made = cache / f"{requirement}.venv"
    programs = made / "bin"
    if not (made / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", made], check=True, stdout=sys.stderr)
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", requirement]
        subprocess.run(pip, check=True, stdout=sys.stderr)
        (made / "complete").touch()
    return programs
