"""Index pages as real servers print them: links, order, dates and sizes; looks are left out.

nginx: the autoindex module. Apache: mod_autoindex with FancyIndexing and HTMLTable. Python: ``http.server``.
NVIDIA: items, order and quotes as on developer.download.nvidia.com, sizes rounded up to blocks of 4 KB.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Item:
    """One line of an index; ``name`` of a directory ends in a slash, and has no size."""

    name: str
    size: int | None
    modified: datetime

    @property
    def href(self) -> str:
        return quote(self.name)

    @property
    def text(self) -> str:
        return html.escape(self.name, quote=False)


def index_page(dialect: str, directory: Path, url_path: str) -> str:
    """Return the HTML of a directory's index in ``nginx``, ``apache``, ``python`` or ``nvidia`` fashion."""
    items = [_item(path) for path in directory.iterdir() if not path.name.startswith(".")]
    items.sort(key=lambda item: (item.size is not None, item.name))
    return _DIALECTS[dialect](items, url_path)


def _item(path: Path) -> Item:
    found = path.stat()
    modified = datetime.fromtimestamp(found.st_mtime, UTC)
    return (
        Item(f"{path.name}/", None, modified) if path.is_dir() else Item(path.name, found.st_size, modified)
    )


def _nginx(items: list[Item], url_path: str) -> str:
    lines = []
    for item in items:
        shown = item.name if len(item.name) <= 50 else f"{item.name[:47]}..>"
        pad = " " * (51 - len(shown))
        size = "-" if item.size is None else str(item.size)
        link = f'<a href="{item.href}">{html.escape(shown)}</a>'
        lines.append(f"{link}{pad}{item.modified:%d-%b-%Y %H:%M}{size:>20}\r\n")
    title = f"Index of {html.escape(url_path)}"
    return (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<h1>{title}</h1><hr>"
        f'<pre><a href="../">../</a>\r\n{"".join(lines)}</pre><hr></body>\r\n</html>\r\n'
    )


def _apache(items: list[Item], url_path: str) -> str:
    columns = "".join(
        f'<th><a href="?C={key};O={order}">{name}</a></th>'
        for key, order, name in (("N", "D", "Name"), ("M", "A", "Last modified"), ("S", "A", "Size"))
    )
    parent = html.escape(quote(f"{url_path.rstrip('/').rpartition('/')[0]}/"))
    rows = [
        f'<tr><td><a href="{parent}">Parent Directory</a></td><td>&nbsp;</td><td align="right">  - </td></tr>'
    ]
    for item in items:
        size = "  - " if item.size is None else _rounded(item.size, 1024, "K", "M").rjust(4)
        rows.append(
            f'<tr><td><a href="{item.href}">{item.text}</a></td>'
            f'<td align="right">{item.modified:%Y-%m-%d %H:%M}  </td><td align="right">{size}</td></tr>'
        )
    title = f"Index of {html.escape(url_path.rstrip('/') or '/')}"
    return (
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">\n'
        f"<html>\n <head>\n  <title>{title}</title>\n </head>\n <body>\n<h1>{title}</h1>\n  <table>\n"
        f"   <tr>{columns}</tr>\n{chr(10).join(rows)}\n</table>\n</body></html>\n"
    )


def _python(items: list[Item], url_path: str) -> str:
    items = sorted(items, key=lambda item: item.name.lower())
    links = "\n".join(f'<li><a href="{item.href}">{item.text}</a></li>' for item in items)
    title = f"Directory listing for {html.escape(url_path)}"
    return (
        '<!DOCTYPE HTML>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n<hr>\n<ul>\n{links}\n</ul>\n<hr>\n</body>\n</html>\n"
    )


def _nvidia(items: list[Item], url_path: str) -> str:
    items = sorted(items, key=lambda item: (item.size is not None, _natural(item.name)))
    rows = ["<li><span class='dir'><a href='..'>..</a></span></li>"]
    for item in items:
        if item.size is None:
            rows.append(f"<li><span class='dir'><a href='{item.href}'>{item.text}</a></span></li>")
            continue
        blocks = -(-item.size // 4096) * 4096
        rows.append(
            f"<li><span class='file'><a href='{item.href}'>{item.text}</a></span>"
            f"<span class='size'>{_rounded(blocks, 1024, 'KB', 'MB')}</span>"
            f"<span class='date'>{item.modified:%Y-%m-%d %H:%M}</span></li>"
        )
    title = f"Index of /compute{html.escape(url_path.rstrip('/'))}"
    return (
        f"<!DOCTYPE html>\n<html>\n<head>\n<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"<ul>\n{chr(10).join(rows)}\n</ul>\n</body>\n</html>\n"
    )


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Order 9.9.0 before 9.10.0."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _rounded(size: int, step: int, *units: str) -> str:
    if size < step and units[0] == "K":
        return str(size)
    value, unit = size / step, 0
    while value >= step and unit + 1 < len(units):
        value, unit = value / step, unit + 1
    return f"{value:.1f}{units[unit]}" if value < 10 else f"{value:.0f}{units[unit]}"


_DIALECTS: dict[str, Callable[[list[Item], str], str]] = {
    "nginx": _nginx,
    "apache": _apache,
    "python": _python,
    "nvidia": _nvidia,
}
