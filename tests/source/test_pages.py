"""Text is no archive, and no archive is text."""

from __future__ import annotations

import pytest
from redist import File
from redist.archives import KINDS, pack

from cudnn_redist.source.pages import HEAD_SIZE, is_page


@pytest.mark.parametrize(
    "head",
    [b"<html>\r\n", b"TLS handshake failed", "Fehler: \u00fcberlastet\f".encode(), "caf\u00e9".encode()[:-1]],
    ids=["html", "one line", "letters", "a letter cut"],
)
def test_text_is_a_page(head: bytes) -> None:
    assert is_page(head)


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_archive_is_a_page(kind: str) -> None:
    data = pack(kind, "cudnn-archive", {"LICENSE": File(b"licence\n" * 100)})
    assert not is_page(data[:HEAD_SIZE])


def test_nothing_is_no_page() -> None:
    assert not is_page(b"")
