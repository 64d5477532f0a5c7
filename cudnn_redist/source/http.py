"""HTTP, by httpx: the one file that imports it. Its errors become ours here, those of the iteration included."""

from __future__ import annotations

import contextlib
import time
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, cast

import httpx

from ..errors import LabelNotFound, ManifestError, OfflineError, TransferError, TransientTransferError
from ..locations import redacted
from ..network import proxy_variables
from ..notes import log
from .answer import Answer, Body, body_of, require_success
from .base import MANIFEST_LIMIT, NoIndex, TransferOptions
from .index import labels_of_page
from .line import Line
from .logins import Logins, origin
from .patience import Pace, Patience
from .proxies import Proxies, Proxy
from .redirects import MOST_REDIRECTS, REDIRECT_STATUS, redirected
from .refusals import GONE, proxy_refusal
from .trust import refuses_certificate, trusting_context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from ..manifest.labels import ReleaseLabel

__all__ = ["HttpSource"]

_TRANSIENT = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError)
# Cookies know no port: they would go where a login must not. And a bad date in one makes the library warn of a bug.
_NO_COOKIES = DefaultCookiePolicy(netscape=False, rfc2965=False)


class HttpSource:
    """Serves ``http:`` and ``https:`` URLs; a context manager, since it keeps connections open."""

    def __init__(self, options: TransferOptions) -> None:
        self._options = options
        self._logins = Logins(options.netrc)
        self._streams: list[Any] = []
        self._clients: dict[Proxy | None, httpx.Client] = {}

    def __enter__(self) -> HttpSource:
        return self

    def __exit__(self, *exc: object) -> None:
        for client in self._clients.values():
            client.close()

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
        with self._answer(url, headers, line, phase="download", fresh=fresh) as answer:
            yield body_of(answer, offset=offset, validator=validator)

    def _read(self, url: str, *, phase: str, fresh: bool = False) -> bytes:
        patience = Patience(self._options, time.sleep)
        while True:
            try:
                return self._read_once(url, phase=phase, fresh=fresh)
            except TransientTransferError as error:
                patience.after(error)

    def _read_once(self, url: str, *, phase: str, fresh: bool) -> bytes:
        with self._answer(url, {}, self.line(), phase=phase, fresh=fresh) as answer:
            if answer.status in GONE:
                raise LabelNotFound(f"no such release label (HTTP {answer.status})", where=redacted(url))
            require_success(answer, phase=phase)
            data = bytearray()
            for piece in answer.decoded(phase=phase):
                data += piece
                if len(data) > MANIFEST_LIMIT:
                    raise ManifestError(f"more than {MANIFEST_LIMIT} bytes", phase=phase, where=redacted(url))
            return bytes(data)

    @contextlib.contextmanager
    def _answer(
        self, url: str, headers: dict[str, str], line: Line, *, phase: str, fresh: bool
    ) -> Iterator[Answer]:
        """Follow redirects: bounded, never to plain HTTP from TLS, the login only for where it was given for."""
        if self._options.offline:
            raise OfflineError("offline; otherwise this would be asked for", phase=phase, where=redacted(url))
        target, login = self._logins.of(url)
        given_for = origin(target)
        if fresh:
            headers = {**headers, "Cache-Control": "no-cache"}
        for _ in range(MOST_REDIRECTS + 1):
            proxy = self._proxies.of(target)
            client = self._client(proxy, target)
            with _translated(target, phase=phase, proxy=proxy):
                request = client.build_request(
                    "GET", target, headers=headers, extensions={"trace": line.trace}
                )
                request.url = _Discreet(request.url)
                auth = httpx.BasicAuth(*login) if login and origin(target) == given_for else None
                response = client.send(request, stream=True, auth=auth)
            via = proxy.via if proxy else ""
            log.debug("GET %s %s: HTTP %d%s", redacted(target), headers or "", response.status_code, via)
            pace = Pace(self._options, where=redacted(target))
            response.stream = _Paced(cast("httpx.SyncByteStream", response.stream), pace)
            location = response.headers.get("location")
            try:
                if response.status_code not in REDIRECT_STATUS or location is None:
                    yield _answered(response, phase=phase, proxy=proxy)
                    return
                target = redirected(target, location, phase=phase, same_host=self._options.same_host)
            finally:
                response.close()
            log.info("%s: redirected to %s", redacted(url), redacted(target))
        raise TransferError(f"more than {MOST_REDIRECTS} redirects", phase=phase, where=redacted(url))

    @cached_property
    def _proxies(self) -> Proxies:
        return Proxies(proxy_variables())

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return trusting_context(self._options.ca_file)

    def _client(self, proxy: Proxy | None, url: str) -> httpx.Client:
        """Return the client that goes through ``proxy``; ``TransferError`` where that cannot be used for ``url``."""
        if proxy not in self._clients:
            options = self._options
            patience = httpx.Timeout(options.stall_timeout, connect=options.connect_timeout)
            headers = {"User-Agent": "cudnn-redist", "Accept": "*/*", "Accept-Encoding": "identity"}
            context = self._context
            try:
                self._clients[proxy] = httpx.Client(
                    verify=context,
                    proxy=_through(proxy, context),
                    trust_env=False,
                    timeout=patience,
                    headers=headers,
                    cookies=CookieJar(_NO_COOKIES),
                )
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                if proxy is None:
                    raise
                raise proxy.unusable(missing=isinstance(error, ImportError), url=url) from None
        return self._clients[proxy]


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


def _through(proxy: Proxy | None, context: ssl.SSLContext) -> httpx.Proxy | None:
    """Return ``proxy`` in httpx's words: a context is only taken where the way to it is under TLS."""
    if proxy is None:
        return None
    under_tls = proxy.url.startswith("https:")
    return httpx.Proxy(proxy.url, auth=proxy.login, ssl_context=context if under_tls else None)


def _answered(response: httpx.Response, *, phase: str, proxy: Proxy | None) -> Answer:
    url = str(response.url)

    def raw() -> Iterator[bytes]:
        with _translated(url, phase=phase, proxy=proxy):
            yield from response.iter_raw()

    return Answer(
        status=response.status_code,
        reason=response.reason_phrase,
        headers=response.headers,
        url=redacted(url),
        via=proxy.via if proxy else "",
        raw=raw,
    )


@contextlib.contextmanager
def _translated(url: str, *, phase: str, proxy: Proxy | None) -> Iterator[None]:
    """Turn what httpx raises into ours: the transient branch may be tried again, the rest not."""
    where, via = redacted(url), proxy.via if proxy else ""
    try:
        yield
    except _TRANSIENT as error:
        if refuses_certificate(error):
            raise TransferError(
                f"TLS certificate not trusted ({_text(error)}){via}; --ca-file trusts a private authority",
                phase=phase,
                where=where,
            ) from error
        raise TransientTransferError(_text(error) + via, phase=phase, where=where) from error
    except httpx.ProxyError as error:
        raise proxy_refusal(str(error), via=via, where=where) from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        # UnicodeError: a host name with an empty part or one that is too long for DNS.
        raise TransferError(_text(error) + via, phase=phase, where=where) from error


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
