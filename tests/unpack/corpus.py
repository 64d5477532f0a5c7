"""Small archives built member by member, good ones and every kind of bad one."""

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

UNSAFE_IN_EVERY_KIND: dict[str, tuple[Entry, ...]] = {
    "absolute": (file("/etc/evil"),),
    "absolute, two slashes": (file("//etc/evil"),),
    "climbing": (file("../evil"),),
    "climbing inside": (file("top/../../evil"),),
    "climbing and coming back": (file("top/../top/evil"),),
    "climbing directory": (folder("top/../.."),),
    "drive letter": (file("C:/evil"),),
    "drive letter without a slash": (file("c:evil"),),
    "backslash": (file("top\\bin\\evil.dll"),),
    "climbing with backslashes": (file("..\\evil"),),
    "control character": (file("top/a\nb"),),
    "escape sequence": (file("top/\x1b[2Jevil"),),
    "component too long": (file("top/" + "x" * 256),),
    "name too long": (file("top/" + "/".join(["x" * 100] * 11)),),
    "link in place of the tree": (link(".", "top"),),
    "duplicate": (file("top/good", b"again"),),
    "duplicate, spelled otherwise": (file("./top//good"),),
    "duplicate directory": (folder("top/d"), folder("top/d")),
    "file over directory": (folder("top/d"), file("top/d")),
    "file over implied directory": (file("top"),),
    "directory over file": (folder("top/good"),),
    "below a file": (file("top/good/below"),),
    "link over file": (link("top/good", "other"),),
    "absolute link": (link("top/l", "/etc/passwd"),),
    "link with a backslash": (link("top/l", "..\\evil"),),
    "link with a drive letter": (link("top/l", "C:/evil"),),
    "climbing link": (link("top/l", "../../evil"),),
    "link out of the top folder and back": (link("top/l", "../top/good"),),
    "link to nothing": (link("top/l", "nothing"),),
    "link through a file": (link("top/l", "good/.."),),
    "link to itself": (link("top/l", "l"),),
    "links in a circle": (link("top/l", "m"), link("top/m", "l")),
    "chain that leaves": (link("top/l", "d/up/up"), link("top/d/up", "../.."), folder("top/d")),
    "write through a link": (link("top/l", "d"), folder("top/d"), file("top/l/evil")),
    "write through a link to outside": (link("top/l", ".."), file("top/l/evil")),
    "directory below a link": (link("top/l", ".."), folder("top/l/evil")),
    "link below a link": (link("top/l", ".."), link("top/l/m", "good")),
    "file in place of a link": (link("top/l", "good"), file("top/l")),
}

UNSAFE_IN_TAR: dict[str, tuple[Entry, ...]] = {
    "fifo": (special("top/fifo", tarfile.FIFOTYPE),),
    "character device": (special("top/null", tarfile.CHRTYPE),),
    "block device": (special("top/disk", tarfile.BLKTYPE),),
    "unknown type": (special("top/what", b"Z"),),
    "sparse": (special("top/sparse", tarfile.GNUTYPE_SPARSE),),
    "not UTF-8": (file("top/\udcff\udcfe"),),
    "hard link to nothing": (hard_link("top/h", "top/nothing"),),
    "hard link to what comes later": (hard_link("top/h", "top/later"), file("top/later")),
    "hard link outside": (hard_link("top/h", "../sentinel/file"),),
    "absolute hard link": (hard_link("top/h", "/etc/passwd"),),
    "hard link to a directory": (folder("top/d"), hard_link("top/h", "top/d")),
    "hard link to a link": (link("top/l", "good"), hard_link("top/h", "top/l")),
    "hard link over a file": (hard_link("top/good", "top/good"),),
}
