"""Forms of zip: kinds of member that only its attributes can say, a directory that lies, overlaps and bombs."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib

from unpack.building import GOOD, Entry, file, folder, link, zip_of
from unpack.specimen import Specimen, Verdict

LOCAL, DIRECTORY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_MIB = bytes(1 << 20)


def info(name: str, mode: int = stat.S_IFREG | 0o644, *, system: int = 3, dos: int = 0) -> zipfile.ZipInfo:
    """Return the fields of a member, made on the system of that number (3 is Unix)."""
    made = zipfile.ZipInfo(name)
    made.create_system = system
    made.external_attr = mode << 16 | dos
    return made


def edited(data: bytes, record: bytes, offset: int, value: bytes) -> bytes:
    """Return the zip with bytes of its last record of a kind overwritten."""
    at = data.rindex(record) + offset
    return data[:at] + value + data[at + len(value) :]


def in_both(data: bytes, local: int, directory: int, value: bytes) -> bytes:
    """Return the zip with a field of its last member overwritten, in its own header and in the directory."""
    return edited(edited(data, LOCAL, local, value), DIRECTORY, directory, value)


def deflated(packed: bytes, size: int, crc: int) -> bytes:
    """Return a zip whose last member has these packed bytes and announces this size and CRC."""
    data = zip_of([GOOD, (info("top/f"), packed)])
    data = in_both(data, 8, 10, struct.pack("<H", zipfile.ZIP_DEFLATED))
    data = in_both(data, 22, 24, struct.pack("<L", size))
    return in_both(data, 14, 16, struct.pack("<L", crc))


def _deflate(data: bytes, times: int = 1) -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    return b"".join(packer.compress(data) for _ in range(times)) + packer.flush()


def _specimen(name: str, data: bytes, verdict: Verdict, reason: str = "", *paths: str) -> Specimen:
    return Specimen(name=name, kind="zip", build=lambda: data, verdict=verdict, reason=reason, paths=paths)


def _member(name: str, made: zipfile.ZipInfo, content: bytes, reason: str) -> Specimen:
    return _specimen(name, zip_of([GOOD, (made, content)]), "unsafe", reason)


def _packed_as(method: int) -> zipfile.ZipInfo:
    made = info("top/x")
    made.compress_type = method
    return made


_TWO = zip_of([GOOD, file("top/last", _MIB)])
_NUL = zip_of([GOOD, file("top/good.txt_x")]).replace(b"top/good.txt_x", b"top/good.txt\0x")
_PACKED = _deflate(_MIB)
_LONG_LINK = "is a link of 6000 bytes"

MEMBERS = (
    _member("fifo", info("top/x", stat.S_IFIFO), b"", "is a device, a fifo or a socket"),
    _member("character device", info("top/x", stat.S_IFCHR), b"", "is a device, a fifo or a socket"),
    _member("block device", info("top/x", stat.S_IFBLK), b"", "is a device, a fifo or a socket"),
    _member("socket", info("top/x", stat.S_IFSOCK), b"", "is a device, a fifo or a socket"),
    _member("directory with content", info("top/x/"), b"content", "is a directory with content"),
    _member("link of 6000 bytes", info("top/x", stat.S_IFLNK), b"a/" * 3_000, _LONG_LINK),
    _member("link to no UTF-8", info("top/x", stat.S_IFLNK), b"\xff\xfe", "is not UTF-8"),
    _member("link with a NUL", info("top/x", stat.S_IFLNK), b"good\0", "which holds a control character"),
    _member("empty link", info("top/x", stat.S_IFLNK), b"", "which is empty"),
    _member("empty name", info(""), b"x", "is empty"),
    _member("bzip2", _packed_as(zipfile.ZIP_BZIP2), b"x", "is compressed with method 12"),
    _member("lzma", _packed_as(zipfile.ZIP_LZMA), b"x", "is compressed with method 14"),
    _specimen("NUL in a name", _NUL, "unsafe", "holds a control character"),
    _specimen("encrypted", in_both(_TWO, 6, 8, b"\x01\0"), "unsafe", "is encrypted"),
    _specimen("strongly encrypted", in_both(_TWO, 6, 8, b"\x40\0"), "unsafe", "is encrypted"),
    _specimen(
        "two names for one member", edited(_TWO, LOCAL, 30, b"TOP"), "unsafe", "differs from the directory"
    ),
)

STRUCTURE = (
    _specimen(
        "no header where one should be", edited(_TWO, LOCAL, 0, b"XX"), "damaged", "has no header where"
    ),
    _specimen("two methods", edited(_TWO, LOCAL, 8, b"\0\0"), "damaged", "differs from the directory"),
    _specimen("stored in two sizes", in_both(_TWO, 8, 10, b"\0\0"), "damaged", "is stored in another size"),
    _specimen("wrong CRC", in_both(_TWO, 14, 16, bytes(4)), "damaged", "has the CRC"),
    _specimen(
        "directory without magic", edited(_TWO, DIRECTORY, 0, b"XX"), "damaged", "directory is damaged"
    ),
    _specimen(
        "directory of 2 GiB", edited(_TWO, END, 12, b"\xff\xff\xff\x7f"), "damaged", "directory is damaged"
    ),
    _specimen("version 25.5", edited(_TWO, DIRECTORY, 6, b"\xff\0"), "damaged", "directory is damaged"),
    _specimen(
        "something before it", b"MZ stub" + _TWO, "damaged", "no archive|does not begin with its first member"
    ),
    _specimen("something after it", _TWO + b"\0", "damaged", "does not end with its end record"),
    _specimen("a zip after it", _TWO + _TWO, "damaged", "does not begin with its first member"),
    _specimen("nothing in it", zip_of([]), "damaged", "holds no file"),
    _specimen(
        "packed bytes after the end",
        deflated(_PACKED + bytes(9), 1 << 20, zlib.crc32(_MIB)),
        "damaged",
        "does not end where",
    ),
    _specimen(
        "packed bytes cut short",
        deflated(_PACKED[:-9], 1 << 20, zlib.crc32(_MIB)),
        "damaged",
        "is damaged|unpacks to",
    ),
    _specimen("packed bytes of no kind", deflated(b"\xff" * 99, 1 << 20, 0), "damaged", "is damaged"),
)

BOMBS = (
    _specimen(
        "64 MiB in a member of 1000 bytes",
        deflated(_deflate(_MIB, 64), 1000, 0),
        "damaged",
        "unpacks to more than 1000 bytes",
    ),
    _specimen(
        "two members of one content",
        edited(_TWO, DIRECTORY, 42, bytes(4)),
        "damaged",
        "overlaps the member before it|differs from",
    ),
    _specimen(
        "a member over the directory",
        edited(_TWO, DIRECTORY, 20, b"\xff\xff\xff\0"),
        "damaged",
        "overlaps the directory",
    ),
    Specimen(
        name="content that grows past the limit",
        kind="zip",
        build=lambda: zip_of([file(f"top/{n}", _MIB) for n in range(20)]),
        verdict="unsafe",
        reason="brings the content to [0-9]+ bytes: at most 10000000",
        most_bytes=10_000_000,
    ),
    Specimen(
        name="more members than allowed",
        kind="zip",
        build=lambda: zip_of([folder(f"top/{n}") for n in range(300)]),
        verdict="unsafe",
        reason="is one member too many: at most 100",
        most_members=100,
    ),
)

GOODS = (
    _specimen("two top folders", zip_of([file("a/x"), file("b/y")]), "good", "", "a", "a/x", "b", "b/y"),
    _specimen("no top folder", zip_of([file("x"), file("y")]), "good", "", "x", "y"),
    _specimen("a comment", zip_of([GOOD], comment=b"made with care"), "good", "", "good"),
    _specimen(
        "links, directories and modes",
        zip_of([folder("top/d", 0o500), file("top/d/t", b"#!", 0o7755), link("top/l", "d/t")]),
        "good",
        "",
        *("d", "d/t", "l"),
    ),
    _specimen(
        "a link that DOS knows nothing of",
        zip_of([(info("top/l", stat.S_IFLNK, system=0), b"/etc")]),
        "good",
        "",
        "l",
    ),
    _specimen(
        "a directory known to DOS",
        zip_of([GOOD, (info("top/d", 0, system=0, dos=0x10), b"")]),
        "good",
        "",
        "d",
        "good",
    ),
    _specimen(
        "links before their target",
        zip_of([Entry(name="top/l", target="d/f"), file("top/d/f")]),
        "good",
        "",
        "d",
        "d/f",
        "l",
    ),
)
