"""The judge: are these the promised bytes? Size first, then sha256. Pure: it is given bytes and reads nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .errors import DigestMismatch, SizeMismatch

__all__ = ["Expected", "Judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a manifest promises of one archive; ``size`` in bytes, ``None`` where the manifest is silent."""

    sha256: str
    size: int | None


class Judge:
    """Counts and hashes bytes in the order they are used, then compares them with what was promised.

    ``where`` is the URL or path named in errors.
    """

    def __init__(self, expected: Expected, *, where: object) -> None:
        self.expected = expected
        self.received = 0
        self.where = where
        self._hash = hashlib.sha256()

    def update(self, data: bytes | memoryview) -> None:
        """Take the next bytes; ``SizeMismatch`` at the first surplus one."""
        self.received += len(data)
        size = self.expected.size
        if size is not None and self.received > size:
            raise SizeMismatch(
                f"more bytes than the promised {size}", where=self.where, expected=size, actual=self.received
            )
        self._hash.update(data)

    def verdict(self) -> None:
        """Raise ``SizeMismatch`` or ``DigestMismatch`` unless exactly the promised bytes were taken."""
        size, sha256 = self.expected.size, self._hash.hexdigest()
        if size is not None and self.received != size:
            raise SizeMismatch(
                f"{self.received} bytes, expected {size}",
                where=self.where,
                expected=size,
                actual=self.received,
            )
        if sha256 != self.expected.sha256:
            raise DigestMismatch(
                f"sha256 is {sha256}, expected {self.expected.sha256}",
                where=self.where,
                expected=self.expected.sha256,
                actual=sha256,
            )
