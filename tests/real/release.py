"""Several trees of one label put together into one release, as NVIDIA publishes it."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from real.repack import Tree


def put_together(trees: Sequence[Tree], path: Path) -> Path:
    """Make ``path`` a tree with one manifest of all; the archives are hard links, or copies where there can be none."""
    merged: dict[str, Any] = {}
    for tree in trees:
        for file in filter(_is_no_manifest, tree.redist.rglob("*")):
            target = path / file.relative_to(tree.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                _link(file, target)
        merged = _joined(merged, json.loads(tree.manifest.read_bytes()))
    (manifest,) = {path / tree.manifest.relative_to(tree.path) for tree in trees}
    manifest.write_text(json.dumps(merged, indent=4), encoding="ascii")
    return path


def _is_no_manifest(path: Path) -> bool:
    return path.is_file() and path.suffix != ".json"


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)


def _joined(one: Any, other: Any) -> Any:  # noqa: ANN401 - JSON
    """Return two manifests as one; where both say something, the first counts."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    return {**other, **{key: _joined(value, other.get(key)) for key, value in one.items()}}
