"""The imported targets of the CMake package, each made only where no other module has made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .libraries import Contents, SharedLibrary, StaticLibrary

__all__ = ["target_texts"]

# What static archives need besides themselves: the target of CMake's own module where the project has asked for
# it, else what the linker knows by name. None of them is asked for here: most programs link no archive.
_CUBLASLT = "$<IF:$<TARGET_EXISTS:CUDA::cublasLt_static>,CUDA::cublasLt_static,cublasLt_static>"
_NVRTC_SHARED = "$<IF:$<TARGET_EXISTS:CUDA::nvrtc>,CUDA::nvrtc,nvrtc>"
_NVRTC = f"$<IF:$<TARGET_EXISTS:CUDA::nvrtc_static>,CUDA::nvrtc_static,{_NVRTC_SHARED}>"
_ZLIB = "$<IF:$<TARGET_EXISTS:ZLIB::ZLIB>,ZLIB::ZLIB,z>"


def target_texts(contents: Contents) -> Iterator[str]:
    """Yield the commands that make each target: ``CUDNN::cudnn`` and ``CUDNN::cudnn_all`` are always among them."""
    include = {"INTERFACE_INCLUDE_DIRECTORIES": _path("include")} if contents.has_headers else {}
    linkable = [
        library for library in contents.shared if not contents.windows or library.link_file is not None
    ]
    for library in linkable:
        yield _target(library.name, *_shared(library, windows=contents.windows), include)
    for archive in contents.static:
        yield _target(f"{archive.name}_static", "STATIC", _static(archive), include)
    if contents.static:
        yield _target(
            "cudnn_static", "INTERFACE", {"INTERFACE_LINK_LIBRARIES": _whole(contents.static)}, include
        )
    names = [library.name for library in linkable]
    if "cudnn" not in names:
        # Without the library of that name, what there is: the parts, else the archives, else the headers alone.
        yield _target(
            "cudnn", "INTERFACE", _linking(names or ["cudnn_static"] * bool(contents.static)), include
        )
    yield _target("cudnn_all", "INTERFACE", _linking(sorted({"cudnn", *names})), include)


def _shared(library: SharedLibrary, *, windows: bool) -> tuple[str, Mapping[str, str]]:
    if library.file is None:
        return "UNKNOWN", {"IMPORTED_LOCATION": _path(library.link_file or "")}
    location = {"IMPORTED_LOCATION": _path(library.file)}
    if windows:
        return "SHARED", {**location, "IMPORTED_IMPLIB": _path(library.link_file or "")}
    return "SHARED", {**location, "IMPORTED_SONAME": library.soname or ""}


def _static(archive: StaticLibrary) -> Mapping[str, str]:
    return {
        "IMPORTED_LOCATION": _path(archive.file),
        "IMPORTED_LINK_INTERFACE_LANGUAGES": "CXX",
        "INTERFACE_LINK_LIBRARIES": f"{_CUBLASLT};{_NVRTC};{_ZLIB}",
    }


def _whole(archives: Sequence[StaticLibrary]) -> str:
    """Return all of the archives, whole: their engines are found by registering themselves, not by being called."""
    files = [_path(archive.file) for archive in archives]
    targets = [f"CUDNN::{archive.name}_static" for archive in archives]
    return ";".join(("-Wl,--whole-archive", *files, "-Wl,--no-whole-archive", *targets))


def _linking(names: Sequence[str]) -> Mapping[str, str]:
    return {"INTERFACE_LINK_LIBRARIES": ";".join(f"CUDNN::{name}" for name in names)} if names else {}


def _target(name: str, kind: str, *properties: Mapping[str, str]) -> str:
    given = {key: value for some in properties for key, value in some.items()}
    lines = [f"if(NOT TARGET CUDNN::{name})", f"  add_library(CUDNN::{name} {kind} IMPORTED)"]
    if given:
        lines.append(f"  set_target_properties(CUDNN::{name} PROPERTIES")
        lines += [f'    {key} "{value}"' for key, value in given.items()]
        lines[-1] += ")"
    return "\n".join((*lines, "endif()", ""))


def _path(path: str) -> str:
    return f"${{_cudnn_prefix}}/{path}"
