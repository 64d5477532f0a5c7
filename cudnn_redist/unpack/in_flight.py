"""Work that is done in parallel but handed out in order, within a budget of bytes. Knows nothing of formats.

A feeder opens a lane for each piece of work and pushes parts into it; a worker makes pieces of the parts of a
lane; the caller takes the pieces, the oldest lane's first. All wait on one condition; nobody polls.

Bytes count from the moment they are pushed or put until they are used. When the budget is spent, feeder and
workers wait, but the oldest lane may always hold one part and one piece. So the caller, who makes room only
by taking, always gets something to take, however large a lane is. Lanes are to be started in the order in
which they were opened, so that the oldest always has a worker.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["InFlight", "InFlightClosedError", "Lane"]

# What the objects around the bytes cost; uncounted, a flood of tiny ones would pass the budget many times.
_LANE_WEIGHT: Final = 16 << 10
_PIECE_WEIGHT: Final = 512


class InFlightClosedError(ValueError):
    """Closed before or while somebody waited here."""


class Lane:
    """One piece of work: parts on their way in, pieces on their way out, and the future of its worker."""

    __slots__ = ("complete", "fault", "outcome", "parts", "pieces")

    def __init__(self) -> None:
        self.parts: deque[bytes | memoryview] = deque()
        self.pieces: deque[bytes] = deque()
        self.complete = False
        self.fault: Exception | None = None
        self.outcome: Future[None] = Future()


def _weight(data: bytes | memoryview) -> int:
    return len(data) + _PIECE_WEIGHT


class InFlight:
    """The lanes, oldest first, and the count of what they hold; ``budget`` is in bytes.

    Once this is closed, whoever waits in a method, or calls one that can wait, gets :class:`InFlightClosedError`.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._changed = threading.Condition()
        self._lanes: deque[Lane] = deque()
        self._held = 0
        self._held_parts = 0
        self._feeding: Future[None] | None = None
        self._closed = False

    def fed_by(self, feeding: Future[None]) -> None:
        """Name the feeder's future: when it is done, no lane follows; the caller gets what it raised."""
        with self._changed:
            self._feeding = feeding
        feeding.add_done_callback(self._wake)

    def open(self, start: Callable[[Lane], Future[None]]) -> Lane:
        """For the feeder: add a lane when there is room; ``start`` sends it to a worker and must not wait."""
        with self._changed:
            self._wait(lambda: not self._lanes or self._has_room(_LANE_WEIGHT))
            lane = Lane()
            self._lanes.append(lane)
            self._held += _LANE_WEIGHT
            lane.outcome = start(lane)
            lane.outcome.add_done_callback(self._wake)
            return lane

    def push(self, lane: Lane, part: bytes | memoryview) -> None:
        """For the feeder: hand a part to the worker when there is room.

        Parts get a quarter of the budget at most: what a fast feeder takes ahead of the workers makes nothing
        faster, and leaves no room for what is made of it.
        """
        weight = _weight(part)
        with self._changed:
            self._wait(
                lambda: (
                    (self._has_room(weight) and self._held_parts + weight <= self._budget // 4)
                    or (self._is_oldest(lane) and not lane.parts)
                )
            )
            lane.parts.append(part)
            self._hold(weight, parts=weight)

    def complete(self, lane: Lane) -> None:
        """For the feeder: no part of this lane follows."""
        with self._changed:
            lane.complete = True
            self._changed.notify_all()

    def fail(self, fault: Exception) -> None:
        """For the feeder: end with a fault that the caller gets in its place, behind all that came before."""
        with self._changed:
            if self._lanes and not self._lanes[-1].complete:
                self._lanes[-1].fault = fault
                self._lanes[-1].complete = True
            else:
                lane = Lane()
                lane.outcome.set_exception(fault)
                self._lanes.append(lane)
            self._changed.notify_all()

    @contextmanager
    def memory(self, lane: Lane, size: int) -> Iterator[None]:
        """For a worker: wait for room for ``size`` bytes of its own, which count until the ``with`` ends."""
        with self._changed:
            self._wait(lambda: self._is_oldest(lane) or self._has_room(size))
            self._hold(size)
        try:
            yield
        finally:
            with self._changed:
                self._hold(-size)

    def parts(self, lane: Lane) -> Iterator[bytes | memoryview]:
        """For a worker: return the parts as they come; to ask for the next is to be done with the last.

        After the last part, raises the fault that the feeder ended with, if it ended inside this lane.
        """
        while True:
            with self._changed:
                self._wait(lambda: bool(lane.parts) or lane.complete)
                if not lane.parts:
                    break
                part = lane.parts.popleft()
                self._changed.notify_all()
            yield part
            with self._changed:
                self._hold(-_weight(part), parts=-_weight(part))
        if lane.fault is not None:
            raise lane.fault

    def put(self, lane: Lane, piece: bytes) -> None:
        """For a worker: hand a piece to the caller, then wait until there is room for another one."""
        with self._changed:
            lane.pieces.append(piece)
            self._hold(_weight(piece))
            self._wait(lambda: self._has_room(0) or (self._is_oldest(lane) and not lane.pieces))

    def take(self) -> bytes:
        """For the caller: return the next piece in order; ``b""`` at the end.

        Raises what the feeder raised as soon as it did, and what a worker raised behind the pieces it made.
        """
        with self._changed:
            while True:
                self._wait(self._can_take)
                if self._feeding is not None and self._feeding.done():
                    self._feeding.result()
                if not self._lanes:
                    return b""
                oldest = self._lanes[0]
                if oldest.pieces:
                    piece = oldest.pieces.popleft()
                    self._hold(-_weight(piece))
                    return piece
                oldest.outcome.result()
                self._lanes.popleft()
                self._hold(-_LANE_WEIGHT)

    def require_open(self) -> None:
        """Raise :class:`InFlightClosedError` if this is closed."""
        if self._closed:
            raise InFlightClosedError("this reader is closed")

    def close(self) -> None:
        """Send everybody away and drop what is held."""
        with self._changed:
            self._closed = True
            self._lanes.clear()
            self._changed.notify_all()

    def _can_take(self) -> bool:
        feeding = self._feeding
        if feeding is not None and feeding.done() and (not self._lanes or feeding.exception() is not None):
            return True
        return bool(self._lanes) and (bool(self._lanes[0].pieces) or self._lanes[0].outcome.done())

    def _is_oldest(self, lane: Lane) -> bool:
        return self._lanes[0] is lane

    def _has_room(self, size: int) -> bool:
        return self._held + size <= self._budget

    def _hold(self, size: int, *, parts: int = 0) -> None:
        self._held += size
        self._held_parts += parts
        self._changed.notify_all()

    def _wait(self, ready: Callable[[], bool]) -> None:
        self._changed.wait_for(lambda: self._closed or ready())
        self.require_open()

    def _wake(self, _: Future[None]) -> None:
        with self._changed:
            self._changed.notify_all()
