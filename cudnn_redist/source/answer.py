"""What came back for a request, and where the bytes begin in what came back for a range. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from . import headers as told
from .base import RangeRefused
from .encodings import undone
from .refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Answer", "Body", "body_of", "require_success"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Status and headers of an answer, and its ``raw`` bytes as they arrive.

    ``url`` is who answered, fit for a message; ``via`` what a message says of the proxy between.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    url: str
    via: str
    raw: Callable[[], Iterator[bytes]]

    def decoded(self, *, phase: str) -> Iterator[bytes]:
        """Yield the bytes with their encoding undone."""
        return undone(self.raw(), self.headers.get("content-encoding", ""), phase=phase, where=self.url)


class Body:
    """The answer to a request for an archive's bytes.

    ``start`` is the offset of its first byte, ``total`` the size of the whole archive as the server tells it
    (``None`` when it does not), ``validator`` what a later request may give as ``If-Range``.
    """

    def __init__(self, answer: Answer, *, start: int, total: int | None) -> None:
        self.start = start
        self.total = total
        self.url = answer.url
        self.validator = told.validator(answer.headers)
        self.description = told.description(answer.headers)
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        """Yield the raw bytes as they arrive: a ``Content-Encoding`` is never undone (C30)."""
        return self._answer.raw()


def require_success(answer: Answer, *, phase: str) -> None:
    """Raise what an answer that is no success means."""
    if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return
    reason = answer.reason + answer.via
    if answer.status == HTTPStatus.UNAUTHORIZED:
        # Some proxies say that, and not 407, of a login that is wrong (tinyproxy).
        who = "the server, or the proxy," if answer.via else "the server"
        reason += f": {who} wants a login (in the source's URL or in a netrc file)"
    raise refusal(answer.status, reason, answer.headers, phase=phase, where=answer.url)


def body_of(answer: Answer, *, offset: int, validator: str | None) -> Body:
    """Read where the bytes begin: at ``offset``, or at 0 where everything is sent.

    Raises ``RangeRefused`` for a 416 or a 206 with other bytes than the asked ones, else as ``require_success``.
    """
    sent = told.content_range(answer.headers)
    if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and offset:
        raise RangeRefused(f"the server has no byte at {offset}", where=answer.url, total=sent.total)
    require_success(answer, phase="download")
    if answer.status != HTTPStatus.PARTIAL_CONTENT:
        return Body(answer, start=0, total=told.content_length(answer.headers))
    changed = validator is not None and told.is_changed(answer.headers, validator)
    if sent.start != offset or changed:
        cause = f"wrong answer to a request for the bytes from {offset} on"
        raise RangeRefused(cause, where=answer.url, total=None)
    return Body(answer, start=offset, total=sent.total)
