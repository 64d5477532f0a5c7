"""The whole set of cuDNN 9.27 in NVIDIA's layout, packed without compression: large, and quick to unpack."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.archives import CUDNN, CUDNN_WINDOWS
from real import repack, wheel
from real.wheel import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from real.wheel import Wheel, WheelFile

__all__ = ["MINGW", "linux", "windows"]

MINGW = "x86_64-w64-mingw32"
_EPOCH = 1_790_000_000


def linux(cache: Path) -> Path:
    """Return a source with the Linux archive, from ``cache`` if this very code made it before."""
    return _made(CUDNN, cache, "tar", _pack_tar)


def windows(cache: Path) -> Path:
    """Return a source with the Windows archive.

    The wheel has no import libraries, so these are made of the names that the DLLs export.
    """
    return _made(CUDNN_WINDOWS, cache, "zip", _pack_zip)


def _made(of: Wheel, cache: Path, kind: str, pack: Callable[[WheelFile, Path, str], None]) -> Path:
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    made = cache / f"{of.file_name.removesuffix('.whl')}.{kind}.plain-{code[:12]}"
    if not made.exists():
        stage = cache / f"{made.name}.{os.getpid()}"
        top = f"cudnn-{of.platform}-{of.version}_cuda{of.cuda_major}-archive"
        archive = stage / "cudnn" / of.platform / f"{top}.{kind}"
        archive.parent.mkdir(parents=True)
        try:
            pack(wheel.download(of, cache), archive, top)
            (stage / f"redistrib_{of.label}.json").write_text(json.dumps(_manifest(of, archive, stage)))
            stage.rename(made)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    return made


def _manifest(of: Wheel, archive: Path, source: Path) -> dict[str, object]:
    entry = {
        "relative_path": archive.relative_to(source).as_posix(),
        "sha256": sha256_of(archive),
        "size": str(archive.stat().st_size),
    }
    component = {"name": "cuDNN", "version": of.version, of.platform: {f"cuda{of.cuda_major}": entry}}
    return {"release_date": "2026-09-29", "release_label": of.label, "cudnn": component}


def _pack_tar(source: WheelFile, archive: Path, top: str) -> None:
    with source.open() as packed, tarfile.open(archive, "w") as tar:
        for name, what in sorted(repack.contents(source).items()):
            info = tarfile.TarInfo(f"{top}/{name}")
            info.mtime = _EPOCH
            if isinstance(what, str):
                info.type, info.linkname = tarfile.SYMTYPE, what
                tar.addfile(info)
                continue
            info.size, info.mode = what.file_size, 0o755 if ".so." in name else 0o644
            with packed.open(what) as content:
                tar.addfile(info, content)


def _pack_zip(source: WheelFile, archive: Path, top: str) -> None:
    work = archive.with_suffix(".work")
    work.mkdir()
    with source.open() as packed, zipfile.ZipFile(archive, "w") as made:
        made.writestr(f"{top}/LICENSE", packed.read(source.license))
        for name, info in source.files.items():
            folder, _, file = name.partition("/")
            inside = f"{top}/bin/x64/{file}" if folder == "bin" else f"{top}/{name}"
            with packed.open(info) as content, made.open(inside, "w", force_zip64=True) as entry:
                shutil.copyfileobj(content, entry, 1 << 20)
            if folder == "bin":
                for library in _import_libraries(packed.extract(info, work), work):
                    made.write(library, f"{top}/lib/x64/{library.name}")
    shutil.rmtree(work)


def _import_libraries(dll: str, work: Path) -> Iterator[Path]:
    """Yield the import library of a DLL under the two names that NVIDIA gives it."""
    name = Path(dll).stem
    listing = subprocess.run([f"{MINGW}-objdump", "-p", dll], check=True, capture_output=True, text=True)
    table = listing.stdout.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    exported = [line.split()[-1] for line in table.splitlines()[1:]]
    (work / f"{name}.def").write_text("\n".join((f"LIBRARY {name}.dll", "EXPORTS", *exported, "")))
    for stem in (name, name.removesuffix("64_9")):
        # In its directory: it makes the names of scratch files of the whole path, which may be too long for one.
        command = [f"{MINGW}-dlltool", "-d", f"{name}.def", "-D", f"{name}.dll", "-l", f"{stem}.lib"]
        subprocess.run(command, cwd=work, check=True, stdin=subprocess.DEVNULL)
        yield work / f"{stem}.lib"
