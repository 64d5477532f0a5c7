"""One archive into one partial file: resumed, retried, and published byte by byte as it grows.

The thread that runs a download writes; followers read what has landed (``follow.py``). A server that answers a
request for the rest with the whole archive makes the file start again: followers learn of it as ``Rewound``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..errors import IntegrityError, SizeMismatch, TransferError, TransientTransferError
from ..locations import redacted
from ..notes import log
from .base import RangeRefused
from .pages import HEAD_SIZE, is_page
from .patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..digest import Expected
    from .answer import Body
    from .base import TransferOptions
    from .http import HttpSource
    from .partial import Partial

__all__ = ["Download", "Rewound", "Stopped"]

# Less than this is no progress: a server that gives a few bytes and hangs up must not be asked for ever.
_PROGRESS = 64 * 1024


class Rewound(Exception):
    """The file started again from its first byte: what was read of it is void."""


class Stopped(Exception):
    """The other side gave up; its own error says why."""


class Download:
    """Fills ``partial`` from ``url``.

    ``on_bytes`` is called with the number of bytes there so far. ``fresh`` asks caches to look again.
    """

    def __init__(
        self,
        partial: Partial,
        url: str,
        expected: Expected,
        *,
        source: HttpSource,
        options: TransferOptions,
        on_bytes: Callable[[int], None],
        fresh: bool = False,
    ) -> None:
        self.partial = partial
        self.url = url
        self._expected = expected
        self._source = source
        self._options = options
        self._on_bytes = on_bytes
        self._fresh = fresh
        self._line = source.line()
        self._changed = threading.Condition()
        if expected.size is not None and partial.size > expected.size:
            partial.truncate()
        self._landed = self._furthest = partial.size
        self._generation = 0
        self._complete = False
        self._stop = threading.Event()
        self._answered_by = redacted(url)
        self._described = "nothing was asked: the bytes were left by an earlier run"

    def run(self) -> None:
        """Download until the archive has its promised size, or has ended where no size is promised.

        Raises ``ArchiveWithdrawn``, ``TransferError``, ``SizeMismatch``, or ``Stopped`` after ``stop``. However it
        ends, followers do not wait any longer.
        """
        try:
            if self._landed != self._expected.size:
                self._fetch()
        except BaseException as error:
            stopped = self._stop.is_set()
            self.stop()
            if stopped and isinstance(error, Exception):
                # Whatever a line under our feet makes of being cut is not why the run ended.
                raise Stopped from error
            if isinstance(error, TransientTransferError):
                error.landed = self._landed
            raise
        with self._changed:
            self._complete = True
            self._changed.notify_all()

    def stop(self) -> None:
        """End the run and every follower promptly, from any thread."""
        self._stop.set()
        self._line.cut()
        with self._changed:
            self._changed.notify_all()

    def landed_after(self, position: int, generation: int) -> int:
        """Wait until there are bytes beyond ``position`` and return how far they go; ``position`` itself at the end.

        Raises ``Rewound`` when the file started again since ``generation``, ``Stopped`` after ``stop``.
        """
        with self._changed:
            while True:
                self.check_stopped()
                if generation != self._generation:
                    raise Rewound
                if self._landed > position or self._complete:
                    return self._landed
                self._changed.wait()

    def check_stopped(self) -> None:
        """Raise ``Stopped`` after ``stop``: for work on what has landed already."""
        if self._stop.is_set():
            raise Stopped

    def blamed(self, error: IntegrityError) -> IntegrityError:
        """Return ``error`` with the URL that really answered and what it told of itself: stale edges do (C40)."""
        return type(error)(
            f"{error.cause} ({self._described})",
            phase=error.phase,
            where=self._answered_by,
            expected=error.expected,
            actual=error.actual,
        )

    @property
    def generation(self) -> int:
        """How often the file started again."""
        return self._generation

    def _fetch(self) -> None:
        patience = Patience(self._options, self._pause)
        while True:
            try:
                self._attempt()
            except RangeRefused as refused:
                if self._landed == 0:
                    raise TransferError(str(refused), where=refused.where) from refused
                if self._expected.size is None and refused.total == self._landed:
                    return
                log.info("%s: %s", refused.where, refused)
                self._rewind()
            except TransientTransferError as error:
                if self._landed == self._expected.size:
                    # All is there, and only the end of the answer is missing.
                    return
                patience.after(error, progressed=self._progressed())
            else:
                return

    def _attempt(self) -> None:
        request = self._source.open_archive(
            self.url,
            line=self._line,
            offset=self._landed,
            validator=self.partial.validator_at(self.url),
            fresh=self._fresh,
        )
        with request as body:
            self._answered_by, self._described = body.url, body.description
            self._require_promised_size(body)
            if body.start != self._landed:
                self._rewind()
            if self._landed == 0:
                self.partial.note(self.url, body.validator)
            try:
                self._fill(body)
            except TransientTransferError as error:
                raise self._incomplete(body, error.cause) from error
            self._require_whole(body)

    def _require_promised_size(self, body: Body) -> None:
        promised = self._expected.size
        if promised is not None and body.total not in (None, promised):
            raise self._other_size("the server offers", body.total, body)

    def _other_size(self, told: str, size: int | None, body: Body) -> SizeMismatch:
        promised = self._expected.size
        return SizeMismatch(
            f"{told} {size} bytes, the manifest promises {promised} ({body.description})",
            phase="download",
            where=body.url,
            expected=promised,
            actual=size,
        )

    def _fill(self, body: Body) -> None:
        for data in body:
            self.check_stopped()
            self._require_no_surplus(len(data), body)
            self.partial.write_at(data, self._landed)
            with self._changed:
                self._landed += len(data)
                self._changed.notify_all()
            self._on_bytes(self._landed)

    def _require_no_surplus(self, coming: int, body: Body) -> None:
        promised = self._expected.size
        if promised is not None and self._landed + coming > promised:
            raise SizeMismatch(
                f"more bytes than the promised {promised} ({body.description})",
                phase="download",
                where=body.url,
                expected=promised,
                actual=self._landed + coming,
            )

    def _require_whole(self, body: Body) -> None:
        """Judge by what arrived: a body that ends too early is not always an error of the library (C24)."""
        promised = self._expected.size if self._expected.size is not None else body.total
        if promised is not None and self._landed < promised:
            raise self._incomplete(body, "the answer ended")

    def _incomplete(self, body: Body, why: str) -> TransientTransferError | SizeMismatch:
        """Return the error for an answer that ended early: a page that did not say its size has it only now (C33)."""
        promised = self._expected.size if self._expected.size is not None else body.total
        if body.total is None and promised is not None and is_page(self.partial.read_at(HEAD_SIZE, 0)):
            return self._other_size("the answer has", self._landed, body)
        told = "empty body" if self._landed == 0 else "incomplete"
        of_all = "" if promised is None else f" of {promised}"
        return TransientTransferError(f"{told}: got {self._landed}{of_all} bytes ({why})", where=body.url)

    def _progressed(self) -> bool:
        """Whether the furthest byte moved on: bytes that come again and again are no progress."""
        progressed = self._landed - self._furthest >= _PROGRESS
        if progressed:
            self._furthest = self._landed
        return progressed

    def _rewind(self) -> None:
        with self._changed:
            self.partial.truncate()
            self._landed = 0
            self._generation += 1
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise Stopped
