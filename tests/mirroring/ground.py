"""What the tests of mirrors share: one way to make one, and what lies in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from installing import IMPATIENT

from cudnn_redist.mirroring.making import Mirrored, mirror

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree

TAR = "9.27.0.42_cuda13-archive.tar.xz"
"""How the names of 9.27.0's archives for CUDA 13 end."""

HIDDEN = [".cudnn-redist-mirror.json", ".partial"]
"""What a finished mirror has beside its tree; nothing is in the second."""

ONE = {"component": "cudnn", "platform": "linux-x86_64", "cuda": "13"}
"""A choice of one archive."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A published tree, and where its mirror goes."""

    tree: RedistTree
    mirror: Path
    root: Path

    def make(self, *labels: str, source: object = None, **choices: Any) -> Mirrored:  # noqa: ANN401 - those of mirror
        """Mirror labels, 9.27.0 without any, from the published directory or another source."""
        sources = choices.pop("sources", [str(source or self.tree.path)])
        choices = {"transfer": IMPATIENT, **choices}
        return mirror(self.mirror, labels or ("9.27.0",), sources=sources, root=self.root, **choices)

    def files(self) -> dict[str, bytes]:
        """Return what a server would show of the mirror: no index pages and nothing hidden."""
        visible = (
            path for path in sorted(self.mirror.rglob("*")) if path.is_file() and path.name != "index.html"
        )
        named = {path.relative_to(self.mirror).as_posix(): path for path in visible}
        return {place: path.read_bytes() for place, path in named.items() if not place.startswith(".")}

    def place(self, path: Path) -> str:
        """Return where the mirror has what is published at ``path``."""
        return path.relative_to(self.tree.path).as_posix()

    def published(self, *paths: Path) -> dict[str, bytes]:
        """Return what is published at ``paths``, by its place in a mirror."""
        return {self.place(path): path.read_bytes() for path in sorted(paths)}

    def partials(self) -> list[Path]:
        """Return the archives that are not complete yet."""
        return sorted((self.mirror / ".partial").glob("*.part"))

    def hidden(self) -> list[str]:
        """Return what the mirror has beside its tree."""
        hidden = (path for top in self.mirror.glob(".*") for path in (top, *top.rglob("*")))
        return sorted(path.relative_to(self.mirror).as_posix() for path in hidden)
