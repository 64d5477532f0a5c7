"""Index pages -> labels. Pure."""

from __future__ import annotations

import contextlib
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from ..manifest.labels import ReleaseLabel, label_of

__all__ = ["labels_of_page"]


def labels_of_page(page: str) -> tuple[ReleaseLabel, ...]:
    """Return the labels whose manifests an HTML index links to, newest last.

    Only link targets count: the visible text may be shortened (nginx and Apache cut long names), and targets may
    be relative, absolute or percent-encoded.
    """
    links = _Links()
    # The parser of Python 3.11 and 3.12 asserts that what follows "<![" is a keyword it knows; the links before count.
    with contextlib.suppress(AssertionError):
        links.feed(page)
        links.close()
    return tuple(sorted({label for target in links.targets if (label := label_of(_file_name(target)))}))


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.targets.extend(value for name, value in attrs if name == "href" and value)


def _file_name(target: str) -> str:
    try:
        path = urlsplit(target).path
    except ValueError:
        return ""
    return unquote(path).rpartition("/")[2]
