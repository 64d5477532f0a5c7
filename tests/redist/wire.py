"""HTTP/1.1 on a socket: read one request, send one reply exactly as it says."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import time
from email.utils import formatdate
from http.client import responses
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .exchange import Asked, Reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

_BEGINNING = re.compile(rb"[A-Z]+( |$)")
_HEAD_LIMIT = 64 * 1024
_PIECE = 128 * 1024
_PIECES_PER_SECOND = 20
_HAND_OVER_SECONDS = 10


class HangUp(Exception):
    """The connection is over: the client is gone, or the reply ended with it."""


class Wire:
    """One accepted connection; ``closing`` is set when the server wants its threads back."""

    def __init__(self, connection: socket.socket, closing: Event) -> None:
        self._socket = connection
        self._closing = closing
        self._read = b""

    def receive(self) -> Asked:
        """Read the next request's head; raise HangUp when there is none."""
        while b"\r\n\r\n" not in self._read:
            received = self._socket.recv(_HEAD_LIMIT)
            self._read += received
            # What does not begin like a request is TLS spoken to a plain server, or worse.
            if not received or len(self._read) > _HEAD_LIMIT or not _BEGINNING.match(self._read):
                raise HangUp
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _version = first.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        path = target if method == "CONNECT" else unquote(urlsplit(target).path)
        return Asked(method=method, target=target, path=path, headers=headers)

    def send(self, asked: Asked, reply: Reply, count: Callable[[int], None]) -> None:
        """Send the reply; ``count`` is told of body bytes just before they go out, and of those that did not.

        Raise HangUp when the connection cannot be used for another request.
        """
        self._pause(reply.delay)
        if reply.raw is not None:
            self._socket.sendall(reply.raw)
            raise HangUp
        keep = _keeps(asked, reply)
        self._socket.sendall(_head(reply, keep=keep))
        if asked.method != "HEAD" and reply.status not in (204, 304):
            self._send_body(reply, count)
        self._end(reply)
        if not keep:
            raise HangUp

    def _send_body(self, reply: Reply, count: Callable[[int], None]) -> None:
        size = _PIECE if reply.rate is None else max(1, min(_PIECE, int(reply.rate / _PIECES_PER_SECOND)))
        started, sent = time.monotonic(), 0
        for piece in reply.body.first(reply.stop_after).pieces(size):
            # Counted first: a client that has read the last byte must find it in the log.
            count(len(piece))
            try:
                self._socket.sendall(_chunk(piece) if reply.framing == "chunked" else piece)
            except ConnectionError:
                count(-len(piece))
                raise
            sent += len(piece)
            if reply.rate is not None:
                self._pause(started + sent / reply.rate - time.monotonic())
        if reply.framing == "chunked" and reply.ending == "done":
            self._socket.sendall(b"0\r\n\r\n")

    def _pause(self, seconds: float) -> None:
        if seconds > 0 and self._closing.wait(seconds):
            raise HangUp

    def _end(self, reply: Reply) -> None:
        if reply.ending == "rst":
            self._hand_over()
            # SO_LINGER with a time of zero makes close() send RST instead of FIN.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif reply.ending == "stall":
            with contextlib.suppress(ConnectionError):
                while self._socket.recv(1024):
                    pass

    def _hand_over(self) -> None:
        """Wait until the client's side has all that was sent (Linux tells): a reset throws away the rest."""
        with contextlib.suppress(ImportError, OSError):
            import fcntl
            import termios

            deadline = time.monotonic() + _HAND_OVER_SECONDS
            waiting = b"more"
            while waiting != bytes(4) and time.monotonic() < deadline:
                time.sleep(0.001)
                waiting = fcntl.ioctl(self._socket, termios.TIOCOUTQ, bytes(4))


def _keeps(asked: Asked, reply: Reply) -> bool:
    """Tell whether another request may follow; the body of a request is never read, so not after a POST."""
    delimited = reply.framing != "close" and reply.ending == "done"
    return delimited and asked.method in ("GET", "HEAD") and asked.headers.get("connection") != "close"


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _head(reply: Reply, *, keep: bool) -> bytes:
    headers = {"Server": "redist-test", "Date": formatdate(usegmt=True), **reply.headers}
    if reply.framing == "chunked":
        headers["Transfer-Encoding"] = "chunked"
    elif reply.framing == "length" and reply.status not in (204, 304):
        headers["Content-Length"] = str(reply.body.size if reply.length is None else reply.length)
    if not keep:
        headers["Connection"] = "close"
    lines = [f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
