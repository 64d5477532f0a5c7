"""Index pages, as web servers make them: for browsers, and for our own reader of labels. Pure."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["INDEX_NAME", "index_pages"]

INDEX_NAME = "index.html"


def index_pages(places: Iterable[str]) -> dict[str, bytes]:
    """Return a page for each directory that the files at ``places`` lie in, and for the one above all, by its place."""
    entries: dict[str, set[str]] = {"": set()}
    for place in places:
        names = place.split("/")
        for depth, name in enumerate(names):
            folder = "".join(f"{each}/" for each in names[:depth])
            entries.setdefault(folder, set()).add(name if depth == len(names) - 1 else f"{name}/")
    return {folder + INDEX_NAME: _page(f"/{folder}", names) for folder, names in entries.items()}


def _page(folder: str, names: Iterable[str]) -> bytes:
    """Return a page in the shape of NVIDIA's: links to directories, which end in a slash, before those to files."""
    ordered = sorted(names, key=lambda name: (not name.endswith("/"), _natural(name)))
    above = [] if folder == "/" else ["../"]
    links = "\n".join(
        f'<li><a href="{quote(name)}">{html.escape(name)}</a></li>' for name in (*above, *ordered)
    )
    title = html.escape(f"Index of {folder}")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n<h1>{title}</h1>\n<ul>\n{links}\n</ul>\n</body>\n</html>\n"
    ).encode()


def _natural(name: str) -> list[tuple[int, str]]:
    """Order 9.9.0 before 9.10.0."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)]
