"""Archives to have: real cuDNN libraries from PyPI, packed as NVIDIA packs them, and what must come out of them."""

from __future__ import annotations

import base64
import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import contents
from real import repack, wheel
from real.wheel import CUDNN_JIT, Wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.contents import Contents
    from real.packing import Kind
    from real.repack import Tree
    from real.wheel import WheelFile

CUDNN = Wheel(
    distribution="nvidia-cudnn-cu13",
    version="9.27.0.42",
    tag="manylinux_2_27_x86_64",
    sha256="9677e76f21862eb5da7ee5ed69d544738b2d8b5c3ce7e5ec125c5592e6cdbdc8",
)
CUDNN_WINDOWS = Wheel(
    distribution="nvidia-cudnn-cu13",
    version="9.27.0.42",
    tag="win_amd64",
    sha256="7d96f634adafd55c72231eb0500ca77ab109ec8ebff7b33000b76e081bc4558e",
)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    wheel: Wheel
    kind: Kind


SMALL = {
    "xz": Recipe(wheel=CUDNN_JIT, kind="tar.xz"),
    "zst": Recipe(wheel=CUDNN_JIT, kind="tar.zst"),
    # No wheel of cudnn_jit is for Windows: this holds the Linux libraries, links and all.
    "zip": Recipe(wheel=CUDNN_JIT, kind="zip"),
}
FULL = {
    "xz": Recipe(wheel=CUDNN, kind="tar.xz"),
    "zst": Recipe(wheel=CUDNN, kind="tar.zst"),
    "zip": Recipe(wheel=CUDNN_WINDOWS, kind="zip"),
    "small xz": Recipe(wheel=CUDNN_JIT, kind="tar.xz"),
}


@dataclass(frozen=True, kw_only=True)
class Archive:
    """An archive in its redist tree, which lies in the cache, as does ``wheel``; the cache is what is served.

    ``expected`` are the contents of what a way leaves: the ``archive`` unpacked, the ``wheel`` unpacked, the ``file``.
    """

    tree: Tree
    kind: Kind
    wheel: Wheel
    size: int
    sha256: str
    expected: Mapping[str, Contents]

    def variables(self, served: str) -> dict[str, str]:
        """Return what a shell line may say of this archive; ``served`` is the cache's URL, with its slash."""
        made_of = self.wheel
        source = f"{served}{self.tree.path.name}/{repack.PRODUCT}/redist/"
        system, _, machine = made_of.platform.partition("-")
        variant = f"cuda{made_of.cuda_major}"
        return {
            "URL": source + self.tree.relative_path,
            "FILE": self.tree.archive.name,
            "LOCAL": str(self.tree.archive),
            "SHA256": self.sha256,
            "TOP": self.tree.archive.name.removesuffix(f".{self.kind}"),
            "SOURCE": source,
            "REDIST": str(self.tree.redist),
            "MANIFEST": source + self.tree.manifest.name,
            "WHEEL": served + made_of.file_name,
            "LABEL": self.tree.label,
            "CHOICE": f"--component {made_of.component} --platform {made_of.platform} --cuda {made_of.cuda_major}",
            "COMPONENT": made_of.component,
            "SYSTEM": system,
            "MACHINE": machine,
            "VARIANT": variant,
            "PREFIX": f"{repack.PRODUCT}/{self.tree.label}/{made_of.component}/{made_of.platform}/{variant}",
        }


def have(recipe: Recipe, cache: Path) -> Archive:
    """Return the archive of ``recipe``, made unless ``cache`` holds it; then the wheel need not be there."""
    tree = repack.tree(recipe.wheel, cache, recipe.kind)
    kept = cache / f"{tree.path.name}.json"
    if not (kept.exists() and tree.path.exists()):
        source = wheel.download(recipe.wheel, cache)
        repack.repack(source, cache, recipe.kind)
        contents.write(kept, {"archive": _of_archive(source), "wheel": _of_wheel(source)})
    whole = contents.File(size=tree.archive.stat().st_size, sha256=sha256_of(tree.archive))
    return Archive(
        tree=tree,
        kind=recipe.kind,
        wheel=recipe.wheel,
        size=whole.size,
        sha256=whole.sha256,
        expected={**contents.written(kept), "file": {tree.archive.name: whole}},
    )


def _of_archive(source: WheelFile) -> Contents:
    files = _recorded(source)
    return {
        name: contents.Link(target=entry) if isinstance(entry, str) else files[entry.filename]
        for name, entry in repack.contents(source).items()
    }


def _of_wheel(source: WheelFile) -> Contents:
    files = _recorded(source)
    return {name: files[info.filename] for name, info in source.files.items()}


def _recorded(source: WheelFile) -> dict[str, contents.File]:
    """Return the wheel's files as NVIDIA's own RECORD has them, independent of anything that was repacked here."""
    with source.open() as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = csv.reader(io.StringIO(archive.read(name).decode()))
        return {
            path: contents.File(size=int(size), sha256=_hex(digest)) for path, digest, size in rows if size
        }


def _hex(digest: str) -> str:
    encoded = digest.removeprefix("sha256=")
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).hex()
