"""An index page, as web servers make them: for browsers, and for our own reader of labels. Pure."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["index_page"]


def index_page(title: str, names: Iterable[str]) -> bytes:
    """Return a page that links to ``names``, in their order; a directory's name ends in a slash."""
    links = "\n".join(f'<li><a href="{quote(name)}">{html.escape(name)}</a></li>' for name in names)
    shown = html.escape(title)
    text = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{shown}</title></head>\n'
        f"<body>\n<h1>{shown}</h1>\n<ul>\n{links}\n</ul>\n</body>\n</html>\n"
    )
    return text.encode()
