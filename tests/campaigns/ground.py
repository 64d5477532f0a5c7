"""What the campaigns share: a served release of many small files, and an older one that stands in its place."""

from __future__ import annotations

import hashlib
import random
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.processes import run
from campaigns.trees import installed_tree, sizes_in, tree_of_archive
from cli.ground import CHOICE, PREFIX
from redist import File, RedistServer, RedistTree
from redist.libraries import elf_library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from campaigns.trees import Tree
    from redist import Request
    from redist.content import Entry

LABEL = "9.27.0"
FILES = 900
BYTES = 1_500
"""Of each file: so many take longer to unpack than to fetch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """``server`` has the new archive; ``standing`` is a root that has the old one of the same label installed.

    ``trees`` is what the standard library makes of the archives, by sha256; ``sizes`` are the new one's files.
    """

    server: RedistServer
    standing: Path
    sha256: str
    size: int
    trees: Mapping[str, Tree]
    sizes: dict[str, int]

    @property
    def tree(self) -> Tree:
        """What the new archive holds."""
        return self.trees[self.sha256]

    def words(self, root: Path, *more: str, cuda: str = "13") -> list[str | Path]:
        """Return the words of a fetch from the server into ``root``."""
        choice = ("--platform", "linux-x86_64", "--cuda", cuda, "--no-progress")
        return ["fetch", LABEL, *choice, "--root", root, "--source", self.server.url, *more]

    def root(self, folder: Path, *, standing: bool) -> Path:
        """Make a root in ``folder``: an empty one, or one that has the old prefix."""
        root = folder / "root"
        if standing:
            shutil.copytree(self.standing, root, symlinks=True)
        return root

    def downloads(self) -> list[Request]:
        """Return the requests for archives so far."""
        return self.server.requests(".tar.xz")

    def faults_of(self, prefix: Path) -> Iterator[str]:
        """Yield what is wrong with a prefix: none at all is sound, and else it is whole by two judges."""
        if not prefix.exists():
            return
        done = run(["verify", prefix])
        if done.code:
            yield f"verify: {done.code}: {done.err}"
        elif installed_tree(prefix) not in self.trees.values():
            yield "the tree is that of no archive, though verify finds no fault"


@contextmanager
def ground(folder: Path, *, files: int = FILES) -> Iterator[Ground]:
    """Make the trees under ``folder`` and serve the new one."""
    old = _released(folder / "old", "old", files // 3)
    new = _released(folder / "new", "new", files)
    standing = folder / "standing"
    done = run(["fetch", LABEL, *CHOICE, "--root", standing, "--source", old.path])
    if done.code:
        raise RuntimeError(done.err)
    trees = {}
    for tree in (old, new):
        archive = tree.archive_path(LABEL)
        unpacked = folder / f"{tree.path.name}-unpacked"
        sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
        trees[sha256] = tree_of_archive(archive, unpacked)
    (top,) = unpacked.iterdir()
    with RedistServer(new.path) as server:
        yield Ground(
            server=server,
            standing=standing,
            sha256=sha256,
            size=archive.stat().st_size,
            trees=trees,
            sizes=sizes_in(top),
        )


def prefix_in(root: Path) -> Path:
    """Return where the release of the ground is installed."""
    return root / PREFIX


def _released(folder: Path, seed: str, files: int) -> RedistTree:
    tree = RedistTree(folder)
    tree.add_release(LABEL, platforms=["linux-x86_64"], content=_many(seed, files))
    return tree


def _many(seed: str, files: int) -> Callable[..., Mapping[str, Entry]]:
    """Return content for ``add_release``: small files of noise, and, for other variants, next to nothing."""

    def content(*described: str | None) -> Mapping[str, Entry]:
        noise = random.Random(f"{seed} {described}")
        count = files if "cuda13" in described else 1
        small = {f"lib/part{each % 10}/noise{each}": File(noise.randbytes(BYTES)) for each in range(count)}
        return {
            "include/cudnn.h": File(seed.encode()),
            "lib/libcudnn.so.9": File(elf_library(payload=seed.encode()), 0o755),
            **small,
        }

    return content
