"""A few calls behind: the caller decodes the next piece while other threads write and hash the last ones."""

from __future__ import annotations

from collections import deque
from concurrent.futures import wait
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future
    from types import TracebackType

__all__ = ["Behind"]

_MOST_PENDING = 4


class Behind:
    """Calls ``use`` with each piece, in order, on the one thread of ``executor``.

    What ``use`` raises comes out at a later call or on leaving. Leaving waits, so that nothing is under way
    afterwards, whatever happened.
    """

    def __init__(self, executor: Executor, use: Callable[[bytes], None]) -> None:
        self._executor = executor
        self._use = use
        self._pending: deque[Future[None]] = deque()

    def __call__(self, piece: bytes) -> None:
        """Hand over a piece; wait if too many are pending."""
        if len(self._pending) == _MOST_PENDING:
            self._pending.popleft().result()
        self._pending.append(self._executor.submit(self._use, piece))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wait(self._pending)
        if kind is None:
            for call in self._pending:
                call.result()
