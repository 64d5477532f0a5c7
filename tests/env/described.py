"""Prefixes as values: what a consumer sees of them, without any disk."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from cudnn_redist.env.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["JIT", "WHOLE", "linux", "nothing_there", "windows"]

WHOLE = (
    "",
    "_adv",
    "_cnn",
    "_engines_precompiled",
    "_engines_runtime_compiled",
    "_graph",
    "_heuristic",
    "_ops",
)
JIT = ("", "_engines_runtime_compiled", "_graph")
GENERATED = ("lib/cmake/cudnn/cudnn-config.cmake", "lib/pkgconfig/cudnn.pc")
HEADERS = ("include/cudnn.h",)


def linux(
    parts: Iterable[str] = WHOLE,
    *,
    path: str = "/p",
    others: Sequence[str] = (*HEADERS, *GENERATED, "lib64"),
    names: Sequence[str] = (".so", ".so.9", ".so.9.27.0"),
    version: str = "9.27.0.42",
) -> Facts:
    """Return a Linux prefix with these parts, each under these names, and these other files."""
    root = PurePosixPath(path)
    libraries = (f"lib/libcudnn{part}{name}" for part in parts for name in names)
    return Facts(
        path=root,
        include_dir=root / "include",
        lib_dir=root / "lib",
        bin_dir=None,
        version=version,
        paths=frozenset((*libraries, *others)),
    )


def windows(path: str = "C:/p") -> Facts:
    """Return the whole set of a Windows archive."""
    root = PureWindowsPath(path)
    dlls = (f"bin/x64/cudnn{part}64_9.dll" for part in WHOLE)
    imports = (f"lib/x64/cudnn{part}.lib" for part in WHOLE)
    return Facts(
        path=root,
        include_dir=root / "include",
        lib_dir=root / "lib/x64",
        bin_dir=root / "bin/x64",
        version="9.27.0.42",
        paths=frozenset((*dlls, *imports, *HEADERS, *GENERATED)),
    )


def nothing_there(_: str) -> list[str]:
    """Look, and find no other cuDNN."""
    return []
