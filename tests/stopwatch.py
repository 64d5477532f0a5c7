"""A stopwatch that stands still while the machine has no time for anybody.

"Ends within two seconds" is a promise of the program. On a busy machine, or a guest of a busy host, every process is
kept waiting now and then, and a test that blames the program for that fails by chance.
"""

from __future__ import annotations

import threading
import time
from typing import Self

_NAP = 0.005


class Stopwatch:
    """Measures a ``with`` block: ``seconds`` of it, without those that a thread beside it overslept its short naps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._overslept = 0.0
        self._over = threading.Event()
        self._napping = threading.Thread(target=self._nap, daemon=True)

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        self._napping.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended = time.monotonic()
        self._over.set()
        self._napping.join()
        self.seconds = self._ended - self._begun - self._overslept

    def _nap(self) -> None:
        before = self._begun
        over = False
        while not over:
            over = self._over.wait(_NAP)
            # The block may have ended as soon as the machine had time again, before this thread woke up.
            now = self._ended if over else time.monotonic()
            late = now - before - _NAP
            # Less than another nap is how timers are.
            self._overslept += late if late > _NAP else 0.0
            before = now
