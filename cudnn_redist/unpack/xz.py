"""Reading .xz in parallel, block by block, each decoded by liblzma."""

from __future__ import annotations

import lzma
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Final, Self

from ..errors import ArchiveError
from .in_flight import InFlight, Lane
from .liblzma import fastest
from .xz_blocks import XzBlock, XzBlocks
from .xz_format import BlockHeader, XzFormatError

if TYPE_CHECKING:
    from types import TracebackType

    from .liblzma import Decompressor, NewDecompressor
    from .reader import Reader

__all__ = ["XzReader"]

# liblzma works without the interpreter's lock, so the longer one call, the less the threads meet; but a
# worker can only be stopped between two calls, and holds two pieces while it makes one.
_PIECE_SIZE: Final = 1 << 20
_READING_GRACE: Final = 0.5


class _UntilClosed:
    """``raw``, as long as somebody wants it: padding and empty streams can go on for ever without a block."""

    def __init__(self, raw: Reader, in_flight: InFlight) -> None:
        self._raw = raw
        self._in_flight = in_flight

    def read(self, size: int, /) -> bytes:
        self._in_flight.require_open()
        return self._raw.read(size)


class XzReader:
    """A reader of what the .xz file ``raw`` holds; its threads end only with :meth:`close` or ``with``.

    It accepts the files that ``xz -t --format=xz`` accepts with exit status 0, if decoding a block takes no
    more than ``memory_limit`` bytes, and refuses the others; so a check that liblzma cannot compute is
    refused. Any number of streams, padding between and behind them, and blocks with or without sizes in
    their headers are read.

    Up to ``threads`` blocks are decoded at a time, each from its first bytes on. ``budget`` bounds the
    bytes in flight, whatever the size of the blocks: compressed, decoded, and the decoders' dictionaries;
    only the block whose turn it is may pass it, by its dictionary and about 3 MiB. ``name`` is the
    ``where`` of errors. ``decompressor`` is the class that decodes a block, the fastest there is if left out.

    A thread of its own reads ``raw``, from now on: a slow download holds up neither the decoding nor the
    reading of what came before, and a slow caller holds up the download only when the budget is spent.
    """

    def __init__(
        self,
        raw: Reader,
        *,
        name: str,
        threads: int,
        budget: int,
        memory_limit: int,
        decompressor: NewDecompressor | None = None,
    ) -> None:
        self._name = name
        self._memory_limit = memory_limit
        self._new_decompressor = decompressor or fastest()
        self._rest = memoryview(b"")
        self._in_flight = InFlight(budget)
        self._workers = ThreadPoolExecutor(threads, thread_name_prefix="xz-decode")
        self._feeder = ThreadPoolExecutor(1, thread_name_prefix="xz-read")
        self._feeding: Future[None] = self._feeder.submit(
            self._feed, XzBlocks(_UntilClosed(raw, self._in_flight))
        )
        self._in_flight.fed_by(self._feeding)

    def read(self, size: int, /) -> bytes:
        """Return one to ``size`` decoded bytes; ``b""`` only at the end of a file that is sound throughout.

        Raises :class:`ArchiveError` where the file is damaged, cut off, or asks for too much memory, once
        what came before that place has been returned; what ``raw`` raises comes out at once and untouched.
        Raises :class:`ValueError` if this reader is closed.
        """
        if not self._rest:
            piece = self._in_flight.take()
            if len(piece) <= size:
                return piece
            self._rest = memoryview(piece)
        data, self._rest = self._rest[:size], self._rest[size:]
        return bytes(data)

    def close(self) -> None:
        """End all threads, promptly; may be called twice.

        A thread that is inside ``raw.read`` cannot be ended from here. It is waited for half a second, and
        ends by itself when that call returns or raises, as it does when ``raw`` is closed or cancelled.
        """
        self._in_flight.close()
        self._rest = memoryview(b"")
        self._workers.shutdown(cancel_futures=True)
        wait([self._feeding], timeout=_READING_GRACE)
        self._feeder.shutdown(wait=self._feeding.done())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _feed(self, blocks: XzBlocks) -> None:
        try:
            for block in blocks:
                self._feed_block(block)
        except XzFormatError as fault:
            error = self._error(str(fault), blocks.place)
            error.__cause__ = fault
            self._in_flight.fail(error)

    def _feed_block(self, block: XzBlock) -> None:
        def start(lane: Lane) -> Future[None]:
            return self._workers.submit(self._decode, lane, header=block.header, place=block.place)

        lane = self._in_flight.open(start)
        for part in block.parts:
            self._in_flight.push(lane, part)
        self._in_flight.complete(lane)

    def _decode(self, lane: Lane, *, header: BlockHeader, place: str) -> None:
        if header.dictionary > self._memory_limit:
            limit = f"the memory limit of {self._memory_limit} bytes"
            raise self._error(f"a dictionary of {header.dictionary} bytes is over {limit}", place)
        decoder = self._new_decompressor(lzma.FORMAT_XZ, memlimit=self._memory_limit)
        try:
            with self._in_flight.memory(lane, header.memory + 2 * _PIECE_SIZE):
                for part in self._in_flight.parts(lane):
                    self._decode_part(lane, decoder, part)
        except (lzma.LZMAError, EOFError, MemoryError) as fault:
            raise self._error(f"liblzma refuses the block: {str(fault) or 'out of memory'}", place) from fault
        if not decoder.eof or decoder.unused_data:
            raise self._error("liblzma does not end where the block ends", place)

    def _decode_part(self, lane: Lane, decoder: Decompressor, part: bytes | memoryview) -> None:
        if decoder.eof:
            raise EOFError("it ends too early")
        while True:
            piece = decoder.decompress(part, _PIECE_SIZE)
            if piece:
                self._in_flight.put(lane, piece)
            if decoder.needs_input or decoder.eof:
                return
            # The decoder keeps what it did not use.
            part = b""

    def _error(self, cause: str, place: str) -> ArchiveError:
        return ArchiveError(f"{cause} (xz {place})", where=self._name)
