"""Forms of tar: long names and other fields that an extended header brings, sparse files, counts; good and bad."""

from __future__ import annotations

import functools
import gzip
import tarfile
from typing import TYPE_CHECKING

from unpack.building import (
    END,
    GOOD,
    MTIME,
    NEGATIVE,
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
)
from unpack.specimen import Specimen

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = "/".join(["directory-with-a-name"] * 12) + "/file"
_GOOD = tar_member(GOOD)
_DAMAGED_HEADER = "a damaged header|an oversized header"


def _good(name: str, blocks: bytes, *paths: str) -> Specimen:
    return Specimen(name=name, kind="tar", build=lambda: blocks + END, verdict="good", paths=paths)


def _unsafe(name: str, blocks: bytes, reason: str) -> Specimen:
    return Specimen(
        name=name, kind="tar", build=lambda: _GOOD + blocks + END, verdict="unsafe", reason=reason
    )


def _damaged(name: str, blocks: bytes, reason: str = _DAMAGED_HEADER) -> Specimen:
    return Specimen(
        name=name, kind="tar", build=lambda: _GOOD + blocks + END, verdict="damaged", reason=reason
    )


def _parents(path: str) -> tuple[str, ...]:
    """Return the directories that ``path`` implies, and itself."""
    parts = path.split("/")
    return tuple("/".join(parts[:count]) for count in range(1, len(parts) + 1))


LONG_NAMES = (
    *(
        _good(
            f"long name and long links, {form}",
            b"".join(
                tar_member(entry, number)
                for entry in (file(f"top/{LONG}"), link("top/l", LONG), hard_link("top/h", f"top/{LONG}"))
            ),
            "h",
            "l",
            *_parents(LONG),
        )
        for form, number in (("GNU", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT))
    ),
    _good(
        "name in two parts, ustar",
        tar_member(file(f"top/{'d' * 90}/{'f' * 90}"), tarfile.USTAR_FORMAT),
        *_parents(f"{'d' * 90}/{'f' * 90}"),
    ),
    _unsafe("GNU long name that climbs", extended(b"L", b"top/../../evil\0") + _GOOD, "climbs with"),
    _unsafe("GNU long name that is absolute", extended(b"L", b"/etc/evil\0") + _GOOD, "is absolute"),
    _unsafe(
        "GNU long name with a slash at its end", extended(b"L", b"top/f/\0") + _GOOD, "ends with a slash"
    ),
    _unsafe(
        "GNU long link that leaves",
        extended(b"K", b"../../evil\0") + tar_member(link("top/l", "x")),
        "leaves",
    ),
    _unsafe("GNU long name with nothing in it", extended(b"L", b"\0") + _GOOD, "is empty"),
    _damaged("GNU long name and no member", extended(b"L", b"top/long\0")),
    _damaged("GNU long name of 128 KiB", header(Entry(name="x", type=b"L"), size=b"00000400000\0")),
    _damaged("40 GNU long names for one member", extended(b"L", b"top/x\0") * 40 + _GOOD),
)

PAX_FIELDS = (
    _good(
        "pax path, linkpath, size and mtime",
        pax(path="top/real", size="3", mtime=f"{MTIME}.25")
        + header(file("top/other", b"abc"), size=b"00000000000\0")
        + pax(linkpath="real")
        + tar_member(link("top/l", "nowhere")),
        "l",
        "real",
    ),
    _good("pax hdrcharset", pax(hdrcharset="BINARY", path="top/文") + _GOOD, "文"),
    _good(
        "pax global comment, as git writes it",
        extended(b"g", b"52 comment=" + b"0" * 40 + b"\n") + _GOOD,
        "good",
    ),
    _good("pax fields of a vendor", pax(**{"SCHILY.xattr.user.x": "y"}) + _GOOD, "good"),
    _good("pax mtime in the far future", pax(mtime="9" * 40) + _GOOD, "good"),
    _unsafe("pax path that climbs", pax(path="../evil") + _GOOD, "climbs with"),
    _unsafe("pax path that is absolute", pax(path="/etc/evil") + _GOOD, "is absolute"),
    _unsafe("pax path with a NUL", pax(path="top/a\0b") + _GOOD, "holds a control character"),
    _unsafe("pax path of nothing", pax(path="") + _GOOD, "is empty"),
    _unsafe("pax path with a backslash", pax(path="..\\evil") + _GOOD, "holds a backslash"),
    _unsafe("pax linkpath that leaves", pax(linkpath="../../x") + tar_member(link("top/l", "x")), "leaves"),
    _unsafe(
        "pax linkpath of a hard link outside",
        pax(linkpath="/etc/passwd") + tar_member(hard_link("top/h", "top/good")),
        "is absolute",
    ),
    _unsafe(
        "pax global path",
        extended(b"g", b"22 path=../../../evil\n") + tar_member(file("top/x")),
        "climbs with",
    ),
    _unsafe("negative size", header(file("top/x"), size=b"\xff" * 12), NEGATIVE),
    _damaged("pax size past the end", pax(size="1000000") + tar_member(file("top/x")), "cut short"),
    _damaged("pax size that is no number", pax(size="many") + tar_member(file("top/x"))),
    _damaged("pax record of no length", extended(b"x", b"0 path=x\n") + _GOOD),
    _damaged(
        "pax record longer than its header",
        extended(b"x", b"99 path=x\n") + _GOOD,
        "a damaged header|holds a control character",
    ),
    _damaged("pax header of 8 GiB", header(Entry(name="x", type=b"x"), size=b"77777777777\0")),
    _damaged("40 pax headers for one member", extended(b"x", b"6 a=b\n") * 40 + _GOOD),
    _damaged(
        "300 global fields",
        b"".join(extended(b"g", b"8 %d=b\n" % n) + tar_member(file(f"top/{n}")) for n in range(100, 400)),
        "too many global header fields",
    ),
)


def _sparse(form: str, /, **fields: str) -> Specimen:
    described = pax(**{f"GNU.sparse.{key}": value for key, value in fields.items()})
    map_and_data = b"1\n0\n7\n" + bytes(506) + b"content"
    return _unsafe(f"sparse, {form}", described + tar_member(file("top/s", map_and_data)), "is a sparse file")


SPARSE = (
    _unsafe("sparse, old GNU", tar_member(special("top/s", tarfile.GNUTYPE_SPARSE)), "is a sparse file"),
    _sparse("pax 0.0", size="7", numblocks="1"),
    _sparse("pax 0.1", map="0,7", size="7"),
    _sparse("pax 1.0", major="1", minor="0", name="top/s", realsize="7"),
    _damaged("sparse, a map of no numbers", pax(**{"GNU.sparse.map": "x"}) + tar_member(file("top/s"))),
)

OTHER_GOOD = (
    _good("two top folders", tar_member(file("a/x")) + tar_member(file("b/y")), "a", "a/x", "b", "b/y"),
    _good("no top folder", tar_member(file("x")) + tar_member(file("y")), "x", "y"),
    _good("a dot before everything", tar_member(folder("./")) + tar_member(file("./top/x")), "x"),
    _good(
        "directories that nobody may write",
        tar_member(folder("top/d", 0o555)) + tar_member(file("top/d/x")),
        "d",
        "d/x",
    ),
    _good("files that nobody may read", tar_member(file("top/x", mode=0)), "x"),
    _good(
        "setuid, setgid and sticky",
        tar_member(folder("top/d", 0o7777)) + tar_member(file("top/d/x", mode=0o7777)),
        "d",
        "d/x",
    ),
    _good("hard link", _GOOD + tar_member(hard_link("top/h", "top/good")), "good", "h"),
    _good(
        "hard link to a hard link, to an empty file",
        tar_member(file("top/e", b""))
        + tar_member(hard_link("top/h", "top/e"))
        + tar_member(hard_link("top/i", "top/h")),
        "e",
        "h",
        "i",
    ),
    _good(
        "chain of 40 links",
        _GOOD
        + b"".join(tar_member(link(f"top/{n:02}", f"{n + 1:02}")) for n in range(39))
        + tar_member(link("top/39", "good")),
        *(f"{n:02}" for n in range(40)),
        "good",
    ),
    _good("link before its target", tar_member(link("top/d/l", "../good")) + _GOOD, "d", "d/l", "good"),
    _good("directory that announces a size", header(folder("top"), size=b"00000001000\0") + _GOOD, "good"),
    _good("contiguous file", header(GOOD, type=b"7"), "good"),
    _good("size in base 256", header(GOOD, size=b"\x80" + (7).to_bytes(11, "big")), "good"),
)


@functools.cache
def _many(count: int) -> bytes:
    return gzip.compress(tar([folder(f"top/{number}") for number in range(count)] + [GOOD]), 1, mtime=0)


def _bombs() -> Iterator[Specimen]:
    yield _unsafe(
        "one file of 8 EiB", header(file("top/x"), size=b"\x80" + b"\x7f" * 11), "brings the content to"
    )
    yield Specimen(
        name="more members than allowed",
        kind="tar.gz",
        build=lambda: _many(300),
        verdict="unsafe",
        reason="is one member too many: at most 100",
        most_members=100,
    )
    yield Specimen(
        name="names that imply more directories than allowed",
        kind="tar",
        build=lambda: tar(
            [file("/".join(["top", *(f"{n}-{m}" for m in range(30)), "x"])) for n in range(20)]
        ),
        verdict="unsafe",
        reason="is one member too many: at most 100",
        most_members=100,
    )
    yield Specimen(
        name="content that grows past the limit",
        kind="tar.gz",
        build=lambda: gzip.compress(tar([file(f"top/{n}", bytes(1 << 20)) for n in range(20)]), 1, mtime=0),
        verdict="unsafe",
        reason="brings the content to [0-9]+ bytes: at most 10000000",
        most_bytes=10_000_000,
    )
    yield Specimen(
        name="zeros without end after the end",
        kind="tar.gz",
        build=lambda: gzip.compress(tar([GOOD], end=bytes((16 << 20) + 2048)), 1, mtime=0),
        verdict="damaged",
        reason="more than 16777216 bytes follow the end marker",
    )


BOMBS = tuple(_bombs())
