"""Nix itself, in a store of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from export.ground import run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


class Nix:
    """Nix for one user, with a store that is a temporary directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "conf").mkdir()
        (folder / "conf" / "nix.conf").write_text("build-users-group =\nsandbox = false\nsubstituters =\n")

    def run(self, program: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        places = {"STORE_DIR": "store", "STATE_DIR": "state", "LOG_DIR": "log", "CONF_DIR": "conf"}
        env = {f"NIX_{name}": str(self._folder / place) for name, place in places.items()}
        return run(program, *words, cwd=cwd or self._folder, env={**env, "NIX_REMOTE": "local"})
