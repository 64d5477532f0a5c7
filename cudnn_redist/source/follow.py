"""Blocking readers that tee what they read into the judge: the bytes that are judged are the bytes that are used."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, BinaryIO, cast

from ..errors import TransferError
from .window import Window

if TYPE_CHECKING:
    from ..digest import Judge
    from .download import Download

__all__ = ["FileReader", "Follower", "JudgedReader", "SourceReader"]

_DRAIN = 1024 * 1024


class JudgedReader(ABC):
    """Reads through ``judge``, and can finish the reading for its sake."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._peeked = b""
        self._judged = False
        # A decoder that failed may leave its reading thread waiting in here while ``finish`` reads the rest.
        self._one_at_a_time = threading.Lock()

    @property
    def received(self) -> int:
        """Bytes judged so far."""
        return self.judge.received

    def peek(self, size: int) -> bytes:
        """Return the next bytes, up to ``size``, without using them up."""
        while len(self._peeked) < size:
            data = self._next(size - len(self._peeked))
            if not data:
                break
            self._peeked += data
        return self._peeked[:size]

    def read(self, size: int, /) -> bytes:
        """Return at least one and at most ``size`` bytes, waiting for them; ``b""`` at the end."""
        if self._peeked:
            data, self._peeked = self._peeked[:size], self._peeked[size:]
            return data
        return self._next(size)

    def finish(self) -> None:
        """Read what is left and pronounce: ``SizeMismatch`` or ``DigestMismatch`` unless all is as promised.

        Once all was right, later calls do nothing, whoever else reads the file by then.
        """
        if self._judged:
            return
        self._peeked = b""
        while self._next(_DRAIN):
            pass
        self.judge.verdict()
        self._judged = True

    @abstractmethod
    def again(self) -> BinaryIO:
        """Return a file object on the same file, from its start, for when this reader has finished."""

    def _next(self, size: int) -> bytes:
        with self._one_at_a_time:
            data = self._take(size)
            self.judge.update(data)
            return data

    @abstractmethod
    def _take(self, size: int) -> bytes: ...


class Follower(JudgedReader):
    """Reads a file that a ``Download`` is still filling.

    ``read`` raises ``Rewound`` when the file starts again and ``Stopped`` when the download ends without it.
    """

    def __init__(self, download: Download, judge: Judge) -> None:
        super().__init__(judge)
        self._download = download
        self._generation = download.generation
        self._position = 0

    def _take(self, size: int) -> bytes:
        while True:
            landed = self._download.landed_after(self._position, self._generation)
            wanted = min(size, landed - self._position)
            data = self._download.partial.read_at(wanted, self._position)
            # Bytes that landed but cannot be read were cut off by a rewind, which the next wait will tell.
            if data or not wanted:
                self._position += len(data)
                return data

    def again(self) -> BinaryIO:
        """As ``JudgedReader``."""
        return self._download.partial.open()


class FileReader(JudgedReader):
    """Reads an open file that is all there."""

    def __init__(self, file: BinaryIO, judge: Judge) -> None:
        super().__init__(judge)
        self._file = file

    def _take(self, size: int) -> bytes:
        return self._file.read(size)

    def again(self) -> BinaryIO:
        """As ``JudgedReader``; the position is shared with this reader."""
        if isinstance(self._file, Window):
            return cast("BinaryIO", self._file.again())
        handle = os.dup(self._file.fileno())
        os.lseek(handle, 0, os.SEEK_SET)
        return os.fdopen(handle, "rb", buffering=0)


class SourceReader(FileReader):
    """Reads the file of a source: ``TransferError`` where it cannot be read, which is no fault of the disk here."""

    def _take(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            cause = f"cannot be read: {error.strerror}"
            raise TransferError(cause, where=self.judge.where) from error
