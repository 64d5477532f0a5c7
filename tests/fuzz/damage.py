"""A hypothesis strategy for what goes wrong with bytes on their way."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

__all__ = ["ANYWHERE", "NEAR_THE_ENDS", "Damage"]

KINDS = ("flip", "replace", "zero", "delete", "insert", "duplicate", "cut")


@dataclass(frozen=True)
class Damage:
    kind: str
    at: int
    length: int
    value: int

    def to(self, data: bytes) -> bytes:
        """Return damaged ``data``, of which there must be some."""
        at = self.at % len(data)
        before, hit, after = data[:at], data[at : at + self.length], data[at + self.length :]
        made = {
            "flip": bytes(byte ^ 1 << self.value % 8 for byte in hit[:1]) + hit[1:],
            "replace": bytes([self.value]) + hit[1:],
            "zero": bytes(len(hit)),
            "delete": b"",
            "insert": bytes([self.value]) * self.length + hit,
            "duplicate": hit + hit,
        }
        return before if self.kind == "cut" else before + made[self.kind] + after


ANYWHERE = st.builds(
    Damage,
    kind=st.sampled_from(KINDS),
    at=st.integers(0, 1 << 16),
    length=st.integers(1, 12),
    value=st.integers(0, 255),
)
# Where headers, the index and the footer are.
NEAR_THE_ENDS = st.builds(
    Damage,
    kind=st.sampled_from(KINDS[:5]),
    at=st.integers(-40, 40),
    length=st.sampled_from((1, 2, 4)),
    value=st.integers(0, 255),
)
