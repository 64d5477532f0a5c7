"""Reading Zstandard (RFC 8878) to its proven end.

``zstandard`` decodes at full speed and with bounded output when it may pull its input itself, but takes any
end of input for the end of the data. So the input is handed over block by block, by a walk over the frames
that knows whether the input may end where it does.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, cast

import zstandard

from ..errors import ArchiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    A cut frame, bytes that are no frame, a wrong checksum, or a window larger than ``memory_limit`` bytes are
    an ``ArchiveError``.
    """

    def __init__(self, raw: Reader, *, name: str, memory_limit: int) -> None:
        self._name = name
        self._memory_limit = memory_limit
        self._input = _Input(raw, name)
        decoder = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        source = cast("IO[bytes]", _Pull(self._frames()))
        self._decoded = decoder.stream_reader(source, read_size=_INPUT, read_across_frames=True)

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes of content, ``b""`` at the proven end."""
        try:
            return self._decoded.read(size)
        except zstandard.ZstdError as error:
            raise ArchiveError(f"the zstd stream is damaged: {error}", where=self._name) from error

    def _frames(self) -> Iterator[bytes]:
        """Yield the input, frame by frame and block by block (RFC 8878, sections 3.1.1 and 3.1.2)."""
        more = True
        while more:
            magic = self._input.take(4)
            if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:  # noqa: PLR2004 - 0x184D2A5?, little-endian
                self._input.skip(int.from_bytes(self._input.take(4), "little"))
            elif magic == zstandard.FRAME_HEADER:
                yield from self._frame(magic)
            else:
                raise ArchiveError("the zstd stream is damaged: bytes that begin no frame", where=self._name)
            more = not self._input.at_end()

    def _frame(self, magic: bytes) -> Iterator[bytes]:
        header = magic + self._input.take(_SHORTEST_HEADER - len(magic))
        header += self._input.take(zstandard.frame_header_size(header) - len(header))
        frame = zstandard.get_frame_parameters(header)
        if frame.window_size > self._memory_limit:
            raise ArchiveError(
                f"the zstd stream needs a window of {frame.window_size} bytes: at most {self._memory_limit}",
                where=self._name,
            )
        yield header
        last = False
        while not last:
            start = self._input.take(3)
            bits = int.from_bytes(start, "little")
            last, kind, size = bool(bits & 1), bits >> 1 & 3, bits >> 3
            if kind == _RESERVED or size > _LARGEST_BLOCK:
                raise ArchiveError("the zstd stream is damaged: an impossible block", where=self._name)
            yield start + self._input.take(1 if kind == _RLE else size)
        if frame.has_checksum:
            yield self._input.take(4)


class _Pull:
    """An iterator of pieces as the ``read`` that zstandard asks for."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _size: int) -> bytes:
        return next(self._pieces, b"")


class _Input:
    """Exactly as many bytes as asked for, out of large reads."""

    def __init__(self, raw: Reader, name: str) -> None:
        self._raw = raw
        self._name = name
        self._held = b""
        self._used = 0

    def at_end(self) -> bool:
        return self._used == len(self._held) and not self._fill()

    def take(self, size: int) -> bytes:
        while len(self._held) - self._used < size:
            if not self._fill():
                raise ArchiveError("the zstd stream is cut short", where=self._name)
        start = self._used
        self._used += size
        return self._held[start : self._used]

    def skip(self, size: int) -> None:
        while size > 0:
            step = min(size, _INPUT)
            self.take(step)
            size -= step

    def _fill(self) -> bool:
        more = self._raw.read(_INPUT)
        self._held = self._held[self._used :] + more
        self._used = 0
        return bool(more)
