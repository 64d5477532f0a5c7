"""The log of a server: one line per request, growing while the answer goes out."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .exchange import Asked


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What was asked, and what has gone out so far.

    ``path`` is decoded and without a query, ``target`` as it was sent; header names are lower case.
    ``connection`` numbers the TCP connections. ``status`` is None until there is one, and 0 if the answer was
    no HTTP; ``sent`` counts body bytes.
    """

    method: str
    path: str
    target: str
    headers: Mapping[str, str]
    range: str | None
    connection: int
    status: int | None = None
    sent: int = 0


class Log:
    """Lines in order of arrival; safe to read while the server writes."""

    def __init__(self) -> None:
        self._lines: list[Request] = []
        self._news = threading.Condition()

    def begin(self, asked: Asked, connection: int) -> int:
        """Add a line and return its number."""
        request = Request(
            method=asked.method,
            path=asked.path,
            target=asked.target,
            headers=asked.headers,
            range=asked.headers.get("range"),
            connection=connection,
        )
        with self._news:
            self._lines.append(request)
            return len(self._lines) - 1

    def answered(self, line: int, status: int) -> None:
        with self._news:
            self._lines[line] = replace(self._lines[line], status=status)
            self._news.notify_all()

    def sent(self, line: int, size: int) -> None:
        with self._news:
            self._lines[line] = replace(self._lines[line], sent=self._lines[line].sent + size)
            self._news.notify_all()

    def requests(self, path_suffix: str = "") -> list[Request]:
        with self._news:
            return [request for request in self._lines if request.path.endswith(path_suffix)]

    def wait_for(self, path_suffix: str, *, count: int, sent: int, timeout: float) -> Request:
        def arrived() -> list[Request]:
            answered = [
                line for line in self._lines if line.path.endswith(path_suffix) and line.status is not None
            ]
            return [line for line in answered if line.sent >= sent]

        with self._news:
            if not self._news.wait_for(lambda: len(arrived()) >= count, timeout):
                raise TimeoutError(f"{path_suffix!r}: {len(arrived())} of {count} requests after {timeout} s")
            return arrived()[count - 1]
