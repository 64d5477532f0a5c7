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
_PROXY_LOGIN = "the proxy wants a login (special characters in it must be percent-encoded)"
_STATUS_DIGITS = 3


def refusal(
    status: int, reason: str, headers: Mapping[str, str], *, phase: str, where: str
) -> TransferError | NotAvailableError:
    """Return the error for an answer that is no success."""
    cause = f"HTTP {status} {reason}".rstrip()
    if status in GONE:
        return ArchiveWithdrawn(f"the server no longer has it ({cause})", phase=phase, where=where)
    if status in _TRANSIENT:
        wish = retry_after(headers)
        return TransientTransferError(cause, phase=phase, where=where, status=status, retry_after=wish)
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return TransferError(f"{cause}: {_PROXY_LOGIN}", phase="proxy", where=where, status=status)
    return TransferError(cause, phase=phase, where=where, status=status)


def proxy_refusal(answer: str, *, where: str) -> TransferError:
    """Return the error for a proxy that opens no tunnel and says ``407 Proxy Authentication Required`` or the like."""
    code = answer.partition(" ")[0]
    status = int(code) if code.isdecimal() and len(code) == _STATUS_DIGITS else None
    cause = f"the proxy refused: {answer}"
    if status in _TRANSIENT:
        return TransientTransferError(cause, phase="proxy", where=where, status=status)
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        cause = f"{cause}: {_PROXY_LOGIN}"
    return TransferError(cause, phase="proxy", where=where, status=status)
