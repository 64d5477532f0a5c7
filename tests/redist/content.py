"""What the archives of the test tree hold: cuDNN's own arrangement, with small made-up libraries."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from .libraries import elf_library, pe_library

if TYPE_CHECKING:
    from collections.abc import Mapping

LIBRARY_BYTES = 48_000
"""Size of a shared library: large enough to be cut anywhere, small enough to pack in milliseconds."""

SUBLIBRARIES = ("", "_graph", "_ops")


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
    subs = _sublibraries(component)
    for sub in subs:
        name = f"lib{stem}{sub}.so"
        entries[f"lib/{name}"] = Link(f"{name}.{major}")
        entries[f"lib/{name}.{major}"] = Link(f"{name}.{full}")
        body = elf_library(
            platform,
            soname=f"{name}.{major}",
            named=[f"lib{stem}{other}.so.{major}" for other in subs] if not sub else (),
            runpath="$ORIGIN",
            payload=_payload(seed + name, LIBRARY_BYTES),
        )
        entries[f"lib/{name}.{full}"] = File(body, 0o755)
    static = f"lib{stem}{subs[-1]}_static"
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
        body = pe_library(platform, payload=_payload(seed + name, LIBRARY_BYTES))
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
