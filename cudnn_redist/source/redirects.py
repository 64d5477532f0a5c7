"""Where a redirect may lead. Pure."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from ..errors import TransferError
from ..locations import redacted
from .logins import origin

__all__ = ["MOST_REDIRECTS", "REDIRECT_STATUS", "redirected"]

MOST_REDIRECTS = 10
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})


def redirected(url: str, location: str, *, phase: str, same_host: bool = False) -> str:
    """Return the URL that ``location`` names, seen from ``url``.

    Raises ``TransferError`` where it is unreadable, not HTTP, plain HTTP though ``url`` is under TLS, or not on the
    ``same_host`` where it must be.
    """
    try:
        target = urljoin(url, location)
        scheme, host, _ = origin(target)
    except ValueError as error:
        raise TransferError("redirect to an unreadable URL", phase=phase, where=redacted(url)) from error
    downgraded = scheme == "http" and urlsplit(url).scheme == "https"
    if scheme not in ("http", "https") or not host or downgraded:
        raise TransferError(f"redirect to {redacted(target)} refused", phase=phase, where=redacted(url))
    if same_host and host != urlsplit(url).hostname:
        raise TransferError(
            f"redirect to {redacted(target)} refused: --no-fallback allows no other host than this one",
            phase=phase,
            where=redacted(url),
        )
    return target
