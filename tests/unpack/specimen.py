"""One archive of the corpus: how it is built, and what must become of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpack.building import Entry

Verdict = Literal["good", "unsafe", "damaged"]


class Unsafe(NamedTuple):
    """Members that must be refused after a good one, and what the refusal says of the one that is the reason."""

    entries: tuple[Entry, ...]
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Specimen:
    """An archive, built when it is asked for.

    ``kind`` is the suffix that it is served under. What is ``good`` unpacks to exactly ``paths``, below its top
    folder; what is ``unsafe`` or ``damaged`` is refused, exit code 6, in words that ``reason`` (a regular
    expression) finds. ``most_bytes`` and ``most_members`` are limits that it is unpacked under.
    """

    name: str
    kind: str
    build: Callable[[], bytes]
    verdict: Verdict
    reason: str = ""
    paths: tuple[str, ...] = ()
    most_bytes: int | None = None
    most_members: int | None = None
