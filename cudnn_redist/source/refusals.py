"""What it means when a server or a proxy says no: try again, or not. Pure."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from ..errors import ArchiveWithdrawn, NotAvailableError, TransferError, TransientTransferError
from .headers import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GONE", "proxy_refusal", "refusal"]

GONE = (404, 410)
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
# A status that nobody knows counts as the first of its class (RFC 9110, section 15): CDNs have 52x of their own.
_KNOWN = frozenset(HTTPStatus)
_SERVER_ERRORS = range(500, 600)
_PROXY_LOGIN = "the proxy wants a login (special characters in it must be percent-encoded)"
_STATUS_DIGITS = 3


def refusal(
    status: int, reason: str, headers: Mapping[str, str], *, phase: str, where: str
) -> TransferError | NotAvailableError:
    """Return the error for an answer that is no success."""
    cause = f"HTTP {status} {reason}".rstrip()
    if status in GONE:
        return ArchiveWithdrawn(f"the server no longer has it ({cause})", phase=phase, where=where)
    if _is_transient(status):
        wish = retry_after(headers)
        if wish:
            cause += f"; the server asks to wait {wish:.0f} s"
        return TransientTransferError(cause, phase=phase, where=where, status=status, retry_after=wish)
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return TransferError(f"{cause}: {_PROXY_LOGIN}", phase="proxy", where=where, status=status)
    return TransferError(cause, phase=phase, where=where, status=status)


def proxy_refusal(answer: str, *, via: str, where: str) -> TransferError:
    """Return the error for a proxy that opens no tunnel and says ``407 Proxy Authentication Required`` or the like.

    ``via`` tells which proxy it is.
    """
    code = answer.partition(" ")[0]
    status = int(code) if code.isdecimal() and len(code) == _STATUS_DIGITS else None
    cause = f"no tunnel: {answer}{via}"
    if status is not None and _is_transient(status):
        return TransientTransferError(cause, phase="proxy", where=where, status=status)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED):
        cause = f"{cause}: {_PROXY_LOGIN}"
    return TransferError(cause, phase="proxy", where=where, status=status)


def _is_transient(status: int) -> bool:
    return status in _TRANSIENT or (status in _SERVER_ERRORS and status not in _KNOWN)
