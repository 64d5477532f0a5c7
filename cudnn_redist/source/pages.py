"""Telling a page from an archive by its first bytes: a header may be missing, or say what it likes. Pure."""

from __future__ import annotations

import codecs

__all__ = ["HEAD_SIZE", "is_page"]

HEAD_SIZE = 512


def is_page(head: bytes) -> bool:
    """Whether these first bytes are text: every kind of archive has some among its own that no text has."""
    try:
        # The last letter may be cut.
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text) and all(each.isprintable() or each in "\t\r\n\f" for each in text)
