"""HTTP, by httpx: the one file that imports it. Its errors become ours here, those of the iteration included."""

from __future__ import annotations

import contextlib
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import httpx

from ..errors import LabelNotFound, ManifestError, TransferError, TransientTransferError
from ..locations import redacted
from ..notes import log
from . import headers as told
from .base import MANIFEST_LIMIT, NoIndex, RangeRefused, TransferOptions
from .index import labels_of_page
from .line import Line
from .logins import Logins, origin
from .patience import Pace, Patience
from .redirects import MOST_REDIRECTS, REDIRECT_STATUS, redirected
from .refusals import GONE, proxy_refusal, refusal
from .trust import refuses_certificate, trusting_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..manifest.labels import ReleaseLabel

__all__ = ["Body", "HttpSource"]

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
        self.validator = told.validator(response.headers)
        self.description = told.description(response.headers)
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        """Yield the raw bytes as they arrive: a ``Content-Encoding`` is never undone (C30)."""
        with _translated(self.url, phase="download"):
            yield from self._response.iter_raw()


class HttpSource:
    """Serves ``http:`` and ``https:`` URLs; a context manager, since it keeps connections open."""

    def __init__(self, options: TransferOptions) -> None:
        self._options = options
        self._logins = Logins(options.netrc)
        self._streams: list[Any] = []

    def __enter__(self) -> HttpSource:
        return self

    def __exit__(self, *exc: object) -> None:
        if "_client" in vars(self):
            self._client.close()

    def line(self) -> Line:
        """Return what ends the requests that are made on it."""
        return Line(self._streams)

    def read_labels(self, folder_url: str) -> tuple[ReleaseLabel, ...]:
        """Read an index page; ``NoIndex`` where the server shows none, to anybody. See ``Source``."""
        try:
            page = self._read(folder_url, phase="label")
        except TransferError as error:
            if error.status == httpx.codes.FORBIDDEN:
                raise NoIndex from error
            raise
        except LabelNotFound as error:
            raise NoIndex from error
        return labels_of_page(page.decode("utf-8", "replace"))

    def read_manifest(self, url: str, *, fresh: bool = False) -> bytes:
        """Read a manifest; see ``Source``."""
        return self._read(url, phase="manifest", fresh=fresh)

    @contextlib.contextmanager
    def open_archive(
        self, url: str, *, line: Line, offset: int = 0, validator: str | None = None, fresh: bool = False
    ) -> Iterator[Body]:
        """Ask for an archive's bytes from ``offset`` on, of the version that ``validator`` names.

        The answer's ``start`` says where the bytes really begin: ``offset``, or 0 when the server sends everything.
        Raises ``ArchiveWithdrawn`` (404, 410), ``TransferError``, and ``RangeRefused`` for a 416 or a 206 with other
        bytes than the asked ones.
        """
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        if offset and validator:
            headers["If-Range"] = validator
        with self._answer(url, headers, line, phase="download", fresh=fresh) as response:
            yield _body(response, offset=offset, validator=validator)

    def _read(self, url: str, *, phase: str, fresh: bool = False) -> bytes:
        patience = Patience(self._options, time.sleep)
        while True:
            try:
                return self._read_once(url, phase=phase, fresh=fresh)
            except TransientTransferError as error:
                patience.after(error)

    def _read_once(self, url: str, *, phase: str, fresh: bool) -> bytes:
        with self._answer(url, {}, self.line(), phase=phase, fresh=fresh) as response:
            if response.status_code in GONE:
                raise LabelNotFound(
                    f"no such release label (HTTP {response.status_code})", where=redacted(url)
                )
            _require_success(response, phase=phase)
            data = bytearray()
            with _translated(url, phase=phase):
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > MANIFEST_LIMIT:
                        raise ManifestError(
                            f"more than {MANIFEST_LIMIT} bytes", phase=phase, where=redacted(url)
                        )
            return bytes(data)

    @contextlib.contextmanager
    def _answer(
        self, url: str, headers: dict[str, str], line: Line, *, phase: str, fresh: bool
    ) -> Iterator[httpx.Response]:
        """Follow redirects: bounded, never to plain HTTP from TLS, the login only for where it was given for."""
        target, login = self._logins.of(url)
        given_for = origin(target)
        if fresh:
            headers = {**headers, "Cache-Control": "no-cache"}
        for _ in range(MOST_REDIRECTS + 1):
            with _translated(target, phase=phase):
                request = self._client.build_request(
                    "GET", target, headers=headers, extensions={"trace": line.trace}
                )
                request.url = _Discreet(request.url)
                auth = httpx.BasicAuth(*login) if login and origin(target) == given_for else None
                response = self._client.send(request, stream=True, auth=auth)
            log.debug("GET %s %s: HTTP %d", redacted(target), headers or "", response.status_code)
            pace = Pace(self._options, where=redacted(target))
            response.stream = _Paced(cast("httpx.SyncByteStream", response.stream), pace)
            try:
                if response.status_code not in REDIRECT_STATUS or "location" not in response.headers:
                    yield response
                    return
                target = redirected(target, response.headers["location"], phase=phase)
            finally:
                response.close()
            log.info("%s: redirected to %s", redacted(url), redacted(target))
        raise TransferError(f"more than {MOST_REDIRECTS} redirects", phase=phase, where=redacted(url))

    @cached_property
    def _client(self) -> httpx.Client:
        options = self._options
        patience = httpx.Timeout(options.stall_timeout, connect=options.connect_timeout)
        headers = {"User-Agent": "cudnn-redist", "Accept": "*/*", "Accept-Encoding": "identity"}
        context = trusting_context(options.ca_file)
        try:
            return httpx.Client(verify=context, timeout=patience, headers=headers)
        except (ValueError, ImportError, httpx.InvalidURL):
            # The proxy variables are all that can be wrong here. The cause is left out: it may quote a password.
            raise TransferError(
                "a proxy variable of the environment is not usable: it must be an http:// or https:// URL "
                "with special characters percent-encoded",
                phase="proxy",
            ) from None


class _Paced(httpx.SyncByteStream):
    """The raw bytes of an answer, which may not come too slowly: what is decoded may be nothing for long."""

    def __init__(self, stream: httpx.SyncByteStream, pace: Pace) -> None:
        self._stream = stream
        self._pace = pace

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            yield piece
            self._pace.took(len(piece), now=time.monotonic())

    def close(self) -> None:
        self._stream.close()


class _Discreet(httpx.URL):
    """A URL whose text leaves out login and query: httpx logs the text of every URL that it asks."""

    def __str__(self) -> str:
        return redacted(super().__str__())


@contextlib.contextmanager
def _translated(url: str, *, phase: str) -> Iterator[None]:
    """Turn what httpx raises into ours: the transient branch may be tried again, the rest not."""
    where = redacted(url)
    try:
        yield
    except _TRANSIENT as error:
        if refuses_certificate(error):
            raise TransferError(
                f"TLS certificate not trusted ({_text(error)}); --ca-file trusts a private authority",
                phase=phase,
                where=where,
            ) from error
        raise TransientTransferError(_text(error), phase=phase, where=where) from error
    except httpx.ProxyError as error:
        raise proxy_refusal(str(error), where=where) from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        # UnicodeError: a host name with an empty part or one that is too long for DNS.
        raise TransferError(_text(error), phase=phase, where=where) from error


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _require_success(response: httpx.Response, *, phase: str) -> None:
    if not response.is_success:
        reason = response.reason_phrase
        if response.status_code == httpx.codes.UNAUTHORIZED:
            reason += ": the server wants a login (in the source's URL or in a netrc file)"
        where = redacted(str(response.url))
        raise refusal(response.status_code, reason, response.headers, phase=phase, where=where)


def _body(response: httpx.Response, *, offset: int, validator: str | None) -> Body:
    """Read where the bytes begin."""
    asked = told.content_range(response.headers)
    if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and offset:
        cause = f"the server has no byte at {offset}"
        raise RangeRefused(cause, where=redacted(str(response.url)), total=asked.total)
    _require_success(response, phase="download")
    if response.status_code != httpx.codes.PARTIAL_CONTENT:
        return Body(response, start=0, total=told.content_length(response.headers))
    changed = validator is not None and told.is_changed(response.headers, validator)
    if asked.start != offset or changed:
        cause = f"wrong answer to a request for the bytes from {offset} on"
        raise RangeRefused(cause, where=redacted(str(response.url)), total=None)
    return Body(response, start=offset, total=asked.total)
