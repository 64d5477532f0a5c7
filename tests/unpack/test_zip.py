from __future__ import annotations

import calendar
import io
import os
import stat
import struct
import threading
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest
from unpack.building import GOOD, NAME, SAMPLE, Entry, file, folder, link, unpack_bytes, zip_info, zip_of
from unpack.watch import leaving_nothing_running

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import Kind, Member, UnpackOptions, unpack_zip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cudnn_redist.unpack import Unpacked

BIG = bytes(range(256)) * 20_000
LOCAL, DIRECTORY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def unzip(data: bytes, destination: Path, **options: int) -> Unpacked:
    return unpack_bytes(data, destination, Kind.ZIP, UnpackOptions(**{"threads": 2, **options}))


def info(
    name: str, mode: int = stat.S_IFREG | 0o644, *, system: int = 3, attributes: int = 0
) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.create_system = system
    made.external_attr = mode << 16 | attributes
    return made


def edited(data: bytes, record: bytes, offset: int, value: bytes, *, last: bool = False) -> bytes:
    """Return the zip with bytes of its first (or last) record of a kind overwritten."""
    at = (data.rindex(record) if last else data.index(record)) + offset
    return data[:at] + value + data[at + len(value) :]


def in_both(data: bytes, local: int, directory: int, value: bytes) -> bytes:
    """Return the zip with a field of its last member overwritten, in its own header and in the directory."""
    return edited(edited(data, LOCAL, local, value, last=True), DIRECTORY, directory, value, last=True)


# What is honoured


def test_modes_and_links_of_a_zip_made_on_unix(tmp_path: Path) -> None:
    """C54: the tool stays executable, the link a link."""
    entries = [
        folder("top/bin"),
        file("top/bin/tool", b"#!", 0o755),
        link("top/tool", "bin/tool"),
        file("top/x"),
    ]
    unpacked = unzip(zip_of(entries), tmp_path / "stage")
    kinds = {entry.path: (entry.kind, entry.executable, entry.target) for entry in unpacked.members}
    assert kinds == {
        "bin": ("directory", False, None),
        "bin/tool": ("file", True, None),
        "tool": ("link", False, "bin/tool"),
        "x": ("file", False, None),
    }
    assert os.access(unpacked.root / "tool", os.X_OK)


@pytest.mark.parametrize("system", [0, 10, 11], ids=["MS-DOS", "NTFS", "another"])
def test_the_upper_attributes_of_other_systems_are_no_mode(system: int, tmp_path: Path) -> None:
    entries = [
        (info("top/a", stat.S_IFLNK | 0o777, system=system), b"content"),
        (info("top/d/", 0, system=system), b""),
    ]
    unpacked = unzip(zip_of(entries), tmp_path / "stage")
    assert [(entry.path, entry.kind, entry.executable) for entry in unpacked.members] == [
        ("a", "file", False),
        ("d", "directory", False),
    ]


@pytest.mark.parametrize(
    "made",
    [info("top/d/", 0), info("top/d", stat.S_IFDIR | 0o755), info("top/d", 0, system=0, attributes=0x10)],
    ids=["by its name", "by its mode", "by its DOS attribute"],
)
def test_a_directory_is_known(made: zipfile.ZipInfo, tmp_path: Path) -> None:
    assert unzip(zip_of([GOOD, (made, b"")]), tmp_path / "stage").members[0] == Member(
        path="d", kind="directory"
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
@pytest.mark.parametrize("size", [0, 1, 1 << 18, 1 << 20, (1 << 20) + 1, len(BIG)])
def test_both_methods_at_every_size(method: int, size: int, tmp_path: Path) -> None:
    made = info("top/f")
    made.compress_type = method
    data = zip_of([(made, BIG[:size])])
    assert (unzip(data, tmp_path / "stage").root / "f").read_bytes() == BIG[:size]


def test_times_are_taken_as_utc(tmp_path: Path) -> None:
    root = unzip(zip_of([GOOD]), tmp_path / "stage").root
    assert (root / "good").stat().st_mtime == calendar.timegm((2026, 9, 21, 14, 13, 20))


def test_a_date_that_is_none_stops_nothing(tmp_path: Path) -> None:
    data = edited(zip_of([GOOD]), DIRECTORY, 14, b"\0\0")
    assert (unzip(data, tmp_path / "stage").root / "good").stat().st_mtime == 0


def test_a_zip64_with_data_descriptors(tmp_path: Path) -> None:
    """As a writer that cannot seek makes it: sizes after the data, and in the directory."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError

        tell = property()  # type: ignore[assignment]

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        for entry in SAMPLE[2], SAMPLE[5]:
            with archive.open(zip_info(entry), "w", force_zip64=True) as member:
                member.write(entry.data)
    unpacked = unzip(pipe.getvalue(), tmp_path / "stage")
    assert (unpacked.root / "lib/libx.so.9.1").read_bytes() == SAMPLE[2].data


def test_a_comment_is_part_of_the_zip(tmp_path: Path) -> None:
    assert unzip(zip_of([GOOD], comment=b"made with care"), tmp_path / "stage").members


@pytest.mark.parametrize("threads", [None, 1, 3, 50])
def test_any_number_of_threads(threads: int | None, tmp_path: Path) -> None:
    entries = [file(f"top/{number}", bytes([number]) * (number * 9_000)) for number in range(60)]
    with leaving_nothing_running():
        unpacked = unpack_bytes(zip_of(entries), tmp_path / "stage", Kind.ZIP, UnpackOptions(threads=threads))
    assert {entry.path: entry.size for entry in unpacked.members} == {str(n): n * 9_000 for n in range(60)}
    assert all((unpacked.root / entry.name[4:]).read_bytes() == entry.data for entry in entries)


def test_the_very_file_is_read_that_was_opened(tmp_path: Path) -> None:
    place = tmp_path / "x.zip"
    place.write_bytes(zip_of(SAMPLE))
    (tmp_path / "stage").mkdir()
    with place.open("rb") as judged:
        place.unlink()
        place.write_bytes(b"another file by that name")
        unpacked = unpack_zip(judged, tmp_path / "stage", name=NAME)
    assert len(unpacked.members) == 8


# What is refused


UNSAFE = {
    "fifo": (info("top/x", stat.S_IFIFO), b""),
    "device": (info("top/x", stat.S_IFCHR), b""),
    "socket": (info("top/x", stat.S_IFSOCK), b""),
    "directory with content": (info("top/x/"), b"content"),
    "link that is too long": (info("top/x", stat.S_IFLNK), b"a/" * 3_000),
    "link to no text": (info("top/x", stat.S_IFLNK), b"\xff\xfe"),
    "empty link": (info("top/x", stat.S_IFLNK), b""),
    "bzip2": (info("top/x"), b"content"),
    "lzma": (info("top/x"), b"content"),
}
UNSAFE["bzip2"][0].compress_type = zipfile.ZIP_BZIP2
UNSAFE["lzma"][0].compress_type = zipfile.ZIP_LZMA


@pytest.mark.parametrize("entry", UNSAFE.values(), ids=UNSAFE.keys())
def test_an_unsafe_member_is_refused(entry: tuple[zipfile.ZipInfo, bytes], tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"^unpack: .*: 'top/x/?' is ") as caught:
        unzip(zip_of([GOOD, entry]), tmp_path / "stage")
    assert caught.value.member == entry[0].filename


def test_a_nul_in_a_name_does_not_end_it(tmp_path: Path) -> None:
    data = zip_of([file("top/good.txt_x")]).replace(b"top/good.txt_x", b"top/good.txt\0x")
    with pytest.raises(ArchiveError, match=r"'top/good\.txt\\x00x' holds a control character"):
        unzip(data, tmp_path / "stage")


TWO = zip_of([GOOD, file("top/last", BIG)])
EMPTY = zip_of([GOOD, folder("top/empty")])


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (in_both(TWO, 6, 8, b"\x01\0"), "'top/last' is encrypted"),
        (in_both(TWO, 6, 8, b"\x40\0"), "'top/last' is encrypted"),
        (in_both(TWO, 6, 8, b"\0\x20"), "'top/last' is encrypted"),
        (in_both(TWO, 6, 8, b"\x20\0"), "'top/last' is a patch of another file"),
        (in_both(TWO, 8, 10, b"\x09\0"), "'top/last' is compressed with method 9"),
        (in_both(TWO, 8, 10, b"\0\0"), "'top/last' is stored in another size"),
        (edited(TWO, LOCAL, 8, b"\0\0", last=True), "'top/last' has a header that differs"),
        (edited(TWO, LOCAL, 30, b"TOP", last=True), "'top/last' has a header that differs"),
        (edited(zip_of([file("top/\u00e9")]), LOCAL, 6, b"\0\0"), "'top/\u00e9' has a header that differs"),
        (edited(TWO, LOCAL, 0, b"XX", last=True), "'top/last' has no header where"),
        (edited(TWO, DIRECTORY, 42, b"\xff\xff\xff\x0f", last=True), "'top/last' has no header where"),
        (edited(TWO, DIRECTORY, 42, b"\0\0\0\0", last=True), "'top/last' overlaps the member before it"),
        (edited(TWO, DIRECTORY, 20, b"\x64"), "'top/last' overlaps the member before it"),
        (edited(TWO, DIRECTORY, 20, b"\xff\xff\xff\0", last=True), "'top/last' overlaps the directory"),
        (in_both(TWO, 22, 24, struct.pack("<L", len(BIG) - 1)), "'top/last' unpacks to more than"),
        (in_both(TWO, 22, 24, struct.pack("<L", len(BIG) + 1)), "'top/last' unpacks to less than"),
        (in_both(TWO, 14, 16, b"\0\0\0\0"), "'top/last' has the CRC"),
        (edited(EMPTY, DIRECTORY, 16, b"\1", last=True), "'top/empty/' has the CRC"),
        (edited(TWO, DIRECTORY, 6, b"\xff\0", last=True), "the zip directory is damaged: zip file version"),
        (edited(TWO, DIRECTORY, 0, b"XX", last=True), "the zip directory is damaged"),
        (edited(TWO, END, 12, b"\xff\xff\xff\x7f"), "the zip directory is damaged"),
        (
            edited(TWO, END, 16, b"\xff\xff\xff\x7f"),
            "does not begin with its first member|directory is damaged",
        ),
        (
            edited(edited(TWO, DIRECTORY, 8, b"\0\x08"), DIRECTORY, 46, b"\xff"),
            "the zip directory is damaged",
        ),
        (b"MZ stub" + TWO, "does not begin with its first member"),
        (TWO + b"\0", "does not end with its end record"),
        (TWO + b"PK\x05\x06", "it has no end record"),
        (zip_of([GOOD], comment=b"comment")[:-1], "does not end with its end record"),
        (b"PK\x03\x04", "it has no end record"),
        (b"", "it has no end record"),
        (zip_of([]), "holds no file"),
    ],
)
def test_a_zip_that_cannot_be(data: bytes, cause: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=cause) as caught:
        unzip(data, tmp_path / "stage")
    assert caught.value.where == NAME


@pytest.mark.parametrize("percent", range(0, 100, 5))
def test_a_cut_is_always_noticed(percent: int, tmp_path: Path) -> None:
    data = zip_of([file(f"top/{number}", BIG[: number * 99]) for number in range(40)])
    with pytest.raises(ArchiveError, match="it has no end record"):
        unzip(data[: len(data) * percent // 100], tmp_path / "stage")


def deflated_file(packed: bytes, content: bytes) -> bytes:
    """Return a zip of one file whose packed bytes are given."""
    data = zip_of([(info("top/f"), packed)])
    data = in_both(data, 8, 10, struct.pack("<H", zipfile.ZIP_DEFLATED))
    data = in_both(data, 22, 24, struct.pack("<L", len(content)))
    return in_both(data, 14, 16, struct.pack("<L", zlib.crc32(content)))


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def test_any_deflated_data_passes(tmp_path: Path) -> None:
    assert unzip(deflated_file(deflate(BIG), BIG), tmp_path / "stage").members[0].size == len(BIG)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: packed[:-1],
        lambda packed: packed + b"\0",
        lambda packed: packed + bytes(1 << 19),
        lambda packed: b"\xff" + packed[1:],
        lambda packed: packed[:200] + b"\xff" * 20 + packed[220:],
    ],
    ids=["cut", "a byte more", "much more", "damaged at the start", "damaged inside"],
)
def test_damaged_deflated_data_is_noticed(spoil: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = deflated_file(spoil(deflate(BIG)), BIG)
    with pytest.raises(ArchiveError, match=r"'top/f' (is damaged|has the CRC|unpacks to)"):
        unzip(data, tmp_path / "stage")


@pytest.mark.parametrize("byte", [0, 10, 100])
def test_a_flipped_byte_of_stored_content_is_noticed(byte: int, tmp_path: Path) -> None:
    data = bytearray(zip_of([(info("top/f"), BIG[:256])]))
    data[35 + byte] ^= 1
    with pytest.raises(ArchiveError, match="'top/f' has the CRC"):
        unzip(bytes(data), tmp_path / "stage")


def test_a_bomb_stops_at_the_announced_size(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=-15)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    with pytest.raises(ArchiveError, match="'top/f' unpacks to more than 1000 bytes"):
        unzip(deflated_file(packed, bytes(1_000)), tmp_path / "stage")
    assert (tmp_path / "stage/top/f").stat().st_size <= 1_000


def test_a_directory_without_bound_is_not_read(tmp_path: Path) -> None:
    """A file with room for it; the end record claims more than any archive has."""
    directory = (1 << 27) + 1
    place = tmp_path / "x.zip"
    with place.open("wb") as sparse:
        sparse.write(b"PK\x03\x04")
        sparse.truncate(directory)
        sparse.seek(directory)
        sparse.write(END + struct.pack("<HHHHLLH", 0, 0, 9, 9, directory, 0, 0))
    (tmp_path / "stage").mkdir()
    with (
        place.open("rb") as opened,
        pytest.raises(ArchiveError, match="directory is damaged: 134217729 bytes"),
    ):
        unpack_zip(opened, tmp_path / "stage", name=NAME)


# Running


def test_progress_counts_the_content(tmp_path: Path) -> None:
    told: list[int] = []
    data = zip_of([file("top/a", BIG), file("top/b", BIG), GOOD])
    (tmp_path / "stage").mkdir()
    unpack_zip(io.BytesIO(data), tmp_path / "stage", name=NAME, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 2 * len(BIG) + len(GOOD.data)


class StopError(Exception):
    pass


def test_the_first_failure_stops_all(tmp_path: Path) -> None:
    def stop(_: int) -> None:
        raise StopError

    data = zip_of([file(f"top/{number}", BIG) for number in range(8)])
    (tmp_path / "stage").mkdir()
    options = UnpackOptions(threads=2)
    with leaving_nothing_running(), pytest.raises(StopError):
        unpack_zip(io.BytesIO(data), tmp_path / "stage", name=NAME, options=options, progress=stop)
    assert len(list((tmp_path / "stage/top").iterdir())) < 8


def test_an_error_of_the_file_passes_as_it_is(tmp_path: Path) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if threading.current_thread() is not threading.main_thread():
                raise OSError(5, "Input/output error")
            return super().read(size)

    (tmp_path / "stage").mkdir()
    with pytest.raises(OSError, match="Input/output error"):
        unpack_zip(Failing(zip_of([GOOD])), tmp_path / "stage", name=NAME)


def test_links_may_come_before_what_they_lead_to(tmp_path: Path) -> None:
    entries = [Entry(name="top/l", target="d/f"), file("top/d/f")]
    assert (unzip(zip_of(entries), tmp_path / "stage").root / "l").read_bytes() == b"content"
