"""Ctrl-C and a runner's SIGTERM: the run ends in a moment, and a second signal ends it at once (C78)."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["Terminated", "ending_promptly"]

_HANDLED = (signal.SIGINT, signal.SIGTERM)
_NUDGE_SECONDS = 0.05
_DEAF_SECONDS = 1.0


class Terminated(BaseException):
    """SIGTERM arrived."""


@contextmanager
def ending_promptly() -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into an exception in the main thread, so that stages are cleaned up.

    A second one ends the process on the spot, also after the block: what is left behind is swept by a later run.
    A signal that is ignored (``nohup``, a shell's background job) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may handle signals: whoever called us elsewhere does it.
        yield
        return
    heard = threading.Event()

    def first(number: int, _frame: FrameType | None) -> NoReturn:
        heard.set()
        for each in before:
            signal.signal(each, _end)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    before = {each: signal.getsignal(each) for each in _HANDLED if signal.getsignal(each) != signal.SIG_IGN}
    for each in before:
        signal.signal(each, first)
    try:
        with _ended_though_deaf(heard):
            yield
    finally:
        if not heard.is_set():
            for each, handler in before.items():
                signal.signal(each, handler)


@contextmanager
def _ended_though_deaf(heard: threading.Event) -> Iterator[None]:
    """End the process though the main thread hears no signal: a name lookup by the C library may take a minute.

    The interpreter writes the number of each signal to a pipe as it arrives, and a thread reads it there. The kernel
    may have given the signal to another thread (it does when a stopped process gets it and goes on), while the main
    thread sleeps: a signal that means nothing wakes it. (Windows takes no pipe for this, and ends a console program
    by itself.)
    """
    if os.name == "nt":
        yield
        return
    ours, theirs = os.pipe()
    main_thread = threading.get_ident()

    def listen() -> None:
        while numbers := os.read(ours, 1):
            if numbers[0] in _HANDLED and not heard.wait(_NUDGE_SECONDS):
                signal.pthread_kill(main_thread, signal.SIGURG)
                if not heard.wait(_DEAF_SECONDS):
                    _end(numbers[0], None)
        os.close(ours)

    os.set_blocking(theirs, False)
    before = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    nudged = signal.signal(signal.SIGURG, lambda *_: None)
    threading.Thread(target=listen, name="cudnn-redist-signals", daemon=True).start()
    try:
        yield
    finally:
        signal.signal(signal.SIGURG, nudged)
        signal.set_wakeup_fd(before)
        os.close(theirs)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    if sys.stderr is not None:
        told = "interrupted" if number == signal.SIGINT else "terminated"
        with suppress(OSError):
            os.write(2, f"cudnn-redist: {told}\n".encode())
    os._exit(128 + number)
