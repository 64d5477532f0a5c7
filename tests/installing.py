"""Plans of the test tree, and what is left on disk after they ran."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudnn_redist import InstallOptions, TransferOptions, plan

if TYPE_CHECKING:
    from cudnn_redist import Plan

CHOSEN = {"platform": "linux-x86_64", "cuda": "13"}
IMPATIENT = TransferOptions(retries=0, retry_delay=0.01)


def planned(source: object, root: Path, label: str = "9.27.0", **choices: Any) -> Plan:  # noqa: ANN401
    """Plan one archive, or what ``choices`` say, from a server's URL or a directory."""
    return plan(label, sources=[str(source)], root=root, transfer=IMPATIENT, **{**CHOSEN, **choices})


def options(**changes: Any) -> InstallOptions:  # noqa: ANN401 - any option
    """Return options that give up at the first failure of the line."""
    return InstallOptions(**{"transfer": IMPATIENT, **changes})


def everything(root: Path) -> dict[str, tuple[str, str]]:
    """Return every path below ``root`` with its kind and content, links not followed."""
    found = {}
    for directory, directories, files in os.walk(root):
        for name in (*directories, *files):
            path = Path(directory, name)
            found[path.relative_to(root).as_posix()] = _described(path)
    return found


def _described(path: Path) -> tuple[str, str]:
    if path.is_symlink():
        return "link", str(path.readlink())
    if path.is_dir():
        return "directory", ""
    executable = "x" if path.stat().st_mode & 0o100 else "-"
    return f"file {executable}", hashlib.sha256(path.read_bytes()).hexdigest()


def leftovers(root: Path) -> list[str]:
    """Return the stages, partials and prefixes moved aside under a root: after any run there are none."""
    return [path for path in everything(root) if path.endswith((".stage", ".old", ".part", ".part.json"))]
