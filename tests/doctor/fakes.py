"""Small cuDNNs that load: a libcudnn that opens its graph library by name, as the real one does, and a part of that.

They are built as NVIDIA builds its own: sonames, RUNPATH (or RPATH) of ``$ORIGIN``, parts that tell their release.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from prefix.made import installed

from cudnn_redist.host import Machine, host_platform

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cudnn_redist import Prefix

__all__ = ["DRIVER", "LIBRARY", "PART", "cudnn_files", "fake_prefix", "library"]

LIBRARY, GRAPH, PART = (
    "lib/libcudnn.so.9",
    "lib/libcudnn_graph.so.9",
    "lib/libcudnn_engines_runtime_compiled.so.9",
)
DRIVER = "libcuda.so.1"

_MAIN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *graph(const char *name) {
    void *library = dlopen("libcudnn_graph.so.9", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}
__attribute__((constructor)) static void loaded(void) { @ON_LOAD@; }
size_t cudnnGetVersion(void) { @ON_VERSION@; return ((size_t (*)(void))graph("version"))(); }
size_t cudnnGetCudartVersion(void) { return ((size_t (*)(void))graph("cudart"))(); }
int cudnnBackendCreateDescriptor(int kind, void **made) { return kind + (made == NULL); }
int cudnnBackendFinalize(void *made) {
    if (cudnnGetVersion() != BUILT_AS) return 1002;
    return ((int (*)(void *))graph("finalize"))(made);
}
const char *cudnnGetErrorString(int status) { return status == 1002 ? "SUBLIBRARY_VERSION_MISMATCH" : "ANOTHER"; }
"""
_GRAPH = """
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
size_t version(void) { return VERSION; }
size_t cudart(void) { return CUDART; }
int finalize(void *made) {
    if (STATUS) return STATUS;
    void *part = dlopen("libcudnn_engines_runtime_compiled.so.9", RTLD_NOW);
    if (part) return 0;
    fprintf(stderr, "Unable to load any of {libcudnn_engines_runtime_compiled.so.9}.\\n");
    return 1008;
}
"""
_PART = "int part(void) { return 1; }\n"


def library(work: Path, source: str, soname: str, *flags: str) -> bytes:
    """Compile a line of C, or more, into a shared library and return its bytes."""
    work.mkdir(parents=True, exist_ok=True)
    code, made = work / f"{soname}.c", work / soname
    code.write_text(source)
    command = ["gcc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}", "-o", made, code, *flags]
    subprocess.run(command, check=True, capture_output=True)
    return made.read_bytes()


def cudnn_files(
    work: Path,
    *,
    version: int = 92700,
    built_as: int | None = None,
    cudart: int = 13040,
    status: int = 0,
    on_load: str = "",
    on_version: str = "",
    rpath: bool = False,
    part_needs: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return the libraries of a set, by path.

    ``version`` is what the graph library reports and ``built_as`` what libcudnn expects of it; ``status`` what
    finalising answers. ``on_load`` and ``on_version`` are statements of C. ``part_needs`` are libraries that the part
    needs, of which none is shipped.
    """
    origin = ("-Wl,--disable-new-dtags" if rpath else "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN", "-ldl")
    main = _MAIN.replace("@ON_LOAD@", on_load).replace("@ON_VERSION@", on_version)
    numbers = (f"-DVERSION={version}", f"-DCUDART={cudart}", f"-DSTATUS={status}")
    for name in part_needs:
        library(work / "needed", "int needed;\n", name)
    needed = ("-Wl,--no-as-needed", *(str(work / "needed" / name) for name in part_needs))
    return {
        LIBRARY: library(work, main, "libcudnn.so.9", f"-DBUILT_AS={built_as or version}", *origin),
        GRAPH: library(work, _GRAPH, "libcudnn_graph.so.9", *numbers, *origin),
        PART: library(work, _PART, "libcudnn_engines_runtime_compiled.so.9", *needed, *origin),
    }


def fake_prefix(
    path: Path, files: dict[str, bytes], *, version: str = "9.27.0.42", platform: str | None = None
) -> Prefix:
    """Make an installed prefix of these, for this machine unless told otherwise."""
    links = {
        f"{name.removesuffix('.9')}": name.rpartition("/")[2] for name in files if name.endswith(".so.9")
    }
    here = platform or host_platform(Machine.this())[0]
    return installed(path, files, links, version=version, platform=here)
