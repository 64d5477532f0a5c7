"""Damage to what is around the members: cuts at every twentieth, every byte of an .xz, streams and padding."""

from __future__ import annotations

import functools
import gzip
import lzma
import random
from typing import TYPE_CHECKING

import zstandard
from unpack.building import compressed, file, folder, link, tar, zip_of
from unpack.specimen import Specimen

from cudnn_redist.unpack import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NOISE = random.Random(51).randbytes(12_000)
MEMBERS = (
    folder("top"),
    *(file(f"top/{number:02}", _NOISE[number * 300 : number * 300 + 300]) for number in range(40)),
    link("top/l", "00"),
)
"""Forty files that hardly compress: a cut at a twentieth falls among them, whatever packs them."""

PATHS = (*(f"{number:02}" for number in range(40)), "l")
_XZ_SMALL = tar([file("top/x", b"content")])
_CUT = {
    Kind.XZ: "cut|ends|end of|no archive",
    Kind.ZST: "cut short|no archive",
    Kind.GZ: "cut short|no archive",
    Kind.TAR: "cut short|no archive",
    Kind.ZIP: "no end record|no archive",
}


@functools.cache
def whole(kind: Kind) -> bytes:
    return zip_of(MEMBERS) if kind is Kind.ZIP else compressed(kind, tar(MEMBERS))


def _cuts() -> Iterator[Specimen]:
    for kind in Kind:
        for percent in range(0, 100, 5):
            yield Specimen(
                name=f"cut at {percent} %",
                kind=kind.value,
                build=lambda kind=kind, percent=percent: whole(kind)[: len(whole(kind)) * percent // 100],
                verdict="damaged",
                reason=_CUT[kind],
            )
        yield Specimen(
            name="without its last byte",
            kind=kind.value,
            build=lambda kind=kind: whole(kind)[:-1],
            verdict="damaged",
            reason=_CUT[kind],
        )


def xz_parts(data: bytes) -> dict[str, range]:
    """Return where the parts of an .xz file of one block lie (.xz file format, sections 2 to 4)."""
    footer = len(data) - 12
    index = footer - (int.from_bytes(data[footer + 4 : footer + 8], "little") + 1) * 4
    block = 12 + (data[12] + 1) * 4
    check = {0: 0, 1: 4, 4: 8, 10: 32}[data[7]]
    return {
        "stream header": range(12),
        "block header": range(12, block),
        "packed data": range(block, index - check),
        "check": range(index - check, index),
        "index": range(index, footer),
        "stream footer": range(footer, len(data)),
    }


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


def _xz_flips() -> Iterator[Specimen]:
    for check in (lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256):
        data = lzma.compress(_XZ_SMALL, check=check)
        for part, places in xz_parts(data).items():
            for place in places:
                yield Specimen(
                    name=f"check {check}, {part}, byte {place - places.start}",
                    kind="tar.xz",
                    build=lambda data=data, place=place: _flipped(data, place),
                    verdict="damaged",
                    reason=r"stream \d|no archive|tar data",
                )


def _good(name: str, kind: str, build: Callable[[], bytes]) -> Specimen:
    return Specimen(name=name, kind=kind, build=build, verdict="good", paths=PATHS)


def _bad(name: str, kind: str, build: Callable[[], bytes], reason: str) -> Specimen:
    return Specimen(name=name, kind=kind, build=build, verdict="damaged", reason=reason)


def _halves(pack: Callable[[bytes], bytes], between: bytes = b"") -> bytes:
    data = tar(MEMBERS)
    return pack(data[:7_777]) + between + pack(data[7_777:])


def _single(level: int = 3, *, checksum: bool = True) -> Callable[[bytes], bytes]:
    return zstandard.ZstdCompressor(level=level, write_checksum=checksum).compress


XZ_STREAMS = (
    _good("two streams", "tar.xz", lambda: _halves(lzma.compress)),
    _good(
        "a stream for each block of the tar",
        "tar.xz",
        lambda: b"".join(
            lzma.compress(tar(MEMBERS)[at : at + 512], preset=0) for at in range(0, len(tar(MEMBERS)), 512)
        ),
    ),
    _good("an empty stream at the end", "tar.xz", lambda: whole(Kind.XZ) + lzma.compress(b"")),
    _good("an empty stream at the start", "tar.xz", lambda: lzma.compress(b"") + whole(Kind.XZ)),
    *(
        _good(f"padding of {size}", "tar.xz", lambda size=size: whole(Kind.XZ) + bytes(size))
        for size in (4, 8, 4096)
    ),
    *(
        _good(
            f"padding of {size} between streams",
            "tar.xz",
            lambda size=size: _halves(lzma.compress, bytes(size)),
        )
        for size in (4, 400)
    ),
    *(
        _bad(f"padding of {size}", "tar.xz", lambda size=size: whole(Kind.XZ) + bytes(size), "padding")
        for size in (1, 2, 3, 5, 4095)
    ),
    *(
        _bad(
            f"padding of {size} between streams",
            "tar.xz",
            lambda size=size: _halves(lzma.compress, bytes(size)),
            "padding|not the beginning",
        )
        for size in (1, 3)
    ),
    _bad("padding before the stream", "tar.xz", lambda: bytes(4) + whole(Kind.XZ), "no archive"),
    _bad("padding that is not zero", "tar.xz", lambda: whole(Kind.XZ) + b"\0\0\0\1", "stream padding"),
    _bad("text after the stream", "tar.xz", lambda: whole(Kind.XZ) + b"<html>\n", "xz stream 2"),
    _bad("a cut second stream", "tar.xz", lambda: _halves(lzma.compress)[:-40], "stream 2"),
    _bad(
        "half a tar in a whole stream",
        "tar.xz",
        lambda: lzma.compress(tar(MEMBERS)[:7_777]),
        "tar data is cut short",
    ),
    _bad(
        "a check of no known kind",
        "tar.xz",
        lambda: whole(Kind.XZ)[:7] + b"\x0f" + whole(Kind.XZ)[8:],
        "stream header",
    ),
    _bad(
        "the old .lzma form",
        "tar.xz",
        lambda: lzma.compress(tar(MEMBERS), format=lzma.FORMAT_ALONE),
        "no archive",
    ),
    _bad("an .xz in an .xz", "tar.xz", lambda: lzma.compress(whole(Kind.XZ)), "a damaged header"),
)

OTHER_STREAMS = (
    _good("two members", "tar.gz", lambda: _halves(gzip.compress)),
    _good("zeros after it", "tar.gz", lambda: whole(Kind.GZ) + bytes(512)),
    _bad("something after it", "tar.gz", lambda: whole(Kind.GZ) + b"x", "gzip"),
    _bad("wrong CRC", "tar.gz", lambda: _flipped(whole(Kind.GZ), len(whole(Kind.GZ)) - 8), "gzip"),
    _bad("wrong length", "tar.gz", lambda: _flipped(whole(Kind.GZ), len(whole(Kind.GZ)) - 4), "gzip"),
    _good("two frames", "tar.zst", lambda: _halves(_single())),
    _good("a frame to skip", "tar.zst", lambda: b"\x50\x2a\x4d\x18\x04\0\0\0skip" + whole(Kind.ZST)),
    _bad("something after it", "tar.zst", lambda: whole(Kind.ZST) + b"x", "zstd"),
    _bad("wrong checksum", "tar.zst", lambda: _flipped(whole(Kind.ZST), len(whole(Kind.ZST)) - 1), "zstd"),
    _bad(
        "half a tar in a whole frame",
        "tar.zst",
        lambda: _single()(tar(MEMBERS)[:7_777]),
        "tar data is cut short",
    ),
    _bad("one zero block for an end", "tar", lambda: tar(MEMBERS, end=bytes(512)), "cut short"),
    _bad("no end", "tar", lambda: tar(MEMBERS, end=b""), "cut short"),
    _bad(
        "a member after the end",
        "tar",
        lambda: tar(MEMBERS) + tar([file("top/late")]),
        "data follows the end marker",
    ),
    _bad("a byte after the end", "tar", lambda: tar(MEMBERS) + b"\1", "data follows the end marker"),
    _good("a record of padding", "tar", lambda: tar(MEMBERS, end=bytes(10_240))),
    _bad(
        "an HTML page",
        "tar.xz",
        lambda: b"<!doctype html><html>not found</html>",
        "no archive but an HTML page",
    ),
    _bad("nothing", "tar.xz", lambda: b"", "no archive but empty"),
)

CUTS = tuple(_cuts())
XZ_FLIPS = tuple(_xz_flips())
