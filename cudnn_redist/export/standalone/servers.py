"""How a server is asked: by http and https alone, with a login for its own host, for a file that is still the same."""

from __future__ import annotations

import base64
import urllib.request
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from ...errors import TransferError
from ...locations import redacted

if TYPE_CHECKING:
    import http.client
    from collections.abc import Mapping
    from email.message import Message

__all__ = ["opener", "validator", "without_login"]


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows as usual, but never from https to http."""

    def redirect_request(  # noqa: PLR0917 - the standard library's own
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise TransferError("redirected from https to something else", where=redacted(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def opener() -> urllib.request.OpenerDirector:
    """Return an opener of http and https alone: no redirect leads to a file."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        _Redirects,
        urllib.request.HTTPErrorProcessor,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def without_login(url: str) -> tuple[str, Mapping[str, str]]:
    """Return ``url`` without the login in it, and the header that says it to that host alone."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    word = base64.b64encode(unquote(login).encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {word}"}


def validator(headers: Message) -> str | None:
    """Return what tells that the file is still the same (RFC 9110, section 13.1.5: no weak ETag)."""
    tag = headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")
