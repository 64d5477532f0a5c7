"""Reading gzip (RFC 1952) to its proven end."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ..errors import ArchiveError

if TYPE_CHECKING:
    from .reader import Reader

__all__ = ["GzReader"]

_GZIP = 16 + zlib.MAX_WBITS
# zlib hands back what it did not use, so that a flood of empty members costs the square of this.
_INPUT = 1 << 16


class GzReader:
    """The content of all members, one after the other (RFC 1952, section 2.2).

    Each member's CRC and length are checked. Zeros may follow a member, as the gzip program allows; anything
    else, or an end in the middle of a member, is an ``ArchiveError``.
    """

    def __init__(self, raw: Reader, *, name: str) -> None:
        self._raw = raw
        self._name = name
        self._decoder = zlib.decompressobj(_GZIP)
        self._input = b""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes of content, ``b""`` at the proven end."""
        while True:
            if self._decoder.eof and not self._next_member():
                return b""
            if not self._input:
                self._input = self._raw.read(_INPUT)
                if not self._input:
                    raise ArchiveError("the gzip stream is cut short", where=self._name)
            try:
                piece = self._decoder.decompress(self._input, size)
            except zlib.error as error:
                raise ArchiveError(f"the gzip stream is damaged: {error}", where=self._name) from error
            self._input = self._decoder.unconsumed_tail
            if piece:
                return piece

    def _next_member(self) -> bool:
        """Pass over zeros; return whether anything follows them."""
        self._input = self._decoder.unused_data.lstrip(b"\0")
        while not self._input:
            more = self._raw.read(_INPUT)
            if not more:
                return False
            self._input = more.lstrip(b"\0")
        self._decoder = zlib.decompressobj(_GZIP)
        return True
