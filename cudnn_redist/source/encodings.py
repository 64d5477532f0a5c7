"""Undoing a ``Content-Encoding`` that nobody asked for, in pieces that cannot grow large. Pure."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ..errors import TransferError, TransientTransferError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["undone"]

_ZLIB = frozenset({"gzip", "x-gzip", "deflate"})
# Tells gzip from zlib by its head (zlib.h, inflateInit2).
_EITHER = 32 + zlib.MAX_WBITS
_PIECE = 64 * 1024


def undone(pieces: Iterable[bytes], encoding: str, *, phase: str, where: str) -> Iterator[bytes]:
    """Yield what ``pieces`` are without their ``encoding``, which is that of gzip, or zlib's (RFC 9110, section 8.4.1).

    Under any other name they pass as they are: servers put many a word there, and what comes is judged anyway. No
    piece has more than 64 KiB, whatever it is made of: a decoder without a bound turns one of zstd into gigabytes.
    Raises ``TransferError`` for bytes that are not what the name says.
    """
    if encoding.strip().lower() not in _ZLIB:
        yield from pieces
        return
    decoder = zlib.decompressobj(_EITHER)
    try:
        for piece in pieces:
            left = piece
            while left and not decoder.eof:
                yield decoder.decompress(left, _PIECE)
                left = decoder.unconsumed_tail
        yield decoder.flush()
    except zlib.error as error:
        raise TransferError(
            f"not {encoding}, though it is sent as that ({error})", phase=phase, where=where
        ) from error
    if not decoder.eof:
        raise TransientTransferError(f"the answer ended within its {encoding}", phase=phase, where=where)
