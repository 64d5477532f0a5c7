"""The ground of the races: four small archives on a server, and what a bad look at the root would be."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from campaigns.trees import RECORD, holds_all, installed_tree, sizes_in, tree_of_archive
from redist import RedistServer, RedistTree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from campaigns.trees import Tree
    from redist import Request

LABEL = "9.27.0"
PLATFORMS = ("linux-x86_64", "linux-sbsa")


class Choice(NamedTuple):
    """One archive of the release."""

    platform: str
    cuda: str

    def prefix(self, root: Path) -> Path:
        return root / "cudnn" / LABEL / "cudnn" / self.platform / f"cuda{self.cuda}"


CHOICES = [Choice(platform, cuda) for platform in PLATFORMS for cuda in ("13", "12")]


class Content(NamedTuple):
    """What an archive holds, as the standard library reads it."""

    tree: Tree
    sizes: dict[str, int]


class Arena:
    """``records`` are those of the first prefixes seen: all others are to be the same, byte for byte."""

    def __init__(self, server: RedistServer, contents: dict[Choice, Content]) -> None:
        self.server = server
        self.contents = contents
        self._records: dict[Choice, bytes] = {}

    def words(self, choice: Choice, root: Path, *more: str) -> list[str | Path]:
        """Return the words of a fetch of one archive into ``root``."""
        chosen = ("--platform", choice.platform, "--cuda", choice.cuda, "--no-progress")
        return ["fetch", LABEL, *chosen, "--root", root, "--source", self.server.url, *more]

    def downloads(self, choice: Choice) -> list[Request]:
        """Return the requests for one archive so far."""
        return self.server.requests(f"{choice.platform}-{LABEL}.42_cuda{choice.cuda}-archive.tar.xz")

    def glimpsed(self, root: Path) -> Iterator[str]:
        """Yield prefixes that are there and incomplete at this moment, while others work on the root."""
        for choice, content in self.contents.items():
            prefix = choice.prefix(root)
            before = _identity(prefix)
            whole = (prefix / RECORD).is_file() and holds_all(prefix, *content)
            if not whole and before is not None and _identity(prefix) == before:
                yield f"an incomplete prefix was seen: {prefix}"

    def faults_of(self, choice: Choice, root: Path) -> Iterator[str]:
        """Yield how a finished prefix differs from the archive, or its record from every other one."""
        prefix = choice.prefix(root)
        if installed_tree(prefix) != self.contents[choice].tree:
            yield f"another tree: {prefix}"
            return
        record = (prefix / RECORD).read_bytes()
        if self._records.setdefault(choice, record) != record:
            yield f"another record: {prefix}"


@contextmanager
def arena(folder: Path) -> Iterator[Arena]:
    """Make the archives under ``folder`` and serve them."""
    tree = RedistTree(folder / "served")
    tree.add_release(LABEL, platforms=PLATFORMS)
    contents = {}
    for choice in CHOICES:
        unpacked = folder / f"{choice.platform}-{choice.cuda}"
        archive = tree.archive_path(LABEL, "cudnn", choice.platform, f"cuda{choice.cuda}")
        found = tree_of_archive(archive, unpacked)
        (top,) = unpacked.iterdir()
        contents[choice] = Content(found, sizes_in(top))
    with RedistServer(tree.path) as server:
        yield Arena(server, contents)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a directory from its successor under the same name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_ctime_ns
