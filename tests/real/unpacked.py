"""Wheels of cuDNN unpacked into prefixes, as NVIDIA's archive is laid out or as the wheel is; no archive is packed."""

from __future__ import annotations

import shutil
import stat
from typing import TYPE_CHECKING, Any

from prefix.made import record
from real import repack

from cudnn_redist.manifest import Platform
from cudnn_redist.prefix.installed import Prefix
from cudnn_redist.prefix.record import Entry

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

    from real.wheel import WheelFile

__all__ = ["unpack"]


def unpack(source: WheelFile, path: Path, *, as_wheel: bool = False) -> Prefix:
    """Make an installed prefix of a wheel; ``as_wheel`` leaves its libraries under the one name ``libcudnn.so.9``."""
    held: dict[str, zipfile.ZipInfo | str] = {**source.files} if as_wheel else repack.contents(source)
    entries = []
    for name, content in held.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            (path / name).symlink_to(content)
            entries.append(Entry(path=name, kind="link", target=content))
        else:
            entries.append(_file(source, content, path, name))
    wheel = source.wheel
    entries += [
        Entry(path=folder, kind="directory")
        for folder in {name.split("/")[0] for name in held if "/" in name}
    ]
    facts: dict[str, Any] = {
        "label": wheel.label,
        "component": wheel.component,
        "version": wheel.version,
        "platform": wheel.platform,
        "variant": f"cuda{wheel.cuda_major}",
        "offered": {Platform(wheel.platform): (f"cuda{wheel.cuda_major}",)},
        "entries": tuple(sorted(entries, key=lambda entry: entry.path)),
    }
    (path / ".cudnn-redist.json").write_bytes(record(**facts).to_bytes())
    return Prefix.open(path)


def _file(source: WheelFile, info: zipfile.ZipInfo, path: Path, name: str) -> Entry:
    target = path / name
    with source.open() as archive, archive.open(info) as packed, target.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    return Entry(
        path=name,
        kind="file",
        size=info.file_size,
        executable=bool(target.stat().st_mode & stat.S_IXUSR),
        sha256=repack.sha256_of(target),
    )
