"""Members that seeds are made of, and words that lead from one to another."""

from __future__ import annotations

import tarfile

from unpack.building import Entry, file, folder, hard_link, link, special

__all__ = ["UNSAFE", "UNSAFE_IN_TAR", "WORDS"]

UNSAFE: tuple[Entry, ...] = (
    file("/sentinel/file"),
    file("../sentinel/file"),
    file("top\\..\\evil"),
    file("C:evil"),
    file("top/\x1b"),
    file("top/good", b"again"),
    file("top/good/below"),
    folder("top/../.."),
    link("top/l", "../../sentinel"),
    link("top/l", "l"),
    link("top/l", "good/.."),
)
"""Each is refused beside ``GOOD``."""

UNSAFE_IN_TAR: tuple[Entry, ...] = (
    special("top/s", tarfile.FIFOTYPE),
    special("top/s", tarfile.GNUTYPE_SPARSE),
    special("top/s", b"Z"),
    hard_link("top/h", "../sentinel/file"),
    hard_link("top/h", "top/later"),
)

WORDS = (b"../", b"/..", b"/", b"./", b"top/", b"good", b"sentinel", b"\\", b"C:", b"\xff", b"\xc3\xa9")
