"""Where the bytes begin in an answer: the asked bytes, all of them, or a refusal; never by guessing (C26, C29)."""

from __future__ import annotations

import pytest

from cudnn_redist.errors import TransferError
from cudnn_redist.source.answer import Answer, body_of
from cudnn_redist.source.base import RangeRefused

URL = "https://mirror.example/x.tar.xz"
MULTIPART = {"content-type": "multipart/byteranges; boundary=x"}


def answer(status: int, headers: dict[str, str]) -> Answer:
    return Answer(status=status, reason="", headers=headers, url=URL, via="", raw=lambda: iter([b"x"]))


@pytest.mark.parametrize(
    ("headers", "total"),
    [
        ({"content-range": "bytes 100-999/1000"}, 1000),
        ({"content-range": "bytes 100-499/1000"}, 1000),
        ({"content-range": "bytes 100-999/*"}, None),
        ({"content-range": "  BYTES  100-999/1000 "}, 1000),
        ({"content-range": "bytes 100-999/1000", "etag": '"v"'}, 1000),
        ({"content-range": "bytes 100-999/1000", "etag": 'W/"v"'}, 1000),
        ({"content-range": "bytes 100-999/1000", "last-modified": "another"}, 1000),
    ],
    ids=[
        "whole-rest",
        "a-part",
        "untold-total",
        "odd-spelling",
        "same-etag",
        "weakened-etag",
        "date-unasked",
    ],
)
def test_the_asked_bytes(headers: dict[str, str], total: int | None) -> None:
    body = body_of(answer(206, headers), offset=100, validator='"v"')

    assert (body.start, body.total, list(body)) == (100, total, [b"x"])


@pytest.mark.parametrize(
    ("status", "headers", "total"),
    [
        (206, {"content-range": "bytes 0-999/1000"}, None),
        (206, {"content-range": "bytes 99-999/1000"}, None),
        (206, {"content-range": "bytes 101-999/1000"}, None),
        (206, {"content-range": "bytes */1000"}, None),
        (206, {"content-range": "bytes 100-/1000"}, None),
        (206, {"content-range": "bytes -100-999/1000"}, None),
        (206, {"content-range": "bytes 100-999"}, None),
        (206, {"content-range": "items 100-999/1000"}, None),
        (206, {"content-range": "bytes 100-199/1000, bytes 300-399/1000"}, None),
        (206, {"content-range": f"bytes {'9' * 5000}-9/1000"}, None),
        (206, {}, None),
        (206, MULTIPART, None),
        (206, {"content-range": "bytes 100-999/1000", "etag": '"w"'}, None),
        (416, {"content-range": "bytes */100"}, 100),
        (416, {"content-range": "bytes */*"}, None),
        (416, {}, None),
    ],
)
def test_other_bytes_are_refused(status: int, headers: dict[str, str], total: int | None) -> None:
    with pytest.raises(RangeRefused) as caught:
        body_of(answer(status, headers), offset=100, validator='"v"')

    assert (caught.value.where, caught.value.total) == (URL, total)


@pytest.mark.parametrize(
    ("headers", "total"),
    [
        ({"content-length": "1000"}, 1000),
        ({"content-length": "1000", "content-range": "bytes 100-999/1000"}, 1000),
        ({}, None),
    ],
    ids=["length", "with-a-range", "untold"],
)
@pytest.mark.parametrize("offset", [0, 100])
def test_the_whole_begins_at_its_first_byte(headers: dict[str, str], total: int | None, offset: int) -> None:
    body = body_of(answer(200, headers), offset=offset, validator=None)

    assert (body.start, body.total) == (0, total)


def test_a_date_that_changed_is_another_file() -> None:
    headers = {"content-range": "bytes 100-999/1000", "last-modified": "Wed, 21 Oct 2026 07:28:00 GMT"}
    with pytest.raises(RangeRefused):
        body_of(answer(206, headers), offset=100, validator="Tue, 20 Oct 2026 07:28:00 GMT")


@pytest.mark.parametrize("status", [300, 304, 400, 403, 500])
def test_what_is_no_success_is_no_body(status: int) -> None:
    with pytest.raises(TransferError) as caught:
        body_of(answer(status, {}), offset=100, validator=None)

    assert caught.value.status == status
