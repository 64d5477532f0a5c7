"""What the headers of an answer say (RFC 9110). Pure; what makes no sense counts as not said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ContentRange",
    "content_length",
    "content_range",
    "description",
    "is_changed",
    "is_sendable",
    "retry_after",
    "validator",
]

# Fifteen digits are a petabyte; Python refuses to convert texts of some thousand digits.
_NUMBER = re.compile(r"[0-9]{1,15}")
_RANGE = re.compile(r"bytes +(?:([0-9]{1,15})-([0-9]{1,15})|\*)/([0-9]{1,15}|\*)", re.IGNORECASE)
_HEADER_TEXT = re.compile(r"[!-~](?:[ -~]{0,400}[!-~])?")
# They tell which cache or edge answered, and how old its answer is (C40).
_TELLING = ("age", "via", "x-cache", "server")
_LONGEST_TOLD = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRange:
    """Offset of the first byte sent, and size of the whole in bytes; ``None`` where the server does not say."""

    start: int | None
    total: int | None


def content_length(headers: Mapping[str, str]) -> int | None:
    """Return the promised number of body bytes."""
    return _number(headers.get("content-length", ""))


def content_range(headers: Mapping[str, str]) -> ContentRange:
    """Read ``Content-Range`` (section 14.4): of a 206, or of a 416, where only the total stands.

    A range that ends before it begins, or behind the end of the whole, is invalid and so not said.
    """
    match = _RANGE.fullmatch(headers.get("content-range", "").strip())
    if match is None:
        return ContentRange(start=None, total=None)
    start, last, total = (_number(each or "") for each in match.groups())
    if start is not None and last is not None and (last < start or (total is not None and last >= total)):
        return ContentRange(start=None, total=None)
    return ContentRange(start=start, total=total)


def validator(headers: Mapping[str, str]) -> str | None:
    """Return what ``If-Range`` may hold: a strong ETag, else Last-Modified; never a weak ETag (section 13.1.5)."""
    etag = headers.get("etag", "")
    found = etag if etag.startswith('"') else headers.get("last-modified", "")
    return found if is_sendable(found) else None


def is_changed(headers: Mapping[str, str], validator: str) -> bool:
    """Whether an answer tells another validator of the same sort: servers that ignore ``If-Range`` do (C29)."""
    told = headers.get("etag" if validator.startswith('"') else "last-modified", validator)
    return told.removeprefix("W/") != validator


def is_sendable(value: str) -> bool:
    """Whether a header may have this value: printable ASCII, and not endless."""
    return _HEADER_TEXT.fullmatch(value) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, told as a number or as a date (section 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if (seconds := _number(value)) is not None:
        return float(seconds)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def description(headers: Mapping[str, str]) -> str:
    """Say what the server claims to send and who it is, for an error about it."""
    content_type = headers.get("content-type", "no content type")
    told = [content_type]
    if "html" in content_type:
        told.append("looks like a web page")
    elif content_type.startswith("text/"):
        told.append("looks like text")
    told.extend(f"{name}: {headers[name]}" for name in _TELLING if name in headers)
    return ", ".join(each[:_LONGEST_TOLD] for each in told)


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None
