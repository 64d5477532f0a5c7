"""A wheel of cuDNN, repacked into a tree laid out like NVIDIA's server, under a manifest with true digests.

The wheel holds the files of NVIDIA's archive in another shape. Here they get the archive's: one top folder,
libraries that carry the full version and are reached through links, an xz of several blocks.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from real.wheel import sha256_of

if TYPE_CHECKING:
    import io
    import zipfile
    from collections.abc import Iterator

    from real.wheel import WheelFile

PRODUCT = "cudnn"


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A directory that can stand for ``https://.../compute/``: it holds ``cudnn/redist/``."""

    path: Path
    label: str
    relative_path: str

    @property
    def redist(self) -> Path:
        return self.path / PRODUCT / "redist"

    @property
    def archive(self) -> Path:
        return self.redist / self.relative_path

    @property
    def manifest(self) -> Path:
        return self.redist / f"redistrib_{self.label}.json"


def links(library: str, label: str) -> dict[str, str]:
    """Return the chain that leads to ``library`` in NVIDIA's layout, link name to target.

    ``libcudnn.so.9`` gives ``libcudnn.so -> libcudnn.so.9 -> libcudnn.so.9.27.0``.
    """
    bare = library.rpartition(".")[0]
    return {bare: library, library: real_name(library, label)}


def real_name(library: str, label: str) -> str:
    return f"{library.rpartition('.')[0]}.{label}"


def repack(source: WheelFile, cache: Path) -> Tree:
    """Return the tree made of ``source``, from ``cache`` if this very code made it before."""
    made_from = source.wheel.sha256.encode() + Path(__file__).read_bytes()
    home = cache / f"{source.path.stem}.tree-{hashlib.sha256(made_from).hexdigest()[:12]}"
    if not home.exists():
        stage = cache / f"{home.name}.{os.getpid()}"
        try:
            _write_tree(source, _tree(source, stage))
            stage.rename(home)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    return _tree(source, home)


def xz_blocks(archive: Path) -> int:
    """Count the blocks of an xz file by its own index (xz(1), "ROBOT MODE")."""
    listing = subprocess.run(["xz", "--robot", "--list", archive], check=True, capture_output=True, text=True)
    (totals,) = (line for line in listing.stdout.splitlines() if line.startswith("totals\t"))
    return int(totals.split("\t")[2])


def _tree(source: WheelFile, home: Path) -> Tree:
    wheel = source.wheel
    folder = f"{wheel.component}/{wheel.platform}"
    return Tree(path=home, label=wheel.label, relative_path=f"{folder}/{_top_folder(source)}.tar.xz")


def _top_folder(source: WheelFile) -> str:
    wheel = source.wheel
    return f"{wheel.component}-{wheel.platform}-{wheel.version}_cuda{wheel.cuda_major}-archive"


def _write_tree(source: WheelFile, tree: Tree) -> None:
    tree.archive.parent.mkdir(parents=True)
    with source.open() as wheel:
        with tree.archive.open("wb") as packed:
            _write_archive(source, wheel, packed)
        (tree.redist / source.wheel.component / "LICENSE.txt").write_bytes(wheel.read(source.license))
    manifest = json.dumps(_manifest(source, tree), indent=4)
    tree.manifest.write_text(manifest, encoding="ascii", newline="\n")


def _write_archive(source: WheelFile, wheel: zipfile.ZipFile, packed: io.BufferedWriter) -> None:
    with subprocess.Popen(["xz", "-6", "-T0"], stdin=subprocess.PIPE, stdout=packed) as xz:
        with tarfile.open(fileobj=xz.stdin, mode="w|", format=tarfile.GNU_FORMAT) as tar:
            for member, original in sorted(_members(source), key=lambda pair: pair[0].name):
                tar.addfile(member, wheel.open(original) if original else None)
        xz.communicate()
    if xz.returncode:
        raise RuntimeError(f"xz exited with {xz.returncode}")


def _members(source: WheelFile) -> Iterator[tuple[tarfile.TarInfo, zipfile.ZipInfo | None]]:
    newest = max(_mtime(info) for info in source.files.values())
    for folder in ("", "/include", "/lib"):
        yield _member(source, folder, mtime=newest, mode=0o755, type=tarfile.DIRTYPE), None
    yield _copied(source, "/LICENSE", source.license, mode=0o444)
    for name, info in source.files.items():
        if name.startswith("include/"):
            yield _copied(source, f"/{name}", info, mode=0o644)
            continue
        library = name.removeprefix("lib/")
        yield _copied(source, f"/lib/{real_name(library, source.wheel.label)}", info, mode=0o755)
        for link, target in links(library, source.wheel.label).items():
            fields = {"mtime": _mtime(info), "mode": 0o777, "type": tarfile.SYMTYPE, "linkname": target}
            yield _member(source, f"/lib/{link}", **fields), None


def _copied(
    source: WheelFile, path: str, info: zipfile.ZipInfo, *, mode: int
) -> tuple[tarfile.TarInfo, zipfile.ZipInfo]:
    return _member(source, path, size=info.file_size, mtime=_mtime(info), mode=mode), info


def _member(source: WheelFile, path: str, **fields: object) -> tarfile.TarInfo:
    member = tarfile.TarInfo(_top_folder(source) + path)
    member.uname = member.gname = "root"
    for field, value in fields.items():
        setattr(member, field, value)
    return member


def _mtime(info: zipfile.ZipInfo) -> int:
    return int(dt.datetime(*info.date_time, tzinfo=dt.UTC).timestamp())


def _manifest(source: WheelFile, tree: Tree) -> dict[str, object]:
    wheel = source.wheel
    component = {
        "name": source.summary,
        "license": PRODUCT,
        "license_path": f"{wheel.component}/LICENSE.txt",
        "version": wheel.version,
        wheel.platform: {f"cuda{wheel.cuda_major}": _entry(tree)},
        "cuda_variant": [wheel.cuda_major],
    }
    released = dt.date(*max(info.date_time for info in source.files.values())[:3])
    return {
        "release_date": released.isoformat(),
        "release_label": wheel.label,
        "release_product": PRODUCT,
        wheel.component: component,
    }


def _entry(tree: Tree) -> dict[str, str]:
    with tree.archive.open("rb") as archive:
        md5 = hashlib.file_digest(archive, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    return {
        "relative_path": tree.relative_path,
        "sha256": sha256_of(tree.archive),
        "md5": md5,
        "size": str(tree.archive.stat().st_size),
    }
