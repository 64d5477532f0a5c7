"""A part of a file, as a file of its own."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Window"]


class Window(io.RawIOBase):
    """``size`` bytes of ``file`` from ``start`` on, read-only. It owns ``file``, whose descriptor is shown."""

    def __init__(self, file: io.FileIO, *, start: int, size: int) -> None:
        super().__init__()
        self._file = file
        self._start = start
        self._size = size
        self._position = 0

    def again(self) -> Window:
        """Return the same part from its start, over a descriptor that shares its position with this one."""
        handle = os.dup(self._file.fileno())
        return Window(io.FileIO(handle, "rb"), start=self._start, size=self._size)

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the whole file."""
        return self._file.fileno()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place in the part; see ``io.IOBase``."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(origin + offset, 0)
        return self._position

    def tell(self) -> int:
        """Return the place in the part."""
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read into ``buffer``; 0 at the end of the part, or where the file ends before it."""
        view = memoryview(buffer).cast("B")
        room = view[: max(self._size - self._position, 0)]
        self._file.seek(self._start + self._position)
        count = self._file.readinto(room) or 0
        self._position += count
        return count

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()
