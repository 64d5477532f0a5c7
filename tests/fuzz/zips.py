"""The zip reader, with the policy on what may be written where."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from fuzz.members import UNSAFE, WORDS
from fuzz.sandbox import is_as_listed, stage
from fuzz.target import Subject, Target, leaking, told_well, when_refused
from unpack.building import GOOD, NAME, SAMPLE, file, folder, link, zip_info, zip_of

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import Unpacked, UnpackOptions, unpack_zip

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TARGET", "check", "mended", "read"]

OPTIONS = UnpackOptions(threads=2, max_bytes=1 << 20, max_members=200)
_LOCAL, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def read(data: bytes, destination: Path) -> Unpacked:
    return unpack_zip(io.BytesIO(data), destination, name=NAME, options=OPTIONS)


def check(data: bytes, read: Subject = read) -> None:
    """Nothing outside is touched, the tree is what its list says, and its files are those that zipfile finds."""
    with stage() as destination:
        try:
            unpacked = read(data, destination)
        except ArchiveError as error:
            told_well(error)
            return
        is_as_listed(unpacked)
        files = {
            (unpacked.root / member.path).relative_to(destination).as_posix(): member.sha256
            for member in unpacked.members
            if member.kind == "file"
        }
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        found = {_plain(info.orig_filename): info for info in archive.infolist()}
        assert files.keys() <= found.keys()
        for path, sha256 in files.items():
            assert hashlib.sha256(archive.read(found[path])).hexdigest() == sha256


def _plain(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def mended(data: bytes) -> bytes:
    """Make the end record, the offsets and the checksums right again, where the members still look like some."""
    fixed = bytearray(data)
    directory, end = data.find(_ENTRY), data.rfind(_END)
    if not 0 < directory < end <= len(data) - 22:
        return data
    struct.pack_into("<LLH", fixed, end + 12, end - directory, directory, len(data) - end - 22)
    for start, entry in zip(_all(_LOCAL, data), _all(_ENTRY, data), strict=False):
        if start + 30 <= directory <= entry <= end - 46:
            struct.pack_into("<L", fixed, entry + 42, start)
            _mend_content(fixed, start, entry)
    return bytes(fixed)


def _mend_content(fixed: bytearray, start: int, entry: int) -> None:
    """Write the true CRC and size of a member into its entry in the directory."""
    method, packed = (
        struct.unpack_from("<H", fixed, entry + 10)[0],
        struct.unpack_from("<L", fixed, entry + 20)[0],
    )
    name, extra = struct.unpack_from("<HH", fixed, start + 26)
    content = bytes(fixed[start + 30 + name + extra :][:packed])
    if method == zipfile.ZIP_DEFLATED:
        try:
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, 1 << 16)
        except zlib.error:
            return
    struct.pack_into("<L", fixed, entry + 16, zlib.crc32(content))
    struct.pack_into("<L", fixed, entry + 24, len(content))


def _all(magic: bytes, data: bytes) -> list[int]:
    found = [data.find(magic)]
    while found[-1] >= 0:
        found.append(data.find(magic, found[-1] + 1))
    return found[:-1]


def seeds() -> list[bytes]:
    stored = zip_info(file("top/stored"))
    stored.compress_type = zipfile.ZIP_STORED
    dos = zipfile.ZipInfo("top/d\u00e9j\u00e0/")
    dos.create_system, dos.external_attr = 0, 0x10
    large = zip_info(file("top/large"))
    large.extra = struct.pack("<HHQQ", 1, 16, 1, 1)
    good = [
        zip_of([(stored, b"content"), folder("top/d"), link("top/l", "stored"), file("top/x", b"#!", 0o755)]),
        zip_of([GOOD, (dos, b""), (large, b"1")], comment=b"a comment"),
        zip_of(SAMPLE[3:]),
        zip_of([]),
    ]
    return [*good, *(zip_of([GOOD, entry]) for entry in UNSAFE)]


def _anything(_: bytes, destination: Path) -> Unpacked:
    return Unpacked(root=destination, members=())


TARGET = Target(
    name="zip",
    subject=read,
    check=check,
    seeds=seeds,
    mended=mended,
    words=(*WORDS, _LOCAL, _ENTRY, _END, b"PK\x06\x06", b"PK\x06\x07", b"\x01\0\x10\0"),
    planted={
        "a damaged directory leaks zipfile's error": leaking(read, zipfile.BadZipFile),
        "damaged content leaks zlib's error": leaking(read, zlib.error),
        "a wrong CRC is passed over": when_refused(read, "has the CRC", _anything),
        "a member may begin anywhere": when_refused(read, "overlaps", _anything),
    },
)
