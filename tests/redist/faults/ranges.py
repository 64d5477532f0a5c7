"""Servers that understand a Range header in a way of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from redist.exchange import Asked, Body, Reply

from .answers import Headers
from .base import Fault


@dataclass(frozen=True)
class IgnoreRange(Fault):
    """200 and the whole file, although ranges are advertised."""

    def request(self, asked: Asked) -> Asked:
        return asked.without("range")


@dataclass(frozen=True)
class RefuseRange(Fault):
    """416 to every range, as if it began behind the end of the file."""

    def request(self, asked: Asked) -> Asked:
        if "range" not in asked.headers:
            return asked
        behind = {**asked.without("if-range").headers, "range": f"bytes={1 << 60}-"}
        return replace(asked, headers=behind)


@dataclass(frozen=True)
class WrongRange(Fault):
    """206 whose Content-Range (and with ``bytes_too`` its bytes) starts elsewhere, or tells another total."""

    start_by: int = 0
    total_by: int = 0
    bytes_too: bool = False

    def reply(self, reply: Reply, /) -> Reply:
        if reply.status != 206:
            return reply
        body = reply.body
        start = body.start + self.start_by
        total = int(reply.headers["Content-Range"].rpartition("/")[2]) + self.total_by
        content_range = f"bytes {start}-{body.stop - 1}/{total}"
        if self.bytes_too:
            reply = replace(reply, body=replace(body, start=start))
        return reply.with_headers({"Content-Range": content_range})


@dataclass(frozen=True)
class NoContentRange(Fault):
    """206 that does not say which bytes it brings."""

    def reply(self, reply: Reply, /) -> Reply:
        return Headers(without=("Content-Range",)).reply(reply)


@dataclass(frozen=True)
class MultipartRange(Fault):
    """206 as multipart/byteranges with a single part, which RFC 9110 allows a server to send."""

    def reply(self, reply: Reply, /) -> Reply:
        if reply.status != 206:
            return reply
        head = f"--part\r\nContent-Type: {reply.headers['Content-Type']}\r\n"
        head += f"Content-Range: {reply.headers['Content-Range']}\r\n\r\n"
        data = head.encode() + reply.body.read() + b"\r\n--part--\r\n"
        plain = NoContentRange().reply(replace(reply, body=Body.of(data)))
        return plain.with_headers({"Content-Type": "multipart/byteranges; boundary=part"})
