"""What this room reads from: anything with a blocking ``read``."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Reader"]


class Reader(Protocol):
    """A forward-only stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at least one and at most ``size`` bytes, waiting for them; ``b""`` only at the end.

        Whatever this raises (a failed download, a cancelled run) passes through the whole room untouched.
        """
        ...
