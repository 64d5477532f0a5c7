"""A step of a Dockerfile, run by a shell as a builder runs it: its mount is a directory."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from export.ground import run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, their lines joined (Dockerfile reference, "Format")."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n", "", lines)
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


class Builder:
    """A builder without an image: one cache, one directory that the step fills."""

    def __init__(self, folder: Path, text: str) -> None:
        self.cache = folder / "cache"
        self.cache.mkdir(exist_ok=True)
        self.prefix = folder / "prefix"
        self._folder = folder
        self._text = text

    def build(self, **arguments: str) -> subprocess.CompletedProcess[str]:
        steps = instructions(self._text)
        assert [word for word, _ in steps] == ["ARG", "ARG", "ARG", "RUN", "ENV"]
        defaults = dict(rest.split("=", 1) for word, rest in steps if word == "ARG" and "=" in rest)
        flag, _, command = steps[3][1].partition(" ")
        assert flag == "--mount=type=cache,target=/var/cache/cudnn-redist,sharing=locked"
        env = {**defaults, "CUDNN_DIR": str(self.prefix), **arguments}
        command = command.replace("/var/cache/cudnn-redist", shlex.quote(str(self.cache)))
        return run("sh", "-c", command, cwd=self._folder, env=env)
