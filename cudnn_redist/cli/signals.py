"""Ctrl-C and a runner's SIGTERM: the run ends in a moment, and a second signal ends it at once."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["Terminated", "ending_promptly"]


class Terminated(BaseException):
    """SIGTERM arrived."""


@contextmanager
def ending_promptly() -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into an exception in the main thread, so that stages are cleaned up.

    A second one ends the process on the spot: what is left behind is swept by a later run.
    """
    handled = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, _first) for number in handled}
    except ValueError:
        # Not the main thread: whoever called us there handles signals.
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _first(number: int, _frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _second)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


def _second(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)
