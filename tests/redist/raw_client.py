"""The least client that can tell a clean end from a reset and from silence; it believes no header."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What came over the wire.

    ``body`` is everything behind the head, chunk sizes included; ``end`` is ``fin``, ``rst`` or ``silence``;
    ``waited`` is how long the first byte took, ``seconds`` the whole.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    end: str
    waited: float
    seconds: float


def ask(
    url: str,
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    target: str | None = None,
    patience: float = 60,
) -> Seen:
    """Send one request and read until the connection ends, or nothing comes for ``patience`` seconds."""
    parts = urlsplit(url)
    lines = [f"{method} {target or parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in (headers or {"Connection": "close"}).items()]
    started = time.monotonic()
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        first = connection.recv(1)
        waited = time.monotonic() - started
        rest, end = _read(connection, patience)
    head, _, body = (first + rest).partition(b"\r\n\r\n")
    first_line, *fields = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in fields)
    return Seen(
        status=int(first_line.split(" ")[1]) if head else 0,
        headers={name.lower(): value for name, _, value in pairs},
        body=body,
        end=end,
        waited=waited,
        seconds=time.monotonic() - started,
    )


def _read(connection: socket.socket, patience: float) -> tuple[bytes, str]:
    received = bytearray()
    connection.settimeout(patience)
    while True:
        try:
            piece = connection.recv(65536)
        except TimeoutError:
            return bytes(received), "silence"
        except ConnectionResetError:
            return bytes(received), "rst"
        if not piece:
            return bytes(received), "fin"
        received += piece
