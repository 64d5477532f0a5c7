"""What the archives of the test tree hold: cuDNN's own arrangement, with small made-up libraries."""

from __future__ import annotations

import functools
import random
import struct
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LIBRARY_BYTES = 48_000
"""Size of a shared library: large enough to be cut anywhere, small enough to pack in milliseconds."""

SUBLIBRARIES = ("", "_graph", "_ops")

_ELF_MACHINE = {"linux-x86_64": 62, "linux-ppc64le": 21, "linux-sbsa": 183, "linux-aarch64": 183}
_PE_MACHINE = {"windows-x86_64": 0x8664, "windows-arm64": 0xAA64}


@dataclass(frozen=True, slots=True)
class File:
    """A regular file."""

    data: bytes = b""
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link; ``target`` is written as it stands."""

    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory said outright; those that files need are added by the packer."""

    mode: int = 0o755


Entry = File | Link | Folder


@functools.cache
def default_content(
    component: str, platform: str, version: str, variant: str | None = None
) -> Mapping[str, Entry]:
    """Return path -> entry for one archive, paths below the top folder."""
    entries: dict[str, Entry] = {"LICENSE": File(b"SOFTWARE LICENSE AGREEMENT (test)\n" * 20, 0o444)}
    seed = f"{component} {platform} {version} {variant}"
    if platform in ("source", "linux-all"):
        entries |= _samples(version)
    elif platform.startswith("windows-"):
        entries |= _headers(component, version) | _windows_libraries(component, platform, version, seed)
    else:
        entries |= _headers(component, version) | _linux_libraries(component, platform, version, seed)
    return MappingProxyType(entries)


def version_header(version: str) -> bytes:
    """Return ``cudnn_version.h`` for a version such as ``9.27.0.42``; the factor of the major is cuDNN's."""
    major, minor, patch = f"{version}.0.0".split(".")[:3]
    factor = 10000 if int(major) >= 9 else 1000
    lines = (
        "#ifndef CUDNN_VERSION_H_",
        "#define CUDNN_VERSION_H_",
        "",
        f"#define CUDNN_MAJOR {major}",
        f"#define CUDNN_MINOR {minor}",
        f"#define CUDNN_PATCHLEVEL {patch}",
        "",
        f"#define CUDNN_VERSION (CUDNN_MAJOR * {factor} + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)",
        "",
        "#endif",
        "",
    )
    return "\n".join(lines).encode()


def _headers(component: str, version: str) -> dict[str, Entry]:
    if component != "cudnn":
        return {f"include/{component}.h": File(f"/* {component} {version} */\n".encode())}
    return {
        "include/cudnn.h": File(b'#pragma once\n#include "cudnn_version.h"\n#include "cudnn_graph.h"\n'),
        "include/cudnn_graph.h": File(b'#pragma once\n#include "cudnn_version.h"\n'),
        "include/cudnn_version.h": File(version_header(version)),
    }


def _linux_libraries(component: str, platform: str, version: str, seed: str) -> dict[str, Entry]:
    major = version.split(".", maxsplit=1)[0]
    full = ".".join(version.split(".")[:3])
    stem = _stem(component)
    entries: dict[str, Entry] = {}
    for sub in _sublibraries(component):
        name = f"lib{stem}{sub}.so"
        entries[f"lib/{name}"] = Link(f"{name}.{major}")
        entries[f"lib/{name}.{major}"] = Link(f"{name}.{full}")
        body = _elf_header(platform) + _payload(seed + name, LIBRARY_BYTES)
        entries[f"lib/{name}.{full}"] = File(body, 0o755)
    static = f"lib{stem}{_sublibraries(component)[-1]}_static"
    entries[f"lib/{static}.a"] = Link(f"{static}_v{major}.a")
    entries[f"lib/{static}_v{major}.a"] = File(b"!<arch>\n" + _payload(seed + static, LIBRARY_BYTES // 4))
    return entries


def _windows_libraries(component: str, platform: str, version: str, seed: str) -> dict[str, Entry]:
    major = version.split(".", maxsplit=1)[0]
    arch = "arm64" if platform == "windows-arm64" else "x64"
    stem = _stem(component)
    entries: dict[str, Entry] = {}
    for sub in _sublibraries(component):
        name = f"{stem}{sub}64_{major}"
        body = _pe_header(platform) + _payload(seed + name, LIBRARY_BYTES)
        entries[f"bin/{arch}/{name}.dll"] = File(body, 0o755)
        entries[f"lib/{arch}/{stem}{sub}.lib"] = File(b"!<arch>\n" + _payload(seed + sub, 2_000))
    return entries


def _samples(version: str) -> dict[str, Entry]:
    return {
        "src/cudnn_samples/readme.txt": File(f"samples of {version}\n".encode()),
        "src/cudnn_samples/conv_sample/main.cpp": File(b"int main() { return 0; }\n" * 40),
        "src/cudnn_samples/conv_sample/run.sh": File(b"#!/bin/sh\nexec ./conv_sample\n", 0o755),
    }


def _stem(component: str) -> str:
    return component.removeprefix("lib")


def _sublibraries(component: str) -> tuple[str, ...]:
    return SUBLIBRARIES if component == "cudnn" else ("",)


def _payload(seed: str, size: int) -> bytes:
    """Return half noise and half zeros: an archive of it is neither as large as it nor next to nothing."""
    noise = random.Random(seed).randbytes(size // 2)
    return noise + bytes(size - len(noise))


def _elf_header(platform: str) -> bytes:
    """Return the 64-byte ELF header of a little-endian shared object for the platform's machine."""
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    machine = _ELF_MACHINE.get(platform, 62)
    return ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)


def _pe_header(platform: str) -> bytes:
    """Return a DOS stub that points at a COFF header for the platform's machine."""
    stub = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    return (
        stub + b"PE\0\0" + struct.pack("<HHIIIHH", _PE_MACHINE.get(platform, 0x8664), 0, 0, 0, 0, 0, 0x2022)
    )
