"""What passes between client and server, as values, and the honest answer to a request for a file (RFC 9110).

Faults change these values before they are sent; the server itself has no branch for any fault.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass, field, replace
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_TYPES = {
    ".json": "application/json",
    ".zip": "application/zip",
    ".xz": "application/x-xz",
    ".html": "text/html",
}

Framing = Literal["length", "close", "chunked"]
Ending = Literal["done", "fin", "rst", "stall"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it came in; header names are lower case, ``path`` is decoded and without a query."""

    method: str
    target: str
    path: str
    headers: Mapping[str, str]

    def without(self, *names: str) -> Asked:
        kept = {name: value for name, value in self.headers.items() if name not in names}
        return replace(self, headers=kept)


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """A stretch of a file or of bytes."""

    source: bytes | Path
    start: int = 0
    stop: int

    @classmethod
    def of(cls, data: bytes) -> Body:
        return cls(source=data, stop=len(data))

    @property
    def size(self) -> int:
        return self.stop - self.start

    def read(self) -> bytes:
        return b"".join(self.pieces(self.size or 1))

    def part(self, start: int, stop: int) -> Body:
        return replace(self, start=self.start + start, stop=min(self.start + stop, self.stop))

    def first(self, size: int | None) -> Body:
        return self if size is None else self.part(0, size)

    def pieces(self, size: int) -> Iterator[bytes]:
        if isinstance(self.source, bytes):
            for offset in range(self.start, self.stop, size):
                yield self.source[offset : min(offset + size, self.stop)]
            return
        with self.source.open("rb") as file:
            file.seek(self.start)
            left = self.size
            while left and (piece := file.read(min(size, left))):
                left -= len(piece)
                yield piece


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """What lies at a path: the bytes, and the validators that go with them (``None``: not sent)."""

    body: Body
    content_type: str = "application/octet-stream"
    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def of_file(cls, path: Path) -> Resource:
        found = path.stat()
        return cls(
            body=Body(source=path, stop=found.st_size),
            content_type=_TYPES.get(path.suffix, "application/octet-stream"),
            etag=_file_etag(path, found.st_ino, found.st_size, found.st_mtime_ns),
            last_modified=formatdate(found.st_mtime, usegmt=True),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An answer, and the way it is to be sent.

    After ``stop_after`` body bytes sending ends as ``ending`` says: ``fin`` and ``rst`` close the connection,
    ``stall`` keeps it open and silent. ``delay`` is in seconds before the status line, ``rate`` in bytes per
    second. ``raw``, if given, is sent instead of all the rest.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = field(default_factory=lambda: Body.of(b""))
    framing: Framing = "length"
    length: int | None = None
    stop_after: int | None = None
    ending: Ending = "done"
    rate: float | None = None
    delay: float = 0.0
    raw: bytes | None = None

    def with_headers(self, headers: Mapping[str, str]) -> Reply:
        return replace(self, headers={**self.headers, **headers})


def page(status: int, text: str, headers: Mapping[str, str] | None = None) -> Reply:
    """Return a small HTML page, such as servers put behind an error."""
    body = f"<html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>\r\n"
    return Reply(
        status=status, headers={"Content-Type": "text/html", **(headers or {})}, body=Body.of(body.encode())
    )


def answer(asked: Asked, resource: Resource) -> Reply:
    """Answer honestly: 200, 206, 304 or 416."""
    headers = {"Content-Type": resource.content_type, "Accept-Ranges": "bytes", **_validators(resource)}
    if _unchanged(asked, resource):
        return Reply(status=304, headers=_validators(resource))
    size = resource.body.size
    asked_range = parse_range(asked.headers.get("range"), size) if _may_resume(asked, resource) else None
    if asked_range is None:
        return Reply(status=200, headers=headers, body=resource.body)
    start, stop = asked_range
    if start >= stop:
        return page(416, "416 Range Not Satisfiable", {"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return Reply(status=206, headers=headers, body=resource.body.part(start, stop))


def parse_range(value: str | None, size: int) -> tuple[int, int] | None:
    """Return (start, stop) of a single byte range, ``None`` to ignore it; an empty one cannot be met."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", value or "")
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size


def _validators(resource: Resource) -> dict[str, str]:
    pairs = {"ETag": resource.etag, "Last-Modified": resource.last_modified}
    return {name: value for name, value in pairs.items() if value is not None}


def _unchanged(asked: Asked, resource: Resource) -> bool:
    known = asked.headers.get("if-none-match")
    if known is not None:
        return resource.etag is not None and resource.etag in re.split(r"\s*,\s*", known)
    since = asked.headers.get("if-modified-since")
    if since is None or resource.last_modified is None:
        return False
    return parsedate_to_datetime(resource.last_modified) <= parsedate_to_datetime(since)


def _may_resume(asked: Asked, resource: Resource) -> bool:
    """Tell whether the validator sent with a range, if any, is the current one (RFC 9110, section 13.1.5)."""
    condition = asked.headers.get("if-range")
    return condition is None or condition in (resource.etag, resource.last_modified)


@functools.lru_cache(maxsize=512)
def _file_etag(path: Path, *_state: int) -> str:
    with path.open("rb") as file:
        return f'"{hashlib.file_digest(file, "sha256").hexdigest()[:32]}"'
