"""How often to try again, how long to wait in between, and how slow is too slow."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ..errors import TransientTransferError
from ..notes import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import TransferOptions

__all__ = ["Pace", "Patience"]

_LONGEST_PAUSE = 30.0
# A power of two is no float any more after some thousand, which takes a patient user a night.
_MOST_DOUBLINGS = 32
# A server that asks for more than this is better reported than waited for.
_LONGEST_WISH = 120.0


class Patience:
    """Counts failures in a row and waits between them; ``wait`` is given seconds."""

    def __init__(self, options: TransferOptions, wait: Callable[[float], object]) -> None:
        self._options = options
        self._wait = wait
        self._failures = 0

    def after(self, error: TransientTransferError, *, progressed: bool = False) -> None:
        """Wait before the next try, or raise ``error`` when there were enough. Progress starts the count anew."""
        self._failures = 1 if progressed else self._failures + 1
        if self._failures > self._options.retries or (error.retry_after or 0) > _LONGEST_WISH:
            raise error
        pause = max(self._pause(), error.retry_after or 0)
        log.warning(
            "%s; trying again in %.1f s (%d of %d)", error, pause, self._failures, self._options.retries
        )
        self._wait(pause)

    def _pause(self) -> float:
        """Double with each failure, and spread out: many machines fail together and must not return together."""
        doublings = min(self._failures - 1, _MOST_DOUBLINGS)
        longest = min(self._options.retry_delay * 2**doublings, _LONGEST_PAUSE)
        return random.uniform(longest / 2, longest)  # noqa: S311 - no secret depends on it


class Pace:
    """Notices a transfer that is slower than the minimum over a whole window."""

    def __init__(self, options: TransferOptions, *, where: str) -> None:
        self._options = options
        self._where = where
        self._since: float | None = None
        self._bytes = 0

    def took(self, size: int, *, now: float) -> None:
        """Note ``size`` bytes that arrived at ``now`` (seconds); ``TransientTransferError`` when too slow."""
        if self._since is None:
            self._since = now
            return
        self._bytes += size
        window = now - self._since
        if window < self._options.speed_window:
            return
        if self._bytes < self._options.min_speed * window:
            raise TransientTransferError(
                f"too slow: {self._bytes} bytes in {window:.0f} s, minimum {self._options.min_speed} bytes/s",
                where=self._where,
            )
        self._since, self._bytes = now, 0
