"""A release on its server, and what the export of it is held against."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from consumers.tools import program
from installing import IMPATIENT

from cudnn_redist import lock
from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist import RedistServer, RedistTree

    from cudnn_redist import Lock

KEPT = ("PATH", "HOME")


class Exports:
    """One release, and its exports of any kind."""

    def __init__(self, tree: RedistTree, server: RedistServer) -> None:
        self.tree = tree
        self.server = server

    def lock(self, label: str = "9.27.0", **choices: Any) -> Lock:  # noqa: ANN401 - those of lock
        """Lock what is chosen; without a choice, cuda13 for all platforms."""
        root = self.tree.path / "no-root"
        chosen = {"cuda": "13", "sources": [self.server.url], **choices}
        return lock(label, root=root, transfer=IMPATIENT, **chosen)

    def text(self, kind: str, label: str = "9.27.0", **choices: Any) -> str:  # noqa: ANN401
        """Return the export of what is chosen."""
        return text_of(kind, self.lock(label, **choices))

    def entry(self, platform: str = "linux-x86_64", variant: str = "cuda13") -> dict[str, str]:
        """Return what the manifest says of an archive."""
        found: dict[str, str] = self.tree.manifest("9.27.0")["cudnn"][platform][variant]
        return found

    def name(self, platform: str = "linux-x86_64", variant: str = "cuda13") -> str:
        """Return the file name of an archive."""
        return self.entry(platform, variant)["relative_path"].rpartition("/")[2]

    def data(self, platform: str = "linux-x86_64", variant: str = "cuda13") -> bytes:
        """Return the bytes of an archive."""
        return self.tree.archive_path("9.27.0", "cudnn", platform, variant).read_bytes()


def run(
    *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, in an environment of little more than ``env``; a machine without it skips the test."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    return subprocess.run(
        [program(str(words[0])) if "/" not in str(words[0]) else str(words[0]), *map(str, words[1:])],
        cwd=cwd,
        env={**kept, **(env or {})},
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
