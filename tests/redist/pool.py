"""NVIDIA's content-addressed server as a directory: channels, releases, manifests that climb into a pool.

    <path>/bin-archive/release/channels.json
    <path>/bin-archive/release/<product>/releases.json
    <path>/bin-archive/release/<product>/<label>/<sha256>.json    paths begin with ../../../pool/
    <path>/bin-archive/pool/<platform>/<uuid>/<archive>

The shape is what nvidia-binarchive 0.7.0 reads; a test runs that tool on it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tree import RedistTree

__all__ = ["RedistPool"]

_CLIMB = "../../../pool"


class RedistPool:
    """The server's tree under ``path``; releases are taken from a ``RedistTree``."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.release = self.path / "bin-archive" / "release"

    def add_release(self, tree: RedistTree, label: str, *, channel: str = "stable") -> Path:
        """Publish a release of ``tree`` in a channel, and return its manifest's path."""
        manifest = tree.manifest(label)
        for entry in _archives(manifest):
            archive = Path(entry["relative_path"])
            place = f"{archive.parts[-2]}/{uuid.uuid5(uuid.NAMESPACE_URL, entry['sha256'])}/{archive.name}"
            target = self.path / "bin-archive" / "pool" / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.redist / archive, target)
            entry["relative_path"] = f"{_CLIMB}/{place}"
        data = json.dumps(manifest, indent=2).encode()
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.release / tree.product / label / f"{sha256}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        known = f"{label}/{sha256}.json"
        self._list("channels.json", channel, {"product": tree.product})
        self._list(
            f"{tree.product}/releases.json",
            channel,
            {"version": label, "manifest": known, "sha256": sha256, "size": len(data)},
        )
        return path

    def _list(self, name: str, channel: str, entry: dict[str, Any]) -> None:
        path = self.release / name
        listed = json.loads(path.read_bytes()) if path.exists() else {}
        if entry not in listed.setdefault(channel, []):
            listed[channel].append(entry)
        path.write_text(json.dumps(listed, indent=2))


def _archives(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if isinstance(node.get("relative_path"), str):
            yield node
        for value in node.values():
            yield from _archives(value)
