"""Taking turns: of several processes that want the same archive, one gets it and the others use what it made.

This only saves work. On file systems whose locks do nothing, or are refused, everybody simply goes ahead: each
works on a partial and a stage of its own, and the rename decides.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from typing import TYPE_CHECKING

from ..notes import log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["my_turn"]

_LOOK_AGAIN = 0.1
_TELL_AGAIN = 60.0
_HOLDER_SIZE = 200
_TRIES = 10


@contextlib.contextmanager
def my_turn(path: Path, *, longest: float) -> Iterator[None]:
    """Hold the lock file ``path`` for the block, waiting at most ``longest`` seconds for it; it is gone afterwards.

    The lock is the kernel's: a process that dies gives it back, whatever file it leaves. Waiting too long is no
    error.
    """
    handle = _taken(path, longest=longest)
    try:
        yield
    finally:
        if handle is not None:
            # Removed while it is held: whoever waits for it finds out and makes a new one.
            with contextlib.suppress(OSError):
                path.unlink()
                path.parent.rmdir()
            os.close(handle)


def _taken(path: Path, *, longest: float) -> int | None:
    deadline = time.monotonic() + longest
    tell = time.monotonic()
    while (handle := _opened(path)) is not None:
        if _locked(handle):
            if _is_still(handle, path):
                _sign(handle)
                return handle
        elif time.monotonic() >= tell:
            log.warning("waiting for %s, which is getting the same archive", _holder(handle))
            tell = time.monotonic() + _TELL_AGAIN
        os.close(handle)
        if time.monotonic() > deadline:
            return None
        time.sleep(_LOOK_AGAIN)
    return None


def _opened(path: Path) -> int | None:
    for _ in range(_TRIES):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            # The last of other processes removed the directory just now.
            continue
        except OSError as error:
            log.debug("no lock file %s: %s", path, error)
            break
    return None


def _is_still(handle: int, path: Path) -> bool:
    """Whether the file that was locked is the one that others see: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _sign(handle: int) -> None:
    with contextlib.suppress(OSError):
        os.truncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())


def _holder(handle: int) -> str:
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        told = os.read(handle, _HOLDER_SIZE).decode("utf-8", "replace")
    except OSError:
        told = ""
    return told if told and told.isprintable() else "another process"


def _locked(handle: int) -> bool:
    """Try once; a file system without locks counts as having given one."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        log.debug("locks are refused here: %s", error)
    return True
