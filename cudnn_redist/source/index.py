"""Index pages -> labels. Pure."""

from __future__ import annotations

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
    links.feed(page)
    names = (unquote(urlsplit(target).path).rpartition("/")[2] for target in links.targets)
    return tuple(sorted({label for name in names if (label := label_of(name))}))


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.targets.extend(value for name, value in attrs if name == "href" and value)
