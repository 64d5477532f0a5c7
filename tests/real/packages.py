"""Packages from PyPI that look for cuDNN, or stand in for the CUDA toolkit; the cache has a directory for each set."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CUDA", "TORCH", "site"]

CUDA = (
    "--no-deps",
    "cuda-pathfinder==1.9.1",
    "nvidia-cuda-cccl==13.3.5.0.6",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-cuda-nvrtc==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cudnn-frontend==1.32.0",
)
"""The headers of the CUDA toolkit in ``nvidia/cu13``, cudnn-frontend's in ``include``, and pathfinder."""

TORCH = ("torch==2.13.0",)


def site(cache: Path, words: tuple[str, ...]) -> Path:
    """Return a directory for ``PYTHONPATH`` with what pip installs for ``words``, once for this Python."""
    asked = " ".join((sys.version, *words))
    made = cache / f"site-{hashlib.sha256(asked.encode()).hexdigest()[:12]}"
    if not made.exists():
        stage = cache / f"{made.name}.{os.getpid()}"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--target", stage]
        try:
            subprocess.run([*pip, *words], check=True, stdin=subprocess.DEVNULL)
            stage.rename(made)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    return made
