"""What an archive holds as the standard library reads it, and what a prefix has of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from installing import everything
from redist.archives import unpack_tar

if TYPE_CHECKING:
    from pathlib import Path

RECORD = ".cudnn-redist.json"

Tree = dict[str, tuple[str, str]]
"""Path -> kind and content digest, as ``installing.everything`` tells them."""


def tree_of_archive(archive: Path, folder: Path) -> Tree:
    """Unpack with ``tarfile`` into ``folder``, and return the tree below the top folder."""
    unpack_tar(archive, folder)
    (top,) = folder.iterdir()
    return everything(top)


def installed_tree(prefix: Path) -> Tree:
    """Return what a prefix has of its archive: neither the record nor what the record calls generated.

    What has no record has nothing.
    """
    if not (prefix / RECORD).is_file():
        return {}
    record = json.loads((prefix / RECORD).read_bytes())
    ours = {RECORD} | {entry["path"] for entry in record["generated"]}
    return {path: what for path, what in everything(prefix).items() if path not in ours}


def holds_all(directory: Path, tree: Tree, sizes: dict[str, int]) -> bool:
    """Whether every path of ``tree`` is there, each file at its full size: contents are not read."""
    for path, (kind, _) in tree.items():
        try:
            found = (directory / path).lstat()
        except FileNotFoundError:
            return False
        if kind.startswith("file") and found.st_size != sizes[path]:
            return False
    return True


def sizes_in(directory: Path) -> dict[str, int]:
    """Return path -> bytes of every file below ``directory``."""
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(directory).as_posix(): path.stat().st_size for path in files}
