"""Pack entries into real archives, the same bytes each time: tar.xz, tar.gz, tar.zst, tar and zip.

The tar.xz has several blocks, each with its sizes in its header, as ``xz -T0`` writes it. The standard
library writes single-block files only, so the ``xz`` program does it where there is one.
"""

from __future__ import annotations

import functools
import gzip
import io
import lzma
import shutil
import stat
import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

import zstandard

from .content import Entry, File, Folder, Link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KINDS = ("tar.xz", "tar.gz", "tar.zst", "tar", "zip")

BLOCK_BYTES = 64 * 1024
"""Uncompressed size of an xz block."""

_MTIME = 1_790_000_000
_ZIP_DATE = (2026, 9, 21, 14, 13, 20)


def pack(kind: str, top: str, entries: Mapping[str, Entry]) -> bytes:
    """Return the archive's bytes; every path lies below the folder ``top`` (``""`` for none).

    Entries keep their order; a directory comes before the first entry in it.
    """
    return _pack(kind, top, tuple(entries.items()))


def compress(kind: str, tar: bytes) -> bytes:
    """Return a plain tar compressed as ``kind`` says."""
    match kind:
        case "tar.xz":
            return xz(tar)
        case "tar.gz":
            return gzip.compress(tar, 1, mtime=0)
        case "tar.zst":
            return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(tar)
        case "tar":
            return tar
    raise ValueError(f"{kind!r} is not a kind of tar")


def xz(data: bytes, *, block_bytes: int = BLOCK_BYTES) -> bytes:
    """Return one xz stream: of several blocks if the ``xz`` program is here, else of one."""
    program = shutil.which("xz")
    if program is None:
        return lzma.compress(data, preset=1)
    command = [program, "--stdout", "-1", "--threads=2", f"--block-size={block_bytes}"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


@functools.lru_cache(maxsize=512)
def _pack(kind: str, top: str, entries: tuple[tuple[str, Entry], ...]) -> bytes:
    placed = list(_with_folders(top, entries))
    return _zip(placed) if kind == "zip" else compress(kind, _tar(placed))


def _with_folders(top: str, entries: tuple[tuple[str, Entry], ...]) -> Iterator[tuple[str, Entry]]:
    seen = {""}
    for below, entry in entries:
        path = f"{top}/{below}" if top else below
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in seen:
                seen.add(folder)
                yield folder, Folder()
        seen.add(path)
        yield path, entry


def _tar(entries: list[tuple[str, Entry]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, entry in entries:
            member = tarfile.TarInfo(path)
            # An owner that hardly exists on the test's host: it must never be restored.
            member.uid, member.gid, member.uname, member.gname = 31_999, 31_999, "builder", "builder"
            member.mtime = _MTIME
            _describe(member, entry)
            tar.addfile(member, io.BytesIO(entry.data) if isinstance(entry, File) else None)
    return buffer.getvalue()


def _describe(member: tarfile.TarInfo, entry: Entry) -> None:
    match entry:
        case File(data, mode):
            member.size, member.mode = len(data), mode
        case Link(target):
            member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
        case Folder(mode):
            member.type, member.mode = tarfile.DIRTYPE, mode


def _zip(entries: list[tuple[str, Entry]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, entry in entries:
            name, mode, data = _zip_fields(path, entry)
            member = zipfile.ZipInfo(name, _ZIP_DATE)
            member.create_system = 3  # Unix: the upper half of external_attr is a mode
            member.external_attr = mode << 16
            member.compress_type = zipfile.ZIP_DEFLATED if isinstance(entry, File) else zipfile.ZIP_STORED
            archive.writestr(member, data)
    return buffer.getvalue()


def _zip_fields(path: str, entry: Entry) -> tuple[str, int, bytes]:
    match entry:
        case File(data, mode):
            return path, stat.S_IFREG | mode, data
        case Link(target):
            return path, stat.S_IFLNK | 0o777, target.encode()
        case Folder(mode):
            return f"{path}/", stat.S_IFDIR | mode, b""


def unpack_tar(archive: Path, folder: Path) -> None:
    """Unpack a sound archive by the standard library, whose earlier releases (before 3.11.4) know no filter."""
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "tar_filter"):
            tar.extraction_filter = tarfile.tar_filter
        tar.extractall(folder)
