"""Other bytes than the manifest promises, sent in good order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from redist.exchange import Asked, Body, Resource

from .base import Fault


@dataclass(frozen=True)
class Changed(Fault):
    """Other bytes under the same path, with their own ETag (or ``etag``); ``deaf`` to If-Range on request."""

    data: bytes
    etag: str | None = None
    deaf: bool = False

    def request(self, asked: Asked) -> Asked:
        return asked.without("if-range") if self.deaf else asked

    def resource(self, resource: Resource) -> Resource:
        etag = self.etag or f'"{hashlib.sha256(self.data).hexdigest()[:32]}"'
        return replace(resource, body=Body.of(self.data), etag=etag)


@dataclass(frozen=True)
class Flipped(Fault):
    """One byte of the file (at ``at``) with all bits turned; validators and sizes are the good file's."""

    at: int = 0

    def resource(self, resource: Resource) -> Resource:
        data = bytearray(resource.body.read())
        data[self.at] ^= 0xFF
        return replace(resource, body=Body.of(bytes(data)))


@dataclass(frozen=True)
class Truncated(Fault):
    """A file of ``to`` bytes only, consistently announced; ``Truncated(0)`` is an empty file."""

    to: int

    def resource(self, resource: Resource) -> Resource:
        return replace(resource, body=resource.body.first(self.to))


@dataclass(frozen=True)
class Extra(Fault):
    """A file with more bytes at its end, consistently announced."""

    data: bytes = b"surplus"

    def resource(self, resource: Resource) -> Resource:
        return replace(resource, body=Body.of(resource.body.read() + self.data))
