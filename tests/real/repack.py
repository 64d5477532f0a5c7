"""A wheel of cuDNN, repacked into a tree laid out like NVIDIA's server, under a manifest with true digests.

The wheel holds the files of NVIDIA's archive in another shape. Here they get the archive's: one top folder,
and on Linux libraries that carry the full version and are reached through links.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from real import packing
from real.wheel import sha256_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator

    from real.packing import Kind, Member
    from real.wheel import Wheel, WheelFile

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


def contents(source: WheelFile) -> dict[str, zipfile.ZipInfo | str]:
    """Return what the archive holds, by path below its top folder: an entry of the wheel, or a link's target."""
    held: dict[str, zipfile.ZipInfo | str] = {"LICENSE": source.license}
    for name, info in source.files.items():
        folder, _, file = name.partition("/")
        if folder != "lib":
            held[name] = info
            continue
        held[f"lib/{real_name(file, source.wheel.label)}"] = info
        held |= {f"lib/{link}": target for link, target in links(file, source.wheel.label).items()}
    return held


def repack(source: WheelFile, cache: Path, kind: Kind = "tar.xz") -> Tree:
    """Return the tree made of ``source``, from ``cache`` if this very code made it before."""
    made = tree(source.wheel, cache, kind)
    if not made.path.exists():
        stage = cache / f"{made.path.name}.{os.getpid()}"
        try:
            _write_tree(source, replace(made, path=stage), kind)
            stage.rename(made.path)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    return made


def tree(wheel: Wheel, cache: Path, kind: Kind = "tar.xz") -> Tree:
    """Return where ``repack`` has the tree of ``wheel``, made or not."""
    code = b"".join(Path(file).read_bytes() for file in (__file__, packing.__file__))
    made_from = hashlib.sha256(wheel.sha256.encode() + code).hexdigest()
    return Tree(
        path=cache / f"{wheel.file_name.removesuffix('.whl')}.{kind}.tree-{made_from[:12]}",
        label=wheel.label,
        relative_path=f"{wheel.component}/{wheel.platform}/{_top_folder(wheel)}.{kind}",
    )


def xz_blocks(archive: Path) -> int:
    """Count the blocks of an xz file by its own index (xz(1), "ROBOT MODE")."""
    listing = subprocess.run(["xz", "--robot", "--list", archive], check=True, capture_output=True, text=True)
    (totals,) = (line for line in listing.stdout.splitlines() if line.startswith("totals\t"))
    return int(totals.split("\t")[2])


def _top_folder(wheel: Wheel) -> str:
    return f"{wheel.component}-{wheel.platform}-{wheel.version}_cuda{wheel.cuda_major}-archive"


def _write_tree(source: WheelFile, tree: Tree, kind: Kind) -> None:
    tree.archive.parent.mkdir(parents=True)
    with source.open() as wheel:
        with tree.archive.open("wb") as packed:
            members = sorted(_members(source, wheel), key=lambda member: member.name)
            packing.pack(kind, members, packed)
        (tree.redist / source.wheel.component / "LICENSE.txt").write_bytes(wheel.read(source.license))
    manifest = json.dumps(_manifest(source, tree), indent=4)
    tree.manifest.write_text(manifest, encoding="ascii", newline="\n")


def _members(source: WheelFile, wheel: zipfile.ZipFile) -> Iterator[Member]:
    top, held = _top_folder(source.wheel), contents(source)
    newest = max(_mtime(info) for info in source.files.values())
    for folder in sorted({str(PurePosixPath(top, name).parent) for name in held}):
        yield packing.directory(folder, mtime=newest)
    for name, what in held.items():
        if isinstance(what, str):
            yield packing.link(f"{top}/{name}", what, mtime=newest)
        else:
            yield packing.file(
                f"{top}/{name}",
                partial(wheel.open, what),
                size=what.file_size,
                mtime=_mtime(what),
                mode=_mode(name),
            )


def _mode(name: str) -> int:
    if name == "LICENSE":
        return 0o444
    return 0o644 if name.startswith("include/") else 0o755


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
