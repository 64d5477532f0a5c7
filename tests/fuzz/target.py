"""What a fuzz target is, what every one of them asks of an error, and how a fault is planted in one."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cudnn_redist.errors import RedistError

__all__ = ["Subject", "Target", "leaking", "told_well", "unchanged", "when_refused"]

Subject = Callable[..., Any]
"""The public function under test; its first argument is the input."""

_LONGEST_TOLD = 8000


def unchanged(data: bytes) -> bytes:
    """Leave an input as the mutator made it: its format has no checksum to make right again."""
    return data


@dataclass(frozen=True, kw_only=True)
class Target:
    """One reader of foreign bytes.

    ``check(data, subject)`` raises unless ``subject`` returns what holds every promise about ``data``, or refuses
    it with one of our errors. ``mended`` makes the checksums of a mutated input right again, so that what lies
    behind them is reached; ``words`` are what a mutation may put in. ``planted`` are variants of ``subject`` with one
    fault each, which ``check`` must tell.
    """

    name: str
    subject: Subject
    check: Callable[[bytes, Subject], None]
    seeds: Callable[[], list[bytes]]
    planted: Mapping[str, Subject]
    words: tuple[bytes, ...]
    mended: Callable[[bytes], bytes] = field(default=unchanged)
    longest: int = 4096


def told_well(error: RedistError) -> None:
    """Require of an error what its reader needs: one line without surprises, and facts that JSON can hold."""
    text = str(error)
    assert text.isprintable(), ascii(text)
    assert len(text) < _LONGEST_TOLD
    assert json.loads(json.dumps(error.facts()))["exit_code"] == type(error).exit_code


def leaking(subject: Subject, foreign: type[Exception]) -> Subject:
    """Return a variant that forgets to turn one kind of foreign exception into ours."""

    @functools.wraps(subject)
    def variant(*arguments: object) -> object:
        try:
            return subject(*arguments)
        except RedistError as error:
            cause = error.__cause__
            while cause is not None and not isinstance(cause, foreign):
                cause = cause.__cause__
            raise (cause or error) from None

    return variant


def when_refused(subject: Subject, cause: str, act: Callable[..., object]) -> Subject:
    """Return a variant that does what ``act`` does, and returns its result, where ``cause`` should be refused."""

    @functools.wraps(subject)
    def variant(*arguments: object) -> object:
        try:
            return subject(*arguments)
        except RedistError as error:
            if cause in error.cause:
                return act(*arguments)
            raise

    return variant
