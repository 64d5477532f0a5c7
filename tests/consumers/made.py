"""cuDNN releases whose libraries really load and link: a line of C each, in NVIDIA's arrangement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.tools import ran
from redist import File, Link
from redist.content import version_header

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist.content import Entry

__all__ = ["JIT_PARTS", "MINGW", "PARTS", "headers", "linux", "release", "static", "windows"]

PARTS = (
    "adv",
    "cnn",
    "engines_precompiled",
    "engines_runtime_compiled",
    "engines_tensor_ir",
    "graph",
    "heuristic",
    "ops",
)
JIT_PARTS = ("engines_runtime_compiled", "graph")
VERSION = "9.27.0.42"
MINGW = "x86_64-w64-mingw32"

_SHIM = "#include <stddef.h>\nsize_t cudnnGetVersion(void) { return CUDNN_VERSION; }\n"
_PART = "int cudnn_@PART@_is_here(void) { return 1; }\n"
# It is found because it registers itself when the program starts: nobody calls it.
_REGISTERED = (
    "int printf(const char *, ...);\nextern int cublasLt(void);\n__attribute__((constructor))"
    'static void announce(void) { printf("@PART@ registered, cublasLt %d\\n", cublasLt()); }\n'
)
_HEADER = b'#pragma once\n#include <stddef.h>\n#include "cudnn_version.h"\nsize_t cudnnGetVersion(void);\n'
_DOT_9 = 92700


def headers(version: str = VERSION) -> dict[str, Entry]:
    """Return the headers, as cuDNN has them from 8 on: the version is in a file of its own."""
    return {"include/cudnn.h": File(_HEADER), "include/cudnn_version.h": File(version_header(version))}


def linux(work: Path, parts: tuple[str, ...] = PARTS, *, version: str = VERSION) -> dict[str, Entry]:
    """Return the shared libraries of a Linux archive, each under its three names."""
    full, major = version.rpartition(".")[0], version.partition(".")[0]
    entries: dict[str, Entry] = {}
    for part in ("", *parts):
        name = f"libcudnn_{part}.so" if part else "libcudnn.so"
        source = _source(work, part)
        made = work / f"{name}.{full}"
        ran(
            "gcc",
            "-shared",
            "-fPIC",
            f"-DCUDNN_VERSION={_number(version)}",
            f"-Wl,-soname,{name}.{major}",
            source,
            "-o",
            made,
        )
        entries[f"lib/{name}"] = Link(f"{name}.{major}")
        entries[f"lib/{name}.{major}"] = Link(f"{name}.{full}")
        entries[f"lib/{name}.{full}"] = File(made.read_bytes(), 0o755)
    return entries


def static(work: Path, parts: tuple[str, ...] = ("graph", "ops")) -> dict[str, Entry]:
    """Return static archives under their two names; the first also has the function that programs call."""
    work.mkdir(parents=True, exist_ok=True)
    entries: dict[str, Entry] = {}
    for part in parts:
        source = work / f"static_{part}.c"
        source.write_text(_REGISTERED.replace("@PART@", part) + (_SHIM if part == parts[0] else ""))
        made = work / f"{part}.a"
        ran("gcc", "-c", f"-DCUDNN_VERSION={_DOT_9}", source, "-o", source.with_suffix(".o"))
        ran("ar", "rcs", made, source.with_suffix(".o"))
        name = f"lib/libcudnn_{part}_static"
        entries[f"{name}.a"] = Link(f"libcudnn_{part}_static_v9.a")
        entries[f"{name}_v9.a"] = File(made.read_bytes())
    return entries


def windows(
    work: Path, parts: tuple[str, ...] = ("graph", "ops"), *, below: str = "/x64"
) -> dict[str, Entry]:
    """Return DLLs and their import libraries, each of those under its two names; ``below`` is "" before 9.18."""
    entries: dict[str, Entry] = {}
    for part in ("", *parts):
        name = f"cudnn_{part}" if part else "cudnn"
        dll, implib = work / f"{name}64_9.dll", work / f"{name}.lib"
        source = _source(work, part)
        ran(
            f"{MINGW}-gcc",
            "-shared",
            f"-DCUDNN_VERSION={_DOT_9}",
            source,
            "-o",
            dll,
            f"-Wl,--out-implib,{implib}",
        )
        entries[f"bin{below}/{dll.name}"] = File(dll.read_bytes(), 0o755)
        entries[f"lib/x64/{name}.lib"] = entries[f"lib/x64/{name}64_9.lib"] = File(implib.read_bytes())
    return entries


def _source(work: Path, part: str) -> Path:
    work.mkdir(parents=True, exist_ok=True)
    source = work / f"{part or 'shim'}.c"
    source.write_text(_PART.replace("@PART@", part) if part else _SHIM)
    return source


def _number(version: str) -> int:
    major, minor, patch = map(int, version.split(".")[:3])
    return major * 10000 + minor * 100 + patch


def release(content: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return a whole archive of this content: the licence is in every one."""
    return {"LICENSE": File(b"LICENSE\n"), **content}
