"""HTTP, by httpx: the one file that imports it. Its errors become ours here, those of the iteration included."""

from __future__ import annotations

import contextlib
import netrc
import socket
import ssl
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx

from ..errors import (
    ArchiveWithdrawn,
    LabelNotFound,
    ManifestError,
    TransferError,
    TransientTransferError,
    UsageError,
)
from ..locations import redacted
from .base import MANIFEST_LIMIT, NoIndex, TransferOptions
from .index import labels_of_page
from .patience import Patience
from .trust import trusting_context

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..manifest.labels import ReleaseLabel

__all__ = ["Body", "HttpSource"]

_MOST_REDIRECTS = 10
_INDEX_LIMIT = 16 * 1024 * 1024
_GONE = (404, 410)
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
_TRANSIENT = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError)


class Body:
    """The answer to a request for an archive's bytes.

    ``start`` is the offset of its first byte, ``total`` the size of the whole archive as the server tells it
    (``None`` when it does not), ``validator`` what a later request may give as ``If-Range``.
    """

    def __init__(self, response: httpx.Response, *, start: int, total: int | None) -> None:
        self.start = start
        self.total = total
        self.url = redacted(str(response.url))
        self.validator = _validator(response.headers)
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        """Yield the raw bytes as they arrive: a ``Content-Encoding`` is never undone (C30)."""
        with _translated(self.url, phase="download"):
            yield from self._response.iter_raw()

    def stop(self) -> None:
        """End a read that another thread is blocked in."""
        stream = self._response.extensions.get("network_stream")
        line = stream.get_extra_info("socket") if stream is not None else None
        if line is not None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def description(self) -> str:
        """Say what the server claims to send, for an error about it."""
        headers = self._response.headers
        told = [f"{headers.get('content-type', 'no content type')}"]
        if "html" in told[0]:
            told.append("looks like a web page")
        named = ("age", "via", "x-cache", "server")
        told.extend(f"{name}: {headers[name]}" for name in named if name in headers)
        return ", ".join(told)


class HttpSource:
    """Serves ``http:`` and ``https:`` URLs; a context manager, since it keeps connections open."""

    def __init__(self, options: TransferOptions) -> None:
        self._options = options

    def __enter__(self) -> HttpSource:
        return self

    def __exit__(self, *exc: object) -> None:
        if "_client" in vars(self):
            self._client.close()

    def read_labels(self, folder_url: str) -> tuple[ReleaseLabel, ...]:
        """Read an index page; ``NoIndex`` where the server shows none. See ``Source``."""
        try:
            page = self._read(folder_url, limit=_INDEX_LIMIT, phase="label")
        except TransferError as error:
            if error.status in (401, 403):
                raise NoIndex from error
            raise
        except LabelNotFound as error:
            raise NoIndex from error
        return labels_of_page(page.decode("utf-8", "replace"))

    def read_manifest(self, url: str, *, fresh: bool = False) -> bytes:
        """Read a manifest; see ``Source``."""
        return self._read(url, limit=MANIFEST_LIMIT, phase="manifest", fresh=fresh)

    @contextlib.contextmanager
    def open_archive(
        self, url: str, *, offset: int = 0, validator: str | None = None, fresh: bool = False
    ) -> Iterator[Body]:
        """Ask for an archive's bytes from ``offset`` on, of the version that ``validator`` names.

        The answer's ``start`` says where the bytes really begin: ``offset``, or 0 when the server sends everything.
        Raises ``ArchiveWithdrawn`` (404, 410) and ``TransferError``; one with status 416 means that the archive has
        no byte at ``offset``.
        """
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        if offset and validator:
            headers["If-Range"] = validator
        with self._answer(url, headers, phase="download", fresh=fresh) as response:
            _require_success(response, phase="download")
            yield _body(response, offset=offset, validator=validator)

    def _read(self, url: str, *, limit: int, phase: str, fresh: bool = False) -> bytes:
        patience = Patience(self._options, time.sleep)
        while True:
            try:
                return self._read_once(url, limit=limit, phase=phase, fresh=fresh)
            except TransientTransferError as error:
                patience.after(error)

    def _read_once(self, url: str, *, limit: int, phase: str, fresh: bool) -> bytes:
        with self._answer(url, {}, phase=phase, fresh=fresh) as response:
            if response.status_code in _GONE:
                raise LabelNotFound(
                    f"no such release label (HTTP {response.status_code})", where=redacted(url)
                )
            _require_success(response, phase=phase)
            data = bytearray()
            with _translated(url, phase=phase):
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > limit:
                        raise ManifestError(f"more than {limit} bytes", phase=phase, where=redacted(url))
            return bytes(data)

    @contextlib.contextmanager
    def _answer(
        self, url: str, headers: dict[str, str], *, phase: str, fresh: bool
    ) -> Iterator[httpx.Response]:
        """Follow redirects: bounded, never to plain HTTP from TLS, the login only for where it was given for."""
        target, login = self._with_login(url)
        if fresh:
            headers = {**headers, "Cache-Control": "no-cache"}
        origin = _origin(target)
        for _ in range(_MOST_REDIRECTS + 1):
            with _translated(target, phase=phase):
                auth = login if _origin(target) == origin else None
                request = self._client.build_request("GET", target, headers=headers)
                response = self._client.send(request, stream=True, auth=auth)
            try:
                if response.status_code not in _REDIRECT_STATUS or "location" not in response.headers:
                    yield response
                    return
                target = _redirected(target, response.headers["location"], phase=phase)
            finally:
                response.close()
        raise TransferError(f"more than {_MOST_REDIRECTS} redirects", phase=phase, where=redacted(url))

    def _with_login(self, url: str) -> tuple[str, httpx.BasicAuth | None]:
        """Take the login out of a URL, or look its host up in the netrc file."""
        parts = urlsplit(url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        if parts.username is not None:
            with _translated(url, phase="download"):
                given = httpx.URL(url)
            return bare, httpx.BasicAuth(given.username, given.password)
        known = self._netrc.authenticators(parts.hostname or "") if self._netrc else None
        return bare, httpx.BasicAuth(known[0] or "", known[2] or "") if known else None

    @cached_property
    def _netrc(self) -> netrc.netrc | None:
        path = self._options.netrc
        if path is None or not path.is_file():
            return None
        try:
            return netrc.netrc(str(path))
        except netrc.NetrcParseError as error:
            # The message would quote the token it stumbled over, which may be a password.
            raise UsageError(f"netrc file damaged near line {error.lineno}", where=path) from None
        except OSError as error:
            raise UsageError(f"netrc file unreadable: {error.strerror}", where=path) from error

    @cached_property
    def _client(self) -> httpx.Client:
        options = self._options
        patience = httpx.Timeout(options.stall_timeout, connect=options.connect_timeout)
        headers = {"User-Agent": "cudnn-redist", "Accept": "*/*", "Accept-Encoding": "identity"}
        context = trusting_context(options.ca_file)
        try:
            return httpx.Client(verify=context, timeout=patience, headers=headers)
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            # The proxy variables are all that can be wrong here; their text may hold a password.
            raise TransferError(
                "a proxy variable of the environment is not usable: it must be an http:// or https:// URL "
                "with special characters percent-encoded",
                phase="proxy",
            ) from error


@contextlib.contextmanager
def _translated(url: str, *, phase: str) -> Iterator[None]:
    """Turn what httpx raises into ours: the transient branch may be tried again, the rest not."""
    where = redacted(url)
    try:
        yield
    except _TRANSIENT as error:
        if _certificate_refused(error):
            raise TransferError(
                f"TLS certificate not trusted: {_text(error)}", phase=phase, where=where
            ) from error
        raise TransientTransferError(_text(error), phase=phase, where=where) from error
    except httpx.ProxyError as error:
        raise TransferError(f"proxy: {_text(error)}", phase=phase, where=where) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise TransferError(_text(error), phase=phase, where=where) from error


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _certificate_refused(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _redirected(url: str, location: str, *, phase: str) -> str:
    target = urljoin(url, location)
    scheme = urlsplit(target).scheme
    if scheme not in ("http", "https") or (scheme == "http" and urlsplit(url).scheme == "https"):
        raise TransferError(f"redirect to {redacted(target)} refused", phase=phase, where=redacted(url))
    return target


def _require_success(response: httpx.Response, *, phase: str) -> None:
    status, url = response.status_code, redacted(str(response.url))
    if response.is_success:
        return
    cause = f"HTTP {status} {response.reason_phrase}".rstrip()
    if status in _GONE:
        raise ArchiveWithdrawn(f"the server no longer has it ({cause})", phase=phase, where=url)
    if status in _TRANSIENT_STATUS:
        wish = _retry_after(response.headers)
        raise TransientTransferError(cause, phase=phase, where=url, status=status, retry_after=wish)
    if status == httpx.codes.PROXY_AUTHENTICATION_REQUIRED:
        cause += ": the proxy wants a login (special characters in it must be percent-encoded)"
    raise TransferError(cause, phase=phase, where=url, status=status)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read seconds or a date (RFC 9110, section 10.2.3)."""
    value = headers.get("retry-after", "")
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _body(response: httpx.Response, *, offset: int, validator: str | None) -> Body:
    """Read where the bytes begin; an answer to a range that is not the asked one is a ``TransferError`` of 416."""
    length = response.headers.get("content-length", "")
    if response.status_code != httpx.codes.PARTIAL_CONTENT:
        total = int(length) if length.isdecimal() else None
        return Body(response, start=0, total=total)
    unit, _, told = response.headers.get("content-range", "").partition(" ")
    span, _, total_text = told.partition("/")
    changed = validator is not None and _validator(response.headers) not in (None, validator)
    if unit != "bytes" or span.partition("-")[0] != str(offset) or changed:
        raise TransferError(
            f"wrong answer to a request for the bytes from {offset} on",
            where=redacted(str(response.url)),
            status=httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE,
        )
    return Body(response, start=offset, total=int(total_text) if total_text.isdecimal() else None)


def _validator(headers: Mapping[str, str]) -> str | None:
    """Prefer a strong ETag; a weak one must not be used with ranges (RFC 9110, section 13.1.5)."""
    etag = headers.get("etag", "")
    return etag if etag.startswith('"') else headers.get("last-modified")
