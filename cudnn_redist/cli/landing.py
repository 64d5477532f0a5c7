"""What is told of a mirror or a bundle in the making: NVIDIA's licence first, then the bytes that come."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["Landing"]


class Landing:
    """Says what the licence allows, once something comes, and then how many bytes: a line in ten seconds.

    ``UsageError`` where the licence has to be accepted and is not.
    """

    _EVERY = 10.0

    def __init__(self, arguments: argparse.Namespace, output: Output) -> None:
        from ..mirroring.licences import NOTICE, require_acceptance

        require_acceptance(accepted=arguments.accept_licence, strict=arguments.strict_licence)
        self._output = output
        self._wanted = not arguments.no_progress
        self._licence = NOTICE
        self._done: dict[str, int] = {}
        self._told = time.monotonic()
        self._telling = threading.Lock()

    def tell_licence(self) -> None:
        """Say what NVIDIA's licence allows, the first time."""
        with self._telling:
            licence, self._licence = self._licence, ""
            if licence:
                self._output.note(licence)

    def landed(self, place: str, done: int) -> None:
        """Take a report, from any thread."""
        self.tell_licence()
        with self._telling:
            self._done[place] = done
            now = time.monotonic()
            if self._wanted and now - self._told >= self._EVERY:
                self._told = now
                self._output.note(f"{sum(self._done.values()) / 1e6:,.0f} MB of {len(self._done)} archives")
