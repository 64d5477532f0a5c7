"""Files -> one bundle (``source/bundle.py`` says what that is): the same files give the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from ..digest import Expected, Judge
from ..source.bundle import INDEX_NAME, SCHEMA, padded
from ..source.follow import FileReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Content", "content_of", "write_bundle"]

_PIECE: Final = 1024 * 1024
_BLOCK: Final = tarfile.BLOCKSIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One file on its way into a bundle: what its bytes must be, what opens it, and where it lies, for errors.

    ``size`` is in bytes.
    """

    size: int
    sha256: str
    open: Callable[[], BinaryIO]
    where: object = None


def content_of(data: bytes) -> Content:
    """Return bytes at hand as a file."""
    return Content(size=len(data), sha256=hashlib.sha256(data).hexdigest(), open=lambda: io.BytesIO(data))


def write_bundle(
    out: BinaryIO,
    contents: Mapping[str, Content],
    *,
    written: Callable[[str, int], None] = lambda _place, _done: None,
) -> str:
    """Write a bundle of ``contents``, by path, and return its sha256; ``written`` is told a path and its bytes so far.

    Every file is judged as it is copied. Raises ``SizeMismatch``, ``DigestMismatch``, what opening a file raises, and
    ``OSError`` from the disk.
    """
    digest = hashlib.sha256()

    def put(data: bytes) -> None:
        out.write(data)
        digest.update(data)

    index = _index(contents)
    put(_header(INDEX_NAME, len(index)) + index + _padding(len(index)))
    for place, content in sorted(contents.items()):
        put(_header(place, content.size))
        judge = Judge(Expected(sha256=content.sha256, size=content.size), where=content.where or place)
        with content.open() as file:
            reader = FileReader(file, judge)
            while data := reader.read(_PIECE):
                put(data)
                written(place, reader.received)
            reader.finish()
        put(_padding(content.size))
    put(bytes(2 * _BLOCK))
    return digest.hexdigest()


def _index(contents: Mapping[str, Content]) -> bytes:
    files, offset = {}, 0
    for place, content in sorted(contents.items()):
        offset += len(_header(place, content.size))
        files[place] = {"offset": offset, "size": content.size, "sha256": content.sha256}
        offset += padded(content.size)
    return json.dumps({"schema": SCHEMA, "files": files}, indent=1, sort_keys=True).encode("ascii") + b"\n"


def _header(place: str, size: int) -> bytes:
    """Return the header of a file that belongs to nobody and is of no time; a long name takes several blocks."""
    header = tarfile.TarInfo(place)
    header.size = size
    return header.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _padding(size: int) -> bytes:
    return bytes(padded(size) - size)
