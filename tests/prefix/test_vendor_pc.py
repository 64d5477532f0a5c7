from __future__ import annotations

import pytest
from prefix.made import FILES, entries, record

from cudnn_redist.prefix.record import Entry
from cudnn_redist.prefix.vendor_pc import not_relocated

OURS = Entry(path="lib/pkgconfig/cudnn.pc", kind="file", size=1, sha256="0" * 64)


def named(*paths: str) -> str | None:
    files = {**FILES, **dict.fromkeys(paths, b"prefix=/usr/local\n")}
    return not_relocated(record(entries=entries(files), generated=(OURS,)))


@pytest.mark.parametrize(
    ("paths", "listed"),
    [
        (["pkg-config/x-11.7.pc"], "pkg-config/x-11.7.pc"),
        (["a.pc", "b.pc", "c.pc"], "a.pc, b.pc, c.pc"),
        (["a.pc", "b.pc", "c.pc", "d.pc"], "a.pc, b.pc, c.pc, ..."),
    ],
    ids=["one", "three", "four"],
)
def test_the_archives_own_files_are_named(paths: list[str], listed: str) -> None:
    assert named(*paths) == f"the vendor's pkg-config files are not relocated: {listed}"


def test_ours_are_not_meant() -> None:
    assert named() is None
