"""Reading Zstandard (RFC 8878) to its proven end.

``zstandard`` decodes at full speed and with bounded output when it may pull its input itself, but takes any
end of input for the end of the data. So it pulls through a walk over the frames, which copies nothing and
knows whether the input may end where it does.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, cast

import zstandard

from ..errors import ArchiveError

if TYPE_CHECKING:
    from collections.abc import Generator

    from .reader import Reader

__all__ = ["ZstReader"]

_INPUT = 1 << 18
_SKIPPABLE = b"\x2a\x4d\x18"  # section 3.1.2, after the first byte
_LARGEST_BLOCK = 1 << 17  # RFC 8878, section 3.1.1.2.4
_SHORTEST_HEADER = 5  # section 3.1.1.1: enough to know the length of the whole
_RLE, _RESERVED = 1, 3  # section 3.1.1.2.2
_LARGEST_WINDOW = 1 << 31  # what a decoder of the zstd library can be allowed, in bytes


class ZstReader:
    """The content of all frames, one after the other; skippable frames are skipped.

    A cut frame, bytes that are no frame, a wrong checksum, a wrong size (where every frame tells its own), or a
    window larger than ``memory_limit`` bytes are an ``ArchiveError``.
    """

    def __init__(self, raw: Reader, *, name: str, memory_limit: int) -> None:
        self._name = name
        decoder = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        self._frames = _Frames(raw, name=name, memory_limit=memory_limit)
        source = cast("IO[bytes]", self._frames)
        self._decoded = decoder.stream_reader(source, read_size=_INPUT, read_across_frames=True)
        self._size = 0

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes of content, ``b""`` at the proven end."""
        try:
            piece = self._decoded.read(size)
        except zstandard.ZstdError as error:
            raise ArchiveError(f"the zstd stream is damaged: {error}", where=self._name) from error
        self._size += len(piece)
        # zstd compares the sizes itself, but behind an empty last block only where it has room for all at once.
        if not piece and self._frames.told_size not in (None, self._size):
            cause = f"the zstd stream is damaged: {self._size} bytes, {self._frames.told_size} are told"
            raise ArchiveError(cause, where=self._name)
        return piece


class _Frames:
    """``raw``, looked through before the decoder sees it (RFC 8878, sections 3.1.1 and 3.1.2)."""

    def __init__(self, raw: Reader, *, name: str, memory_limit: int) -> None:
        self._raw = raw
        self._name = name
        self._memory_limit = memory_limit
        self.told_size: int | None = 0
        self._held = b""
        self._skip = 0
        self._may_end = False
        self._walk = self._frames()
        self._wanted = next(self._walk)

    def read(self, size: int) -> bytes:
        piece = self._raw.read(size)
        if not piece and (not self._may_end or self._held or self._skip):
            raise self._error("is cut short")
        at = 0
        while at < len(piece):
            if self._skip:
                step = min(self._skip, len(piece) - at)
                self._skip -= step
            else:
                step = min(self._wanted - len(self._held), len(piece) - at)
                self._look(piece[at : at + step])
            at += step
        return piece

    def _look(self, part: bytes) -> None:
        self._held += part
        if len(self._held) == self._wanted:
            held, self._held = self._held, b""
            self._wanted = self._walk.send(held)

    def _frames(self) -> Generator[int, bytes, None]:
        """Yield how many bytes are needed to know what follows, be sent them, and set what to skip behind them."""
        while True:
            magic = yield 4
            self._may_end = False
            if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:  # noqa: PLR2004 - 0x184D2A5?, little-endian
                self._skip = int.from_bytes((yield 4), "little")
            elif magic == zstandard.FRAME_HEADER:
                yield from self._frame(magic)
            else:
                raise self._error("is damaged: bytes that begin no frame")
            self._may_end = True

    def _frame(self, magic: bytes) -> Generator[int, bytes, None]:
        header = magic + (yield _SHORTEST_HEADER - len(magic))
        header += yield zstandard.frame_header_size(header) - len(header)
        frame = zstandard.get_frame_parameters(header)
        if frame.window_size > self._memory_limit:
            raise self._error(f"needs a window of {frame.window_size} bytes: at most {self._memory_limit}")
        if self.told_size is not None:
            known = frame.content_size != zstandard.CONTENTSIZE_UNKNOWN
            self.told_size = self.told_size + frame.content_size if known else None
        last = False
        while not last:
            bits = int.from_bytes((yield 3), "little")
            last, kind, size = bool(bits & 1), bits >> 1 & 3, bits >> 3
            if kind == _RESERVED or size > _LARGEST_BLOCK:
                raise self._error("is damaged: an impossible block")
            self._skip = 1 if kind == _RLE else size
        self._skip += 4 if frame.has_checksum else 0

    def _error(self, cause: str) -> ArchiveError:
        return ArchiveError(f"the zstd stream {cause}", where=self._name)
