"""The tar reader, plain and behind gzip and zstd, with the policy on what may be written where."""

from __future__ import annotations

import hashlib
import importlib
import io
import tarfile
from typing import TYPE_CHECKING

from fuzz.members import UNSAFE, UNSAFE_IN_TAR, WORDS
from fuzz.sandbox import is_as_listed, stage
from fuzz.target import Subject, Target, leaking, told_well, when_refused
from unpack.building import GOOD, NAME, SAMPLE, file, hard_link, link, tar, tar_of

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import HEAD_SIZE, Kind, Unpacked, UnpackOptions, kind_of, unpack

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TARGET", "check", "mended", "read"]

BLOCK = tarfile.BLOCKSIZE
# What is imported when it is first needed would be a file opened outside of the stage.
importlib.import_module("cudnn_redist.unpack.zst")
OPTIONS = UnpackOptions(threads=1, max_bytes=1 << 20, max_members=200, memory_limit=1 << 24)


def read(data: bytes, destination: Path) -> Unpacked:
    kind = kind_of(data[:HEAD_SIZE], name=NAME)
    if kind in (Kind.ZIP, Kind.XZ):
        raise ArchiveError("a target of its own", where=NAME)
    return unpack(io.BytesIO(data), destination, name=NAME, kind=kind, options=OPTIONS)


def check(data: bytes, read: Subject = read) -> None:
    """Nothing outside is touched, the tree is what its list says, and its files are those that tarfile finds."""
    with stage() as destination:
        try:
            unpacked = read(data, destination)
        except ArchiveError as error:
            told_well(error)
            return
        is_as_listed(unpacked)
        if kind_of(data[:HEAD_SIZE], name=NAME) is Kind.TAR:
            _agrees_with_tarfile(data, unpacked, top=unpacked.root.relative_to(destination).as_posix())


def _agrees_with_tarfile(data: bytes, unpacked: Unpacked, *, top: str) -> None:
    ours = {
        member.path if top == "." else f"{top}/{member.path}": member.sha256
        for member in unpacked.members
        if member.kind == "file"
    }
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8") as archive:
        members = [member for member in archive if member.isfile() or member.islnk()]
        assert sorted(ours) == sorted(_plain(member.name) for member in members)
        for member in members:
            if member.isreg():
                content = archive.extractfile(member)
                assert content is not None
                assert ours[_plain(member.name)] == hashlib.sha256(content.read()).hexdigest()


def _plain(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def mended(data: bytes) -> bytes:
    """Make the checksum of every block right that has the place for one, as it had when it was a header."""
    fixed = bytearray(data)
    for start in range(0, len(fixed) - BLOCK + 1, BLOCK):
        block = fixed[start : start + BLOCK]
        if block[257:262] == b"ustar":
            block[148:156] = b" " * 8
            fixed[start + 148 : start + 156] = f"{sum(block):06o}\0 ".encode()
    return bytes(fixed)


def seeds() -> list[bytes]:
    whole = (file("top/a", b"#!", 0o755), link("top/b", "a"), hard_link("top/c", "top/a"))
    long = (file("top/" + "n" * 150, b"x"), link("top/l", "n" * 150))
    good = [tar(whole, form) for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT)]
    good += [tar(long, form) for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)]
    good += [tar_of(kind, SAMPLE) for kind in (Kind.GZ, Kind.ZST)]
    return [*good, *(tar([GOOD, entry]) for entry in (*UNSAFE, *UNSAFE_IN_TAR))]


def _writes_before_it_refuses(data: bytes, destination: Path) -> Unpacked:
    try:
        return read(data, destination)
    except ArchiveError as error:
        if "climbs" in error.cause:
            (destination / "../sentinel/new").touch()
            (destination / "../sentinel/new").unlink()
        raise


TARGET = Target(
    name="tar",
    subject=read,
    check=check,
    seeds=seeds,
    mended=mended,
    words=(*WORDS, b"12 path=top/x\n", b"12 size=0007\n", b"17 linkpath=../a\n", b"ustar\0", b"ustar  \0"),
    planted={
        "a damaged header leaks tarfile's error": leaking(read, tarfile.HeaderError),
        "a climbing name is written before it is refused": _writes_before_it_refuses,
        "a cut archive is taken for a whole one": when_refused(
            read, "cut short", lambda _, destination: Unpacked(root=destination, members=())
        ),
    },
    longest=8192,
)
