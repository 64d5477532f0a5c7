from __future__ import annotations

import hashlib

import pytest

from cudnn_redist.digest import Expected, Judge
from cudnn_redist.errors import DigestMismatch, SizeMismatch

DATA = b"the promised bytes"
SHA256 = hashlib.sha256(DATA).hexdigest()


def judge(size: int | None = len(DATA)) -> Judge:
    return Judge(Expected(sha256=SHA256, size=size), where="http://mirror/x.tar.xz")


@pytest.mark.parametrize("size", [len(DATA), None], ids=["size-promised", "size-unknown"])
def test_the_promised_bytes_in_any_pieces(size: int | None) -> None:
    good = judge(size)
    good.update(DATA[:3])
    good.update(b"")
    good.update(memoryview(DATA)[3:])
    good.verdict()
    assert good.received == len(DATA)


def test_the_first_surplus_byte_ends_it() -> None:
    bad = judge()
    bad.update(DATA)
    with pytest.raises(SizeMismatch) as caught:
        bad.update(b"!")
    assert (caught.value.expected, caught.value.actual) == (len(DATA), len(DATA) + 1)
    assert caught.value.where == "http://mirror/x.tar.xz"


@pytest.mark.parametrize("received", [b"", DATA[:-1]], ids=["nothing", "one-short"])
def test_too_few_bytes_are_told_as_such(received: bytes) -> None:
    bad = judge()
    bad.update(received)
    with pytest.raises(SizeMismatch, match=f"{len(received)} bytes, expected {len(DATA)}") as caught:
        bad.verdict()
    assert (caught.value.expected, caught.value.actual) == (len(DATA), len(received))


@pytest.mark.parametrize("size", [len(DATA), None], ids=["size-promised", "size-unknown"])
def test_other_bytes_of_the_right_number(size: int | None) -> None:
    bad = judge(size)
    other = DATA[::-1]
    bad.update(other)
    with pytest.raises(DigestMismatch) as caught:
        bad.verdict()
    assert caught.value.expected == SHA256
    assert caught.value.actual == hashlib.sha256(other).hexdigest()
