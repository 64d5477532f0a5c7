"""What httpx raises becomes ours, whatever it is and whenever it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
import respx
from source.ground import QUICK, read

from cudnn_redist.errors import (
    TransferError,
    TransientTransferError,
)
from cudnn_redist.source.http import HttpSource

if TYPE_CHECKING:
    from collections.abc import Iterator


NAME = "redistrib_9.27.0.json"


def exceptions_of(base: type[httpx.HTTPError]) -> list[type[httpx.HTTPError]]:
    below = [found for child in base.__subclasses__() for found in exceptions_of(child)]
    return [base, *below]


TRANSPORT = exceptions_of(httpx.TransportError)
PERMANENT = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.ProxyError)
GENERAL = (httpx.TransportError, httpx.ProtocolError)


class Breaking(httpx.SyncByteStream):
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        yield b"first"
        raise self._error


def is_permanent(kind: type[httpx.HTTPError]) -> bool:
    return kind in GENERAL or issubclass(kind, PERMANENT)


@pytest.mark.parametrize("kind", TRANSPORT, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("moment", ["request", "iteration"])
def test_every_transport_error_is_translated(kind: type[httpx.TransportError], moment: str) -> None:
    url = "http://mirror.example/x?token=secret"
    error = kind("the reason")
    effect = error if moment == "request" else httpx.Response(200, stream=Breaking(error))
    with respx.mock(using="httpx") as router, HttpSource(QUICK) as source:
        router.get(url).mock(side_effect=[effect])
        with pytest.raises(TransferError, match="the reason") as caught:
            read(source, url)

    assert isinstance(caught.value, TransientTransferError) is not is_permanent(kind)
    assert caught.value.__cause__ is error
    assert caught.value.where == "http://mirror.example/x"


@pytest.mark.parametrize(
    "kind", [httpx.DecodingError, httpx.TooManyRedirects, httpx.InvalidURL, UnicodeError]
)
def test_other_errors_of_the_library_are_not_transient(kind: type[Exception]) -> None:
    with respx.mock(using="httpx") as router, HttpSource(QUICK) as source:
        router.get("http://mirror.example/x").mock(side_effect=[kind("why")])
        with pytest.raises(TransferError, match="why") as caught:
            read(source, "http://mirror.example/x")

    assert type(caught.value) is TransferError


@pytest.mark.parametrize("host", ["a..b", f"{'a' * 64}.example", "xn--a", "a b", "\u00e9\u0301..x"])
def test_a_host_that_cannot_be_one_is_no_bug(host: str, source: HttpSource) -> None:
    with pytest.raises(TransferError):
        source.read_manifest(f"http://{host}/{NAME}")
