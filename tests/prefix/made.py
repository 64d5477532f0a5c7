"""Small prefixes made by hand: a record and the files it names."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from redist.libraries import elf_library

from cudnn_redist.manifest import Platform
from cudnn_redist.prefix.installed import Prefix
from cudnn_redist.prefix.record import Entry, Record

FILES = {"include/cudnn.h": b"#pragma once\n", "lib/libcudnn.so.9.27.0": elf_library(soname="libcudnn.so.9")}
LINKS = {"lib/libcudnn.so": "libcudnn.so.9", "lib/libcudnn.so.9": "libcudnn.so.9.27.0"}
EXECUTABLE = "lib/libcudnn.so.9.27.0"


def entries(files: dict[str, bytes] = FILES, links: dict[str, str] = LINKS) -> tuple[Entry, ...]:
    """Return what an archive of these holds, sorted by path as the unpacker lists it."""
    directories = {path.rpartition("/")[0] for path in (*files, *links)} - {""}
    found = [Entry(path=path, kind="directory") for path in directories]
    found += [Entry(path=path, kind="link", target=target) for path, target in links.items()]
    found += [
        Entry(
            path=path,
            kind="file",
            size=len(data),
            executable=path == EXECUTABLE,
            sha256=hashlib.sha256(data).hexdigest(),
        )
        for path, data in files.items()
    ]
    return tuple(sorted(found, key=lambda entry: entry.path))


def record(**changes: Any) -> Record:  # noqa: ANN401 - any field of a record
    """Return the record of the prefix that ``fill`` makes, or one that differs in ``changes``."""
    fields: dict[str, Any] = {
        "product": "cudnn",
        "label": "9.27.0",
        "component": "cudnn",
        "version": "9.27.0.42",
        "platform": "linux-x86_64",
        "variant": "cuda13",
        "archive_path": "cudnn/linux-x86_64/x.tar.xz",
        "archive_sha256": "a" * 64,
        "archive_size": 1000,
        "manifest_sha256": "b" * 64,
        "is_main": True,
        "offered": {
            Platform("linux-x86_64"): ("cuda12", "cuda13"),
            Platform("source"): (None,),
        },
        "entries": entries(),
    }
    return Record(**fields | changes)


def fill(root: Path, files: dict[str, bytes] = FILES, links: dict[str, str] = LINKS) -> Path:
    """Write the files of a prefix, without its record."""
    root.mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        (root / path).chmod(0o755 if path == EXECUTABLE else 0o644)
    for path, target in links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)
    return root


def installed(
    path: Path,
    files: dict[str, bytes] = FILES,
    links: dict[str, str] = LINKS,
    **changes: Any,  # noqa: ANN401 - any field of a record
) -> Prefix:
    """Make a whole prefix at ``path``."""
    fill(path, files, links)
    changes.setdefault("entries", entries(files, links))
    (path / ".cudnn-redist.json").write_bytes(record(**changes).to_bytes())
    return Prefix.open(path)


def names(directory: Path) -> list[str]:
    """Return what lies in a directory, sorted."""
    return sorted(path.name for path in directory.iterdir())


def age(path: Path, seconds: float) -> None:
    """Let everything in a tree look as if touched so long ago."""
    when = time.time() - seconds
    for directory, directories, files in os.walk(path):
        for name in (*directories, *files):
            os.utime(Path(directory, name), (when, when), follow_symlinks=False)
    os.utime(path, (when, when))
