"""Ways to misbehave, one small value each, for ``RedistServer.fail`` and ``RedistServer.always``."""

from __future__ import annotations

from .answers import Headers, Page, Redirect, Status
from .base import Before, Fault, Normal, Together
from .content import Changed, Extra, Flipped, Truncated
from .delivery import Chunked, Cut, Delay, Encoded, NoLength, Raw, Reset, Stall, Trickle, WrongLength
from .ranges import IgnoreRange, MultipartRange, NoContentRange, RefuseRange, WrongRange

__all__ = [
    "Before",
    "Changed",
    "Chunked",
    "Cut",
    "Delay",
    "Encoded",
    "Extra",
    "Fault",
    "Flipped",
    "Headers",
    "IgnoreRange",
    "MultipartRange",
    "NoContentRange",
    "NoLength",
    "Normal",
    "Page",
    "Raw",
    "Redirect",
    "RefuseRange",
    "Reset",
    "Stall",
    "Status",
    "Together",
    "Trickle",
    "Truncated",
    "WrongLength",
    "WrongRange",
]
