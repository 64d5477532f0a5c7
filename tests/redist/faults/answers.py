"""Another answer than the one asked for: a status, a page, a redirect, other headers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from redist.exchange import Body, Reply, page

from .base import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Status(Fault):
    """Another status; without a ``body``, an HTML page as servers send it."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None

    def reply(self, _reply: Reply, /) -> Reply:
        if self.body is None:
            return page(self.code, f"{self.code} from the test server", self.headers)
        return Reply(status=self.code, headers=self.headers, body=Body.of(self.body))


@dataclass(frozen=True)
class Page(Fault):
    """Status 200 with a small text instead of the file: a captive portal, a login form, a one-line error."""

    text: str = "<html><body>Please log in</body></html>"
    content_type: str = "text/html"

    def reply(self, _reply: Reply, /) -> Reply:
        return Reply(
            status=200, headers={"Content-Type": self.content_type}, body=Body.of(self.text.encode())
        )


@dataclass(frozen=True)
class Redirect(Fault):
    """Send the client elsewhere: ``to`` is absolute or relative, and goes out as it stands."""

    to: str
    code: int = 302

    def reply(self, _reply: Reply, /) -> Reply:
        return page(self.code, f"{self.code} moved", {"Location": self.to})


@dataclass(frozen=True)
class Headers(Fault):
    """Add or replace headers, and leave out those named in ``without``."""

    add: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def reply(self, reply: Reply, /) -> Reply:
        dropped = {name.lower() for name in self.without}
        kept = {name: value for name, value in reply.headers.items() if name.lower() not in dropped}
        return replace(reply, headers={**kept, **self.add})
