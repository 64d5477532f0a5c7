"""What an archive is, told from its first bytes, and the decoder for each kind."""

from __future__ import annotations

import enum
import re
import tarfile
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ..errors import ArchiveError
from .capacity import default_budget, default_threads
from .gz import GzReader
from .xz import XzReader

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .options import UnpackOptions
    from .reader import Reader

__all__ = ["HEAD_SIZE", "Kind", "decoded", "kind_of"]

HEAD_SIZE = tarfile.BLOCKSIZE
"""How many of its first bytes, or all if there are fewer, tell what an archive is."""


class Kind(enum.Enum):
    """The kinds of archive that can be unpacked; the tar kinds may be compressed."""

    XZ = "tar.xz"
    ZST = "tar.zst"
    GZ = "tar.gz"
    TAR = "tar"
    ZIP = "zip"


_MAGIC = (
    (b"\xfd7zXZ\0", Kind.XZ),  # .xz file format 1.2, section 2.1.1.1
    (b"\x28\xb5\x2f\xfd", Kind.ZST),  # RFC 8878, section 3.1.1
    *((bytes((0x50 + nibble,)) + b"\x2a\x4d\x18", Kind.ZST) for nibble in range(16)),  # section 3.1.2
    (b"\x1f\x8b", Kind.GZ),  # RFC 1952, section 2.3.1
    (b"PK\x03\x04", Kind.ZIP),  # APPNOTE 6.3.10, section 4.3.7
    (b"PK\x05\x06", Kind.ZIP),  # section 4.3.16: a zip of nothing
)
_LOOK_ALIKES = (
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xed\xab\xee\xdb", "an RPM package"),
    (b"!<arch>\n", "a Debian package"),
    (b"\x7fELF", "an ELF file"),
    (b"MZ", "a Windows program"),
    (b"#!", "a script"),
    (b"version https://git-lfs", "a Git LFS pointer"),
)
_MARKUP = ((b"<!doctype html", "an HTML page"), (b"<html", "an HTML page"), (b"<?xml", "XML"), (b"{", "JSON"))
_BEFORE_TEXT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*")
_QUOTED = 60


def kind_of(head: bytes, *, name: str) -> Kind:
    """Return the kind of archive that begins with ``head`` (its first ``HEAD_SIZE`` bytes, or all of it).

    ``name`` is for the error: ``ArchiveError``, whose cause says what the bytes look like.
    """
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if _is_tar(head[:HEAD_SIZE]):
        return Kind.TAR
    raise ArchiveError(f"this is no archive but {_appearance(head)}", where=name)


def decoded(raw: Reader, kind: Kind, *, name: str, options: UnpackOptions) -> AbstractContextManager[Reader]:
    """Return a context with the tar stream inside ``raw``; leaving it ends the decoder's threads.

    The stream ends only where the compressed one properly does, with no byte of ``raw`` left over; damage is
    an ``ArchiveError``.
    """
    if kind is Kind.XZ:
        threads = options.threads or default_threads()
        budget = options.budget or default_budget(threads)
        return XzReader(raw, name=name, threads=threads, budget=budget, memory_limit=options.memory_limit)
    if kind is Kind.ZST:
        # Few archives are zstd, so few runs pay for the import.
        from .zst import ZstReader

        return nullcontext(ZstReader(raw, name=name, memory_limit=options.memory_limit))
    if kind is Kind.GZ:
        return nullcontext(GzReader(raw, name=name))
    if kind is Kind.TAR:
        return nullcontext(raw)
    raise ValueError("a zip has its directory at the end and is no stream")


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        # A magic word without a right checksum is a damaged tar, and is reported as that.
        return head[257:262] == b"ustar"
    return True


def _appearance(head: bytes) -> str:
    if not head:
        return "empty"
    if not head.strip(b"\0"):
        return "zeros"
    for magic, what in _LOOK_ALIKES:
        if head.startswith(magic):
            return what
    text = _BEFORE_TEXT.sub(b"", head)
    for start, what in _MARKUP:
        if text[: len(start)].lower() == start:
            return what
    line = text.partition(b"\n")[0].strip()[:_QUOTED]
    if line.isascii() and line.decode("ascii").isprintable():
        return f"text: {line.decode('ascii')!r}"
    return f"unknown data that begins with {head[:8].hex(' ')}"
