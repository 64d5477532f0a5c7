"""The right answer, badly delivered: cut, reset, silent, slow, or framed in another way.

Offsets and sizes are body bytes, times seconds.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace

from redist.exchange import Body, Reply

from .base import Fault


@dataclass(frozen=True)
class Cut(Fault):
    """End the connection (FIN) after so many body bytes, whatever the headers promised."""

    after: int

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, stop_after=self.after, ending="fin")


@dataclass(frozen=True)
class Reset(Fault):
    """Reset the connection (RST) after so many body bytes."""

    after: int

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, stop_after=self.after, ending="rst")


@dataclass(frozen=True)
class Stall(Fault):
    """Fall silent after so many body bytes, until the client goes or the server is closed."""

    after: int

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, stop_after=self.after, ending="stall")


@dataclass(frozen=True)
class Trickle(Fault):
    """Send the body at so many bytes per second."""

    rate: float

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, rate=self.rate)


@dataclass(frozen=True)
class Delay(Fault):
    """Wait before the status line."""

    seconds: float

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, delay=self.seconds)


@dataclass(frozen=True)
class Raw(Fault):
    """Send these bytes instead of a reply and close; with none, the connection closes without a word."""

    data: bytes = b""

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, raw=self.data, status=0)


@dataclass(frozen=True)
class WrongLength(Fault):
    """A Content-Length that is off by so many bytes; the body is whole, then the connection closes."""

    by: int

    def reply(self, reply: Reply, /) -> Reply:
        size = reply.body.size
        return replace(reply, length=size + self.by, stop_after=size, ending="fin")


@dataclass(frozen=True)
class NoLength(Fault):
    """No Content-Length: the body ends with the connection, early if ``after`` is given."""

    after: int | None = None

    def reply(self, reply: Reply, /) -> Reply:
        return replace(reply, framing="close", body=reply.body.first(self.after))


@dataclass(frozen=True)
class Chunked(Fault):
    """A chunked body: whole, or ended after ``after`` bytes, or (``cut``) closed there with no last chunk."""

    after: int | None = None
    cut: bool = False

    def reply(self, reply: Reply, /) -> Reply:
        body = reply.body.first(self.after)
        if self.cut:
            return replace(reply, framing="chunked", body=body, stop_after=body.size, ending="fin")
        return replace(reply, framing="chunked", body=body)


@dataclass(frozen=True)
class Encoded(Fault):
    """A Content-Encoding label, over bytes that are gzipped (``truly``) or plain."""

    label: str = "gzip"
    truly: bool = False

    def reply(self, reply: Reply, /) -> Reply:
        body = Body.of(gzip.compress(reply.body.read(), mtime=0)) if self.truly else reply.body
        return replace(reply, body=body).with_headers({"Content-Encoding": self.label})
