"""Telling of bytes that come for a mirror or a bundle."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .output import Output

__all__ = ["Landing"]


class Landing:
    """Says now and then how many bytes have come: a line in ten seconds, as a log can bear."""

    _EVERY = 10.0

    def __init__(self, output: Output, *, wanted: bool) -> None:
        self._output = output
        self._wanted = wanted
        self._done: dict[str, int] = {}
        self._told = time.monotonic()
        self._telling = threading.Lock()

    def landed(self, place: str, done: int) -> None:
        """Take a report, from any thread."""
        with self._telling:
            self._done[place] = done
            now = time.monotonic()
            if self._wanted and now - self._told >= self._EVERY:
                self._told = now
                self._output.note(f"{sum(self._done.values()) / 1e6:,.0f} MB of {len(self._done)} archives")
