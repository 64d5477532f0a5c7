from __future__ import annotations

import io
import resource
import shutil
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
from unpack.building import (
    END,
    GOOD,
    MTIME,
    NAME,
    NEGATIVE,
    SAMPLE,
    Entry,
    extended,
    file,
    folder,
    hard_link,
    header,
    link,
    pax,
    special,
    tar,
    tar_member,
    unpack_bytes,
)
from unpack.watch import leaving_nothing_running

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import Kind, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = "top/" + "/".join(["directory-with-a-name"] * 12) + "/file"
BIG = bytes(range(256)) * 20_000
"""Five pieces, so that decoding and writing overlap."""


# Forms of header


@pytest.mark.parametrize("tar_format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["GNU", "pax"])
def test_long_names_and_long_targets(tar_format: int, tmp_path: Path) -> None:
    target = LONG.removeprefix("top/")
    entries = [file(LONG), link("top/l", target), hard_link("top/h", LONG), file("top/文")]
    unpacked = unpack_bytes(tar(entries, tar_format), tmp_path / "stage")
    assert (unpacked.root / "l").read_bytes() == (unpacked.root / "h").read_bytes() == b"content"
    assert {"h", "l", target, "文"} <= {entry.path for entry in unpacked.members}


def test_a_ustar_name_in_two_parts(tmp_path: Path) -> None:
    name = "top/" + "d" * 90 + "/" + "f" * 90
    unpacked = unpack_bytes(tar([file(name)], tarfile.USTAR_FORMAT), tmp_path / "stage")
    assert unpacked.members[-1].path == name.removeprefix("top/")


def test_the_oldest_form_of_directory(tmp_path: Path) -> None:
    data = header(Entry(name="top/d/"), type=b"\0") + tar_member(file("top/f"))
    assert unpack_bytes(data + END, tmp_path / "stage").members[0].kind == "directory"


def test_pax_fields_win(tmp_path: Path) -> None:
    data = pax(path="top/real", mtime=f"{MTIME}.25", size="3", comment="x") + header(
        file("top/other", b"abc"), size=b"00000000000\0"
    )
    unpacked = unpack_bytes(data + END, tmp_path / "stage")
    assert [(entry.path, entry.size) for entry in unpacked.members] == [("real", 3)]
    assert (unpacked.root / "real").stat().st_mtime == MTIME + 0.25


def test_a_global_pax_header_is_no_member(tmp_path: Path) -> None:
    data = extended(b"g", b"52 comment=0123456789012345678901234567890123456789\n") + tar([GOOD])
    assert [entry.path for entry in unpack_bytes(data, tmp_path / "stage").members] == ["good"]


def test_a_size_in_base_256(tmp_path: Path) -> None:
    data = header(GOOD, size=b"\x80" + (7).to_bytes(11, "big"))
    assert unpack_bytes(data + END, tmp_path / "stage").members[0].size == 7


def test_a_contiguous_file_is_a_file(tmp_path: Path) -> None:
    assert unpack_bytes(header(GOOD, type=b"7") + END, tmp_path / "stage").members[0].kind == "file"


@pytest.mark.skipif(shutil.which("tar") is None, reason="needs a tar program")
@pytest.mark.parametrize("form", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_what_the_tar_program_writes(form: str, tmp_path: Path) -> None:
    source = unpack_bytes(tar(SAMPLE), tmp_path / "source")
    command = [
        "tar",
        f"--format={form}",
        "-cf",
        str(tmp_path / "x.tar"),
        "-C",
        str(source.root.parent),
        "top",
    ]
    subprocess.run(command, check=True)
    again = unpack_bytes((tmp_path / "x.tar").read_bytes(), tmp_path / "again")
    assert again.members == source.members


# The proven end


@pytest.mark.parametrize("end", [END, bytes(512 * 20), END + bytes(1), bytes(2 << 20)], ids=len)
def test_zeros_up_to_the_end_are_fine(end: bytes, tmp_path: Path) -> None:
    assert unpack_bytes(tar([GOOD], end=end), tmp_path / "stage").members


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (b"", "cut short"),
        (bytes(512), "cut short"),
        (bytes(511), "cut short"),
        (bytes(1023), "cut short"),
        (bytes(512) + tar_member(file("top/late")), "data follows the end marker"),
        (END + b"\1", "data follows the end marker"),
        (END + bytes(3 << 20) + tar_member(file("top/late")), "data follows the end marker"),
        (bytes((16 << 20) + 1025), "more than 16777216 bytes follow the end marker"),
        (b"\1" * 512, "a damaged header"),
        (bytes(511) + b"\1" + END, "a damaged header"),
        (tar_member(file("top/late"))[:100], "cut short"),
    ],
)
def test_every_other_end_is_an_error(end: bytes, cause: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=cause) as caught:
        unpack_bytes(tar([GOOD], end=end), tmp_path / "stage")
    assert caught.value.where == NAME


@pytest.mark.parametrize("percent", range(0, 100, 5))
def test_a_cut_is_always_noticed(percent: int, tmp_path: Path) -> None:
    entries = [file(f"top/{number}", bytes([number]) * 700) for number in range(40)]
    data = tar(entries)
    with pytest.raises(ArchiveError, match="the tar data is cut short, at byte"):
        unpack_bytes(data[: len(data) * percent // 100], tmp_path / "stage")


@pytest.mark.parametrize("place", [0, 99, 100, 124, 148, 156, 200, 257, 511])
@pytest.mark.parametrize("member", [0, 2], ids=["first", "in the middle"])
def test_a_flipped_byte_in_a_header_is_noticed(member: int, place: int, tmp_path: Path) -> None:
    blocks = [bytearray(tar_member(file(f"top/{number}"))) for number in range(4)]
    blocks[member][place] ^= 0x15
    with pytest.raises(ArchiveError, match="a damaged header"):
        unpack_bytes(b"".join(blocks) + END, tmp_path / "stage")


def test_a_wiped_header_in_the_middle_is_not_the_end(tmp_path: Path) -> None:
    data = tar_member(GOOD) + bytes(512) + tar_member(GOOD)[512:] + tar_member(file("top/x")) + END
    with pytest.raises(ArchiveError, match="data follows the end marker, at byte 2048"):
        unpack_bytes(data, tmp_path / "stage")


# Hostile headers


@pytest.mark.parametrize(
    ("blocks", "cause"),
    [
        (header(extended_entry := Entry(name="x", type=b"x"), size=b"77777777777\0"), "an oversized header"),
        (header(extended_entry, size=b"\x80" + b"\x7f" * 11), "an oversized header"),
        (header(Entry(name="x", type=b"L"), size=b"00000400000\0"), "an oversized header"),
        (header(Entry(name="x", type=b"g"), size=b"\xff" + bytes(11)), f"an oversized header|{NEGATIVE}"),
        (extended(b"L", b"") * 40, "an oversized header"),
        (extended(b"x", b"6 a=b\n") * 40, "an oversized header"),
        (extended(b"x", b"0 path=x\n"), "a damaged header"),
        (extended(b"x", b"99 hdrcharset=\xff\n"), "a damaged header"),
        (extended(b"L", b"top/long") + END, "a damaged header"),
        (extended(b"x", b"6 a=b\n") + b"\1" * 512, "a damaged header"),
        (
            b"".join(extended(b"g", b"8 %d=b\n" % n) + tar_member(file(f"top/{n}")) for n in range(100, 400)),
            "too many",
        ),
    ],
    ids=[
        "pax of 8 GiB",
        "pax of 2**87 bytes",
        "long name of 128 KiB",
        "negative size",
        "many long names",
        "many pax headers",
        "pax record of no length",
        "pax record of no text",
        "long name and no member",
        "pax header before garbage",
        "many global fields",
    ],
)
def test_a_hostile_header_costs_nothing(blocks: bytes, cause: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=cause):
        unpack_bytes(blocks + tar([GOOD]), tmp_path / "stage")


def sparse_pax(**fields: str) -> bytes:
    return pax(**{f"GNU.sparse.{key}": value for key, value in fields.items()}) + tar_member(
        file("top/sparse", b"1\n0\n7\n" + bytes(506) + b"content")
    )


@pytest.mark.parametrize(
    ("blocks", "cause"),
    [
        (header(GOOD, size=b"\xff" * 12), NEGATIVE),
        (header(GOOD, size=b"\x80" + b"\x7f" * 11), "'top/good' brings the content to"),
        (tar_member(special("top/s", tarfile.GNUTYPE_SPARSE)), "'top/s' is a sparse file"),
        (sparse_pax(map="0,7", size="7"), "is a sparse file"),
        (sparse_pax(size="7", numblocks="1"), "is a sparse file"),
        (sparse_pax(major="1", minor="0", name="top/s", realsize="7"), "is a sparse file"),
        (sparse_pax(map="x"), "a damaged header"),
        (tar_member(special("top/f", tarfile.FIFOTYPE)), "'top/f' is a device or a fifo"),
        (tar_member(special("top/v", b"V")), "'top/v' is of the unknown type b'V'"),
        (pax(path="top/a\0b") + tar_member(GOOD), "holds a control character"),
        (pax(path="") + tar_member(GOOD), "is empty"),
        (pax(linkpath="/etc/passwd") + tar_member(link("top/l", "x")), "'/etc/passwd', which is absolute"),
        (header(file(""), name=b"/" * 20), "is absolute"),
    ],
)
def test_a_member_that_cannot_be(blocks: bytes, cause: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=cause):
        unpack_bytes(blocks + END, tmp_path / "stage")


def test_a_directory_may_announce_a_size(tmp_path: Path) -> None:
    data = header(folder("top"), size=b"00000001000\0") + tar([GOOD])
    assert unpack_bytes(data, tmp_path / "stage").members


# Writing


def test_progress_counts_the_content(tmp_path: Path) -> None:
    told: list[int] = []
    data = tar([file("top/big", BIG), folder("top/d"), file("top/small")])
    (tmp_path / "stage").mkdir()
    unpack(io.BytesIO(data), tmp_path / "stage", name=NAME, kind=Kind.TAR, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == len(BIG) + len(b"content")
    assert len(told) > 4


class StopError(Exception):
    pass


def test_progress_may_stop_it(tmp_path: Path) -> None:
    def stop(done: int) -> None:
        if done > 1 << 21:
            raise StopError

    (tmp_path / "stage").mkdir()
    with leaving_nothing_running(), pytest.raises(StopError):
        unpack(io.BytesIO(tar([file("f", BIG)])), tmp_path / "stage", name=NAME, kind=Kind.TAR, progress=stop)


@pytest.fixture
def little_room() -> Iterator[int]:
    """Let no file of this process grow beyond two million bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
    yield 2_000_000
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_an_error_of_the_disk_passes_as_it_is(little_room: int, tmp_path: Path) -> None:
    """C59: written by the other thread, told by this one, and no thread or descriptor stays behind."""
    with leaving_nothing_running(), pytest.raises(OSError, match="File too large"):
        unpack_bytes(tar([file("top/big", BIG), GOOD]), tmp_path / "stage")
    assert (tmp_path / "stage/top/big").stat().st_size == little_room


def test_an_error_of_the_disk_in_the_last_piece_is_told(little_room: int, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File too large"):
        unpack_bytes(tar([file("top/big", BIG[: little_room + 1])]), tmp_path / "stage")
