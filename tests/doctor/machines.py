"""Small systems below a temporary root, with true if tiny libraries where a real system has its own."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redist.content import version_header
from redist.libraries import elf_library, pe_library

from cudnn_redist.doctor.diagnosing import Diagnosis, diagnose
from cudnn_redist.doctor.hardware import Gpu, Hardware
from cudnn_redist.doctor.pythons import Python
from cudnn_redist.doctor.system import System

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["DEBIAN", "PARTS", "SITE", "Machine"]

DEBIAN = "/usr/lib/x86_64-linux-gnu"
SITE = "/venv/lib/python3.12/site-packages"
PARTS = ("", "_graph", "_ops", "_engines_precompiled")
_ENGINES = ("libcudnn_engines_precompiled.so", "libcudnn_engines_tensor_ir.so")


@dataclass
class Machine:
    """A system under construction: its root, its variables, the sites of its Python, what it computes on."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    python: bool = False
    hardware: Hardware = field(default_factory=Hardware)
    prefixes: Path | None = None

    def write(self, path: str, data: bytes | str) -> Path:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)
        return place

    def link(self, path: str, target: str) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def zlib(self) -> None:
        self.write(f"{DEBIAN}/libz.so.1", elf_library(soname="libz.so.1"))

    def cuda(self, major: int = 13, directory: str = DEBIAN) -> None:
        for name in ("libnvrtc", "libcublasLt"):
            self.write(f"{directory}/{name}.so.{major}", elf_library(soname=f"{name}.so.{major}"))

    def cudnn(
        self,
        directory: str,
        version: str = "9.14.0",
        *,
        parts: Sequence[str] = PARTS,
        search: Mapping[str, str] | None = None,
        named_files: bool = False,
        platform: str = "linux-x86_64",
        header: str | None = None,
    ) -> None:
        """Put a cuDNN into a directory, as wheels have it; with ``named_files``, as archives and packages do.

        ``search`` is the RPATH or RUNPATH of all its libraries.
        """
        major = version.split(".", maxsplit=1)[0]
        for part in parts:
            name = f"libcudnn{part}.so.{major}"
            library = part_of(part, version, platform, search or {"runpath": "$ORIGIN"})
            if named_files:
                self.write(f"{directory}/libcudnn{part}.so.{version}", library)
                self.link(f"{directory}/{name}", f"libcudnn{part}.so.{version}")
            else:
                self.write(f"{directory}/{name}", library)
        if header:
            self.write(f"{directory.rsplit('/', 1)[0]}/include/cudnn_version.h", version_header(header))

    def windows_cudnn(self, directory: str, parts: Sequence[str] = PARTS) -> None:
        for part in parts:
            named = [f"cudnn{other}64_9.dll" for other in parts] if not part else ()
            self.write(f"{directory}/cudnn{part}64_9.dll", pe_library(named=named))

    def wheel(self, name: str, version: str, files: Sequence[str], *, requires: Sequence[str] = ()) -> None:
        """Write the ``dist-info`` of a distribution; ``files`` are below the site."""
        self.python = True
        info = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
        lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {each}" for each in requires)]
        self.write(f"{info}/METADATA", "Metadata-Version: 2.1\n" + "\n".join(lines) + "\n\n")
        self.write(f"{info}/RECORD", "".join(f"{file},sha256=x,1\n" for file in files))

    def cudnn_wheel(self, version: str = "9.14.0", cuda: int = 13, **how: object) -> None:
        directory = "nvidia/cudnn/lib"
        self.cudnn(f"{SITE}/{directory}", version, **how)  # type: ignore[arg-type]
        major = version.split(".", maxsplit=1)[0]
        files = [f"{directory}/libcudnn{part}.so.{major}" for part in PARTS]
        self.wheel(f"nvidia-cudnn-cu{cuda}", f"{version}.64", files)

    def torch(
        self, version: str = "2.11.0+cu130", *, asks: str = "nvidia-cudnn-cu13==9.14.0.64", **how: str
    ) -> None:
        """Install a torch of which the library that needs cuDNN looks where NVIDIA's wheels are, or as ``how`` says."""
        self.wheel("torch", version, [], requires=[f'{asks}; platform_system == "Linux"'])
        library = elf_library(
            needed=["libcudnn.so.9"], **(how or {"runpath": "$ORIGIN/../../nvidia/cudnn/lib"})
        )
        self.write(f"{SITE}/torch/lib/libtorch_global_deps.so", library)

    def dpkg(self, name: str, version: str, files: Sequence[str], *, state: str = "installed") -> None:
        status = self.root / "var/lib/dpkg/status"
        before = status.read_text() if status.exists() else ""
        stanza = f"Package: {name}\nStatus: install ok {state}\nArchitecture: amd64\nVersion: {version}\n\n"
        self.write("/var/lib/dpkg/status", before + stanza)
        self.write(f"/var/lib/dpkg/info/{name}.list", "/.\n" + "".join(f"{file}\n" for file in files))

    def conda(self, prefix: str, version: str, build: str = "cuda13_0") -> None:
        files = [f"lib/libcudnn{part}.so.9" for part in PARTS]
        record = {"name": "cudnn", "version": version, "build": build, "files": files}
        self.write(f"{prefix}/conda-meta/cudnn-{version}-{build}.json", json.dumps(record))

    def loader_cache(self, *paths: str) -> None:
        """Write an ``ld.so.cache`` that leads each file's name to it, behind one of the older kind."""
        texts, entries = b"", []
        start = 48 + 24 * len(paths)
        for path in paths:
            name = path.rsplit("/", 1)[1].encode() + b"\0"
            entries.append((0x303, start + len(texts), start + len(texts) + len(name), 0, 0))
            texts += name + path.encode() + b"\0"
        header = struct.pack("<20sII20x", b"glibc-ld.so.cache1.1", len(paths), len(texts))
        table = b"".join(struct.pack("<iIIIQ", *entry) for entry in entries)
        self.write("/etc/ld.so.cache", b"ld.so-1.7.0\0" + bytes(4) + header + table + texts)

    def gpu(
        self, driver: str = "580.65.06", cuda: tuple[int, int] = (13, 0), capability: tuple[int, int] = (9, 0)
    ) -> None:
        gpu = Gpu(name="a GPU", capability=capability)
        self.hardware = Hardware(driver=driver, driver_cuda=cuda, gpus=(gpu,))

    def diagnose(self) -> Diagnosis:
        sites = (self.root / SITE.lstrip("/"),)
        python = Python(prefix=self.root / "venv", program=self.root / "venv/bin/python", sites=sites)
        system = System(root=self.root, environ=self.environ, machine="x86_64")
        pythons = (python,) if self.python else ()
        return diagnose(system, pythons=pythons, root=self.prefixes, hardware=self.hardware)


def part_of(part: str, version: str, platform: str, search: Mapping[str, str]) -> bytes:
    """Return one library of a cuDNN, which names and needs what the real one does and tells its release as it does."""
    major, minor, patch = version.split(".")[:3]
    graph = f"libcudnn_graph.so.{major}"
    named = {"": tuple(f"libcudnn{each}.so" for each in ("_graph", "_ops")), "_graph": _ENGINES}.get(part, ())
    told = f"cudnn_version != ({major} * 10000 + {minor} * 100 + {patch})"
    return elf_library(
        platform,
        soname=f"libcudnn{part}.so.{major}",
        needed=() if part == "" else ("libz.so.1",) if part == "_graph" else (graph, "libz.so.1"),
        named=(*named, *((told,) if part else ())),
        rpath=search.get("rpath"),
        runpath=search.get("runpath"),
    )
