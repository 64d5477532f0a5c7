"""What is told of a mirror or a bundle in the making: NVIDIA's licence first, then the bytes that come."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["Landing", "tell_licence"]


def tell_licence(arguments: argparse.Namespace, output: Output) -> None:
    """Say what NVIDIA's licence allows; ``UsageError`` where it has to be accepted and is not."""
    from ..mirroring.licences import NOTICE, require_acceptance

    require_acceptance(accepted=arguments.accept_licence, strict=arguments.strict_licence)
    output.note(NOTICE)


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
