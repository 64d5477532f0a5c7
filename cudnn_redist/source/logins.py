"""Logins: taken out of URLs or looked up in a netrc file, for one scheme, host and port and no other."""

from __future__ import annotations

import netrc
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Login", "Logins", "origin"]

Login = tuple[str, str]
"""User name and password."""


class Logins:
    """Knows the logins of a netrc ``file`` (``None``: of none), which is read when the first URL needs it."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def of(self, url: str) -> tuple[str, Login | None]:
        """Return ``url`` without its login, and the login: its own, else its host's in the netrc file.

        The file's ``default`` entry is for hosts nobody named, and is not used. Raises ``UsageError`` for a file
        that cannot be read.
        """
        parts = urlsplit(url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        if parts.username is not None:
            return bare, (unquote(parts.username), unquote(parts.password or ""))
        known = self._known.get(parts.hostname or "")
        return bare, (known[0] or "", known[2] or "") if known else None

    @cached_property
    def _known(self) -> Mapping[str, tuple[str, str | None, str | None]]:
        if self._file is None:
            return {}
        try:
            return netrc.netrc(str(self._file)).hosts
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except netrc.NetrcParseError as error:
            # The message would quote the token it stumbled over, which may be a password.
            raise UsageError(f"netrc file damaged near line {error.lineno}", where=self._file) from None
        except UnicodeDecodeError:
            raise UsageError("netrc file is no text", where=self._file) from None
        except OSError as error:
            raise UsageError(f"netrc file unreadable: {error.strerror}", where=self._file) from error


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port: a login given for one origin goes to no other (RFC 6454, section 4)."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
