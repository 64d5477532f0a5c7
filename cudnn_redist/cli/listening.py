"""Showing what the library notes while it works."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..notes import log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .output import Output

__all__ = ["notes_shown"]


@contextmanager
def notes_shown(output: Output) -> Iterator[None]:
    """Show warnings, and with ``--debug`` everything, as notes of the command."""
    teller, before = _Teller(output), log.level
    log.addHandler(teller)
    log.setLevel(logging.DEBUG if output.debug else logging.WARNING)
    try:
        yield
    finally:
        log.removeHandler(teller)
        log.setLevel(before)


class _Teller(logging.Handler):
    def __init__(self, output: Output) -> None:
        super().__init__()
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        self._output.note(record.getMessage())
