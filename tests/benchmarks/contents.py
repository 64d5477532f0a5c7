"""What a directory holds, and how that differs from what it should hold."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from real.wheel import sha256_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


@dataclass(frozen=True, kw_only=True)
class File:
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Link:
    target: str


Contents = dict[str, File | Link]


def read(directory: Path, *, besides: Collection[str] = ()) -> Contents:
    """Return every file and link by its path below ``directory``, without those at or below ``besides``."""
    found = [path for path in _paths(directory) if not _is_among(path.relative_to(directory), besides)]
    with ThreadPoolExecutor() as pool:
        nodes = pool.map(_node, found)
        return {path.relative_to(directory).as_posix(): node for path, node in zip(found, nodes, strict=True)}


def differences(found: Mapping[str, File | Link], expected: Mapping[str, File | Link]) -> list[str]:
    """Return a line for every path that is not as expected."""
    return [
        f"{path}: {found.get(path, 'nothing')}, expected {expected.get(path, 'nothing')}"
        for path in sorted(found.keys() | expected.keys())
        if found.get(path) != expected.get(path)
    ]


def write(file: Path, named: Mapping[str, Contents]) -> None:
    """Keep several contents as JSON."""
    plain = {name: {path: asdict(node) for path, node in held.items()} for name, held in named.items()}
    file.write_text(json.dumps(plain, indent=1), encoding="utf-8")


def written(file: Path) -> dict[str, Contents]:
    """Return what ``write`` kept."""
    plain = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: {path: Link(**node) if "target" in node else File(**node) for path, node in held.items()}
        for name, held in plain.items()
    }


def _paths(directory: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(directory):
        yield from (Path(folder, name) for name in files)
        yield from (path for path in (Path(folder, name) for name in names) if path.is_symlink())


def _is_among(path: Path, places: Collection[str]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _node(path: Path) -> File | Link:
    if path.is_symlink():
        return Link(target=str(path.readlink()))
    return File(size=path.stat().st_size, sha256=sha256_of(path))
