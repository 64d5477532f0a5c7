"""Answers that break the rules of HTTP/1.1, or use what few servers do: never a bug, and never a wrong byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redist.faults import Raw
from source.ground import QUICK, TAR, archives, get, nothing_left, redist

from cudnn_redist.errors import TransferError, TransientTransferError

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

    from cudnn_redist.source.http import HttpSource

NAME = "redistrib_9.27.0.json"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def read(source: HttpSource, server: RedistServer) -> bytes:
    return source.read_manifest(redist(server) + NAME)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02\x16",
        b"HTTP/1.1 20 OK\r\n\r\n{}",
        b"HTTP/1.1 2000 OK\r\n\r\n{}",
        b"HTTP/1.1 \r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
        OK + b"no colon here\r\n\r\n{}",
        OK + b"X: a\0b\r\n\r\n{}",
        OK + b": nameless\r\n\r\n{}",
        OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n{}",
        OK + b"".join(b"X-%d: y\r\n" % number for number in range(20_000)),
        OK + b"Content-Length: -5\r\n\r\n{}",
        OK + b"Content-Length: five\r\n\r\n{}",
        OK + b"Content-Length: 2, 3\r\n\r\n{}",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
        OK + b"Content-Length: 1000\r\n\r\n{}",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"f" * 30 + b"\r\n{}",
        CHUNKED + b"2\r\n{}XX0\r\n\r\n",
        CHUNKED + b"2\r\n{}\r\n",
        CHUNKED + b"2\r\n{}\r\n0\r\nTrailer: \0\r\n\r\n",
    ],
    ids=[
        *("nothing", "blank", "ssh", "tls-alert", "short-status", "long-status", "no-status"),
        *("only-100s", "no-colon", "nul", "nameless", "long-header", "endless-headers"),
        *("negative-length", "length-word", "two-lengths", "length-twice", "huge-length", "longer-length"),
        *("other-coding", "chunk-word", "negative-chunk", "huge-chunk", "chunk-overrun", "no-last-chunk"),
        "bad-trailer",
    ],
)
def test_what_is_no_http_is_an_error_of_the_line(
    answer: bytes, redist_server: RedistServer, source: HttpSource
) -> None:
    redist_server.always(NAME, Raw(answer))
    with pytest.raises(TransferError) as caught:
        read(source, redist_server)

    assert caught.value.where == redist(redist_server) + NAME
    assert caught.value.cause
    transient = isinstance(caught.value, TransientTransferError)
    assert len(redist_server.log) == (1 + QUICK.retries if transient else 1)


@pytest.mark.parametrize(
    "frame",
    [
        lambda data: OK + b"Content-Length: %d\r\n\r\n" % len(data) + data,
        lambda data: OK + b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (len(data), len(data)) + data,
        lambda data: OK + b"Content-Length: %d\r\n\r\n" % len(data) + data + b"surplus",
        lambda data: b"HTTP/1.0 200 OK\r\n\r\n" + data,
        lambda data: b"HTTP/1.1 200\r\nConnection: close\r\n\r\n" + data,
        lambda data: b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + OK + b"\r\n" + data,
        lambda data: CHUNKED + b"%X;name=value\r\n" % len(data) + data + b"\r\n0\r\nTrailer: yes\r\n\r\n",
        lambda data: CHUNKED + b"".join(b"1\r\n%c\r\n" % byte for byte in data) + b"0\r\n\r\n",
        lambda data: OK.replace(b"\r\n", b"\n") + b"Content-Length: %d\n\n" % len(data) + data,
    ],
    ids=[
        "plain",
        "same-length-twice",
        "surplus",
        "1.0",
        "no-reason",
        "103",
        "extension",
        "one-by-one",
        "bare-lf",
    ],
)
def test_what_is_unusual_is_understood(
    frame: object, redist_tree: RedistTree, redist_server: RedistServer, source: HttpSource
) -> None:
    data = redist_tree.manifest_path("9.27.0").read_bytes()
    redist_server.always(NAME, Raw(frame(data)))  # type: ignore[operator]

    assert read(source, redist_server) == data


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        CHUNKED + b"zz\r\n{}",
        CHUNKED + b"5\r\nabcde\r\n",
        b"HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\n",
    ],
    ids=["nothing", "length-twice", "chunk-word", "no-last-chunk", "206-unasked"],
)
def test_an_archive_survives_one_such_answer(
    answer: bytes, redist_server: RedistServer, tmp_path: Path
) -> None:
    """Bytes that came before it broke are of no worth where they are not the archive's: one clean start tells."""
    redist_server.fail(TAR, Raw(answer))
    if b"206" in answer:
        with pytest.raises(TransferError, match="wrong answer"):
            get(redist(redist_server), root=tmp_path)
        assert nothing_left(tmp_path)
        return

    assert get(redist(redist_server), root=tmp_path).verify() == ()
    assert len(archives(redist_server)) in (2, 3)
