"""A server program of Debian's as a child on a free loopback port; no system service is touched."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_READY = b"GET /ready HTTP/1.0\r\n\r\n"
_START_SECONDS = 60.0
_STOP_SECONDS = 60.0
_TRIES = 3


def program(name: str, package: str) -> str:
    """Return the path of a server program, which lies where an ordinary user's PATH may not look."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if found is None:
        raise RuntimeError(f"{name} is not installed; on Debian: apt-get install {package}")
    return found


@contextmanager
def running(command: Callable[[int], Sequence[str | Path]], log: Path) -> Iterator[int]:
    """Run ``command``, which is given a port to listen on, and yield the port once somebody answers there.

    Another process may take the port before the program does, so that another one is tried.
    """
    for _ in range(_TRIES):
        port = _free_port()
        with log.open("ab") as said:
            child = subprocess.Popen(command(port), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            if _answers(port, child):
                yield port
                return
        finally:
            stop(child)
    raise RuntimeError(f"{child.args!r} did not start: {log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _answers(port: int, child: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        # A program may listen before it has understood its configuration: any answer at all is the sign of life.
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as line:
            line.sendall(_READY)
            if line.recv(1):
                return True
        time.sleep(0.01)
    return False


def stop(child: subprocess.Popen[bytes]) -> None:
    """End a program, at once where it does not end when it is asked to."""
    child.terminate()
    try:
        child.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
