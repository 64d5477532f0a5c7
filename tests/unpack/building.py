"""Small archives built member by member, down to the raw fields of a header."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import warnings
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard

from cudnn_redist.unpack import Kind, UnpackOptions, unpack, unpack_zip

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cudnn_redist.unpack import Unpacked

NAME = "archive-of-the-test"
MTIME = 1_790_000_000
END = bytes(1024)
NEGATIVE = "has a negative size|a damaged header"
"""What is said of a negative size: newer releases of ``tarfile`` refuse it themselves."""

_COMPRESS = {
    Kind.XZ: lzma.compress,
    Kind.ZST: zstandard.ZstdCompressor(write_checksum=True).compress,
    Kind.GZ: lambda data: gzip.compress(data, mtime=0),
    Kind.TAR: bytes,
}
TAR_KINDS = tuple(_COMPRESS)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A member: a file unless ``target`` (a link, ``hard`` or not), a ``directory``, or a raw tar ``type``."""

    name: str
    data: bytes = b""
    mode: int = 0o644
    mtime: float = MTIME
    target: str | None = None
    hard: bool = False
    directory: bool = False
    type: bytes | None = None


def file(name: str, data: bytes = b"content", mode: int = 0o644) -> Entry:
    return Entry(name=name, data=data, mode=mode)


def folder(name: str, mode: int = 0o755) -> Entry:
    return Entry(name=name, directory=True, mode=mode)


def link(name: str, target: str) -> Entry:
    return Entry(name=name, target=target, mode=0o777)


def hard_link(name: str, target: str) -> Entry:
    return Entry(name=name, target=target, hard=True)


def special(name: str, kind: bytes) -> Entry:
    return Entry(name=name, type=kind)


SAMPLE = (
    folder("top"),
    folder("top/lib"),
    file("top/lib/libx.so.9.1", b"\x7fELF" + bytes(range(256)) * 40, 0o755),
    link("top/lib/libx.so.9", "libx.so.9.1"),
    link("top/lib/libx.so", "libx.so.9"),
    file("top/include/x.h", b"#define X 1\n" * 300),
    file("top/LICENSE", b"as is", 0o444),
    file("top/empty", b""),
)


def tar_member(entry: Entry, tar_format: int = tarfile.GNU_FORMAT) -> bytes:
    """Return the member's blocks: headers, content and padding."""
    info = tarfile.TarInfo(entry.name)
    info.mode, info.mtime = entry.mode, entry.mtime
    info.uid = info.gid = 31_999
    if entry.type is not None:
        info.type = entry.type
    elif entry.directory:
        info.type = tarfile.DIRTYPE
    elif entry.target is not None:
        info.type, info.linkname = (tarfile.LNKTYPE if entry.hard else tarfile.SYMTYPE), entry.target
    info.size = len(entry.data)
    return info.tobuf(tar_format, "utf-8", "surrogateescape") + entry.data + bytes(-len(entry.data) % 512)


def tar(entries: Iterable[Entry], tar_format: int = tarfile.GNU_FORMAT, end: bytes = END) -> bytes:
    return b"".join(tar_member(entry, tar_format) for entry in entries) + end


def tar_of(kind: Kind, entries: Iterable[Entry]) -> bytes:
    return compressed(kind, tar(entries))


def compressed(kind: Kind, data: bytes) -> bytes:
    return _COMPRESS[kind](data)


def zip_info(entry: Entry) -> zipfile.ZipInfo:
    """Return the member's fields as a zip made on Unix has them."""
    info = zipfile.ZipInfo(entry.name + "/" * entry.directory, (2026, 9, 21, 14, 13, 20))
    info.create_system = 3
    form = stat.S_IFDIR if entry.directory else stat.S_IFLNK if entry.target is not None else stat.S_IFREG
    info.external_attr = (form | entry.mode) << 16
    info.compress_type = zipfile.ZIP_STORED if entry.directory or entry.target else zipfile.ZIP_DEFLATED
    return info


def zip_of(entries: Iterable[Entry | tuple[zipfile.ZipInfo, bytes]], comment: bytes = b"") -> bytes:
    """Return a zip of entries, or of raw fields and content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")
        for entry in entries:
            if isinstance(entry, Entry):
                data = entry.target.encode() if entry.target is not None else entry.data
                archive.writestr(zip_info(entry), data)
            else:
                archive.writestr(*entry)
        archive.comment = comment
    return buffer.getvalue()


def unpack_bytes(
    data: bytes, destination: Path, kind: Kind = Kind.TAR, options: UnpackOptions | None = None
) -> Unpacked:
    """Unpack an archive held in memory into a new directory."""
    destination.mkdir()
    options = options or UnpackOptions(threads=2)
    if kind is Kind.ZIP:
        return unpack_zip(io.BytesIO(data), destination, name=NAME, options=options)
    return unpack(io.BytesIO(data), destination, name=NAME, kind=kind, options=options)


GOOD = file("top/good")


def header(entry: Entry, **fields: bytes) -> bytes:
    """Return a member's blocks with raw fields put in its first header, whose checksum is set right again."""
    places = {"size": 124, "mtime": 136, "type": 156, "name": 0, "prefix": 345}
    block = bytearray(tar_member(entry))
    for field, value in fields.items():
        block[places[field] : places[field] + len(value)] = value
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block[:512]):06o}\0 ".encode()
    return bytes(block)


def extended(kind: bytes, data: bytes) -> bytes:
    """Return an extended header: a pax one (``x``, ``g``) or a GNU long name (``L``, ``K``)."""
    return tar_member(Entry(name="extended", type=kind, data=data))


def pax(**fields: str) -> bytes:
    records = b""
    for key, value in fields.items():
        rest = f" {key}={value}\n".encode()
        length = len(rest) + 1
        while len(str(length)) + len(rest) != length:
            length = len(str(length)) + len(rest)
        records += str(length).encode() + rest
    return extended(b"x", records)
