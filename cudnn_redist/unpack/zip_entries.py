"""What is in a zip: its directory, checked against the file it describes.

``zipfile`` parses the directory; the format is PKWARE's APPNOTE.TXT 6.3.10. Where readers differ the strict
reading is taken: nothing may stand before the first member or after the end record, members may not overlap,
and a member's own header must agree with the directory about name and method. Unused bytes between members
are allowed: what counts is what the directory names, and each of those is proven by its CRC.
"""

from __future__ import annotations

import calendar
import io
import stat
import struct
import threading
import zipfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal, cast

from ..errors import ArchiveError
from .names import Unsafe, judging

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["SharedFile", "ZipEntry", "read_entries"]

_END = b"PK\x05\x06"  # section 4.3.16
_END_SIZE = 22
_LONGEST_COMMENT = 0xFFFF
_LOCAL = struct.Struct("<4sHHHHHLLLHH")  # section 4.3.7
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 0x0001 | 0x0040 | 0x2000  # section 4.4.4: bits 0, 6 and 13
_PATCH = 0x0020  # bit 5
_UTF8 = 0x0800  # bit 11
_UNIX = (3, 19)  # section 4.4.2: Unix, OS X
_DOS_DIRECTORY = 0x10
# Room for a million members; zipfile would read as much at once as the end record says.
_LARGEST_READ = 1 << 27


@dataclass(frozen=True, kw_only=True, slots=True)
class ZipEntry:
    """One member: ``packed`` bytes at offset ``start``, which unpack to ``size`` bytes of CRC-32 ``crc``."""

    name: str
    kind: Literal["file", "directory", "link"]
    mode: int
    mtime: float
    deflated: bool
    start: int
    packed: int
    size: int
    crc: int


class SharedFile:
    """An open file that several threads read, each at its own place."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.size = file.seek(0, io.SEEK_END)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes from ``offset``, fewer only at the end of the file."""
        if not 0 <= offset < self.size:
            return b""
        with self._lock:
            self._file.seek(offset)
            return self._file.read(min(size, self.size - offset))


def read_entries(file: SharedFile, *, name: str) -> list[ZipEntry]:
    """Return the members in the order of the file. Raises ``ArchiveError``; ``name`` is the zip's."""
    _check_end(file, name)
    try:
        with zipfile.ZipFile(cast("IO[bytes]", _View(file))) as archive:
            infos, end = archive.infolist(), archive.start_dir
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        # NotImplementedError: a later version of the format. ValueError: names that are not UTF-8 as they claim.
        raise ArchiveError(f"the zip directory is damaged: {error}", where=name) from error
    infos.sort(key=lambda info: info.header_offset)
    if infos and infos[0].header_offset != 0:
        raise ArchiveError("the zip does not begin with its first member", where=name)
    entries = []
    used = 0
    for info in infos:
        with judging(info.orig_filename, name):
            if info.header_offset < used:
                raise Unsafe("overlaps the member before it")
            entries.append(_entry(info, _data_start(file, info)))
            used = entries[-1].start + entries[-1].packed
            if used > end:
                raise Unsafe("overlaps the directory")
    return entries


def _check_end(file: SharedFile, name: str) -> None:
    """Demand that the end record and its comment end where the file ends."""
    tail = file.read_at(max(file.size - _END_SIZE - _LONGEST_COMMENT, 0), _END_SIZE + _LONGEST_COMMENT)
    at = tail.rfind(_END)
    if not 0 <= at <= len(tail) - _END_SIZE:
        raise ArchiveError("the zip is cut short: it has no end record", where=name)
    comment = int.from_bytes(tail[at + _END_SIZE - 2 : at + _END_SIZE], "little")
    if at + _END_SIZE + comment != len(tail):
        raise ArchiveError("the zip does not end with its end record", where=name)


def _data_start(file: SharedFile, info: zipfile.ZipInfo) -> int:
    """Return where the member's data begins, after its own header, which must agree with the directory."""
    header = file.read_at(info.header_offset, _LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(_LOCAL_MAGIC):
        raise Unsafe("has no header where the directory says")
    _, _, flags, method, *_, name_length, extra_length = _LOCAL.unpack(header)
    own_name = file.read_at(info.header_offset + _LOCAL.size, name_length)
    # Since the encodings are one to one, bytes that differ are names that differ, and so are the same bytes in two.
    encoding = "utf-8" if info.flag_bits & _UTF8 else "cp437"
    same_name = own_name == info.orig_filename.encode(encoding)
    same_encoding = own_name.isascii() or not (flags ^ info.flag_bits) & _UTF8
    if not (same_name and same_encoding) or method != info.compress_type:
        raise Unsafe("has a header that differs from the directory")
    return info.header_offset + _LOCAL.size + len(own_name) + int(extra_length)


def _entry(info: zipfile.ZipInfo, start: int) -> ZipEntry:
    if info.flag_bits & _ENCRYPTED:
        raise Unsafe("is encrypted")
    if info.flag_bits & _PATCH:
        raise Unsafe("is a patch of another file")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unsafe(
            f"is compressed with method {info.compress_type}; only stored and deflated are supported"
        )
    deflated = info.compress_type == zipfile.ZIP_DEFLATED
    if not deflated and info.compress_size != info.file_size:
        raise Unsafe("is stored in another size than its own")
    kind, mode = _kind_and_mode(info)
    if kind == "directory" and info.file_size:
        raise Unsafe("is a directory with content")
    return ZipEntry(
        name=info.orig_filename,
        kind=kind,
        mode=mode,
        mtime=_mtime(info),
        deflated=deflated,
        start=start,
        packed=info.compress_size,
        size=info.file_size,
        crc=info.CRC,
    )


def _kind_and_mode(info: zipfile.ZipInfo) -> tuple[Literal["file", "directory", "link"], int]:
    """Return what the member is; the upper half of its attributes is a Unix mode if a Unix system made it."""
    mode = info.external_attr >> 16 if info.create_system in _UNIX else 0
    form = stat.S_IFMT(mode)
    if form not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise Unsafe("is a device, a fifo or a socket")
    if form == stat.S_IFLNK:
        return "link", mode
    if form == stat.S_IFDIR or info.external_attr & _DOS_DIRECTORY or info.orig_filename.endswith("/"):
        return "directory", mode
    return "file", mode


def _mtime(info: zipfile.ZipInfo) -> float:
    """Return the member's time; a zip does not say in which zone, so it is taken as UTC on every machine."""
    try:
        return calendar.timegm((*info.date_time, 0, 0, 0))
    except ValueError:
        # A month or a day 0, as writers without a clock leave it.
        return 0.0


class _View:
    """The file as ``zipfile`` reads it: a place of its own, seeks that never fail, reads with a bound."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self._place = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = max(offset + (self._file.size if whence == io.SEEK_END else 0), 0)
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int = -1) -> bytes:
        size = self._file.size - self._place if size < 0 else size
        if size > _LARGEST_READ:
            raise zipfile.BadZipFile(f"{size} bytes long")
        data = self._file.read_at(self._place, size)
        self._place += len(data)
        return data
