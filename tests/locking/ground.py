"""What the tests of locks share: locks of the test tree, and releases that change at their source."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from installing import IMPATIENT

from cudnn_redist import Lock, lock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from redist import RedistTree

Node = dict[str, Any]


def locked(source: object, root: Path, *labels: str, **choices: Any) -> Lock:  # noqa: ANN401 - those of lock
    """Lock 9.27.0, or ``labels``, of a server's URL or a directory."""
    return lock(labels or ("9.27.0",), sources=[str(source)], root=root, transfer=IMPATIENT, **choices)


def document(lock: Lock) -> Node:
    """Return what a lock file says, as parsed JSON, to be spoiled."""
    parsed: Node = json.loads(lock.to_bytes())
    return parsed


def places(lock: Lock, release: int = 0) -> list[str]:
    """Return the places of the archives of a release, as ``component platform variant``."""
    return [" ".join(filter(None, archive.place)) for archive in lock.releases[release].archives]


def write(path: Path, lock: Lock | Mapping[str, Any] | bytes) -> Path:
    """Write a lock file, or what is to be taken for one."""
    if isinstance(lock, Lock):
        lock = lock.to_bytes()
    path.write_bytes(lock if isinstance(lock, bytes) else json.dumps(lock).encode())
    return path


def entry(tree: RedistTree, label: str, change: Callable[[Node], object], variant: str = "cuda13") -> None:
    """Change the manifest's entry of cudnn for linux-x86_64."""
    tree.edit_manifest(label, lambda manifest: change(manifest["cudnn"]["linux-x86_64"][variant]))
