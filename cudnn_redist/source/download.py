"""One archive into one partial file: resumed, retried, and published byte by byte as it grows.

The thread that runs a download writes; followers read what has landed (``follow.py``). A server that answers a
request for the rest with the whole archive makes the file start again: followers learn of it as ``Rewound``.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from ..errors import (
    ArchiveWithdrawn,
    RedistError,
    SizeMismatch,
    TransferError,
    TransientTransferError,
)
from .patience import Pace, Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..digest import Expected
    from .base import TransferOptions
    from .http import Body, HttpSource
    from .partial import Partial

__all__ = ["Download", "Rewound", "Stopped"]

_log = logging.getLogger("cudnn_redist")

# Less than this is no progress: a server that gives a few bytes and hangs up must not be asked for ever.
_PROGRESS = 64 * 1024
_RANGE_NOT_SATISFIABLE = 416


class Rewound(Exception):
    """The file started again from its first byte: what was read of it is void."""


class Stopped(Exception):
    """The other side gave up; its own error says why."""


class Download:
    """Fills ``partial`` from the first of ``urls`` that gives the archive.

    ``url`` is the one it is at. ``on_bytes`` is called with the number of bytes there so far. ``fresh`` asks caches
    to look again.
    """

    def __init__(
        self,
        partial: Partial,
        urls: Sequence[str],
        expected: Expected,
        *,
        source: HttpSource,
        options: TransferOptions,
        on_bytes: Callable[[int], None],
        fresh: bool = False,
    ) -> None:
        self.partial = partial
        self.url = urls[0] if urls else ""
        self._urls = urls
        self._expected = expected
        self._source = source
        self._options = options
        self._on_bytes = on_bytes
        self._fresh = fresh
        self._changed = threading.Condition()
        self._landed = partial.size
        self._generation = 0
        self._complete = False
        self._stop = threading.Event()
        self._body: Body | None = None

    def run(self) -> None:
        """Download until the archive has its promised size, or has ended where no size is promised.

        Raises ``ArchiveWithdrawn``, ``TransferError`` (the first URL's error when all fail), ``SizeMismatch``, or
        ``Stopped`` after ``stop``. However it ends, followers do not wait any longer.
        """
        try:
            if self._expected.size is None or self._landed != self._expected.size:
                self._from_any()
        except BaseException:
            self.stop()
            raise
        with self._changed:
            self._complete = True
            self._changed.notify_all()

    def stop(self) -> None:
        """End the run and every follower promptly, from any thread."""
        self._stop.set()
        body = self._body
        if body is not None:
            body.stop()
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

    @property
    def generation(self) -> int:
        """How often the file started again."""
        return self._generation

    def _from_any(self) -> None:
        first: RedistError | None = None
        for url in self._urls:
            self.url = url
            try:
                self._from(url)
            except (ArchiveWithdrawn, TransferError) as error:
                _log.info("%s", error)
                first = first or error
            else:
                return
        if first is not None:
            raise first

    def _from(self, url: str) -> None:
        patience = Patience(self._options, self._pause)
        while True:
            before = self._landed
            try:
                self._attempt(url)
            except TransientTransferError as error:
                _log.info("%s", error)
                patience.after(error, progressed=self._landed - before >= _PROGRESS)
            except TransferError as error:
                if error.status != _RANGE_NOT_SATISFIABLE or self._landed == 0:
                    raise
                # The server has no such rest, or gave another one: only the whole archive is left to ask for.
                self._rewind()
            else:
                return

    def _attempt(self, url: str) -> None:
        request = self._source.open_archive(
            url, offset=self._landed, validator=self.partial.validator, fresh=self._fresh
        )
        with request as body:
            self._body = body
            self._require_promised_size(body)
            if body.start != self._landed:
                self._rewind()
            if self._landed == 0:
                self.partial.validator = body.validator
            self._fill(body)
            self._require_whole(body)

    def _require_promised_size(self, body: Body) -> None:
        promised = self._expected.size
        if promised is not None and body.total not in (None, promised):
            raise SizeMismatch(
                f"the server offers {body.total} bytes ({body.description()}), the manifest promises {promised}",
                phase="download",
                where=body.url,
                expected=promised,
                actual=body.total,
            )

    def _fill(self, body: Body) -> None:
        pace = Pace(self._options, where=body.url)
        for data in self._until_stopped(body):
            self._require_no_surplus(len(data), body)
            self.partial.write_at(data, self._landed)
            with self._changed:
                self._landed += len(data)
                self._changed.notify_all()
            self._on_bytes(self._landed)
            pace.took(len(data), now=time.monotonic())

    def _until_stopped(self, body: Body) -> Iterator[bytes]:
        """Yield the body's pieces; an error that our own ``stop`` provoked is no error of the line."""
        try:
            for data in body:
                self.check_stopped()
                yield data
        except TransferError:
            if self._stop.is_set():
                raise Stopped from None
            raise

    def _require_no_surplus(self, coming: int, body: Body) -> None:
        promised = self._expected.size
        if promised is not None and self._landed + coming > promised:
            raise SizeMismatch(
                f"more bytes than the promised {promised} ({body.description()})",
                phase="download",
                where=body.url,
                expected=promised,
                actual=self._landed + coming,
            )

    def _require_whole(self, body: Body) -> None:
        """Judge by what arrived: a body that ends too early is not always an error of the library (C24)."""
        promised = self._expected.size if self._expected.size is not None else body.total
        if promised is not None and self._landed < promised:
            told = "empty body" if self._landed == 0 else "incomplete"
            raise TransientTransferError(f"{told}: got {self._landed} of {promised} bytes", where=body.url)

    def _rewind(self) -> None:
        with self._changed:
            self.partial.truncate()
            self._landed = 0
            self._generation += 1
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise Stopped
