"""Index pages -> labels. Pure, and in time that grows no faster than the page, which a stranger sends.

``html.parser`` is not fit for that: Python 3.11's takes half a minute for 60 KB of ``<a <a <a``, asserts what may
follow ``<![``, and raises ``ValueError`` for a character reference of some thousand digits.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..manifest.labels import ReleaseLabel, label_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["labels_of_page"]

# What hides its content, or the attributes of a link. A comment or script that nothing ends goes on to the end.
_MARKUP = re.compile(
    r"""
    <!--(?: -?> | .*?(?: --!?> | \Z))
    | <(?P<hiding>script|style)(?=[\s/>]) .*?(?: </(?P=hiding) | \Z)
    | <a(?=[\s/]) (?P<link>[^<>]*+)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""
    (?P<name>[^\s"'/=]++)
    (?: \s*+ = \s*+ (?: "(?P<double>[^"]*+)" | '(?P<single>[^']*+)' | (?P<bare>[^\s"']++)))?
    """,
    re.VERBOSE,
)


def labels_of_page(page: str) -> tuple[ReleaseLabel, ...]:
    """Return the labels whose manifests an HTML index links to, newest last.

    Only link targets count: the visible text may be shortened (nginx and Apache cut long names), and targets may
    be relative, absolute or percent-encoded.
    """
    return tuple(sorted({label for target in _targets(page) if (label := label_of(_file_name(target)))}))


def _targets(page: str) -> Iterator[str]:
    """Yield the link targets as the page spells them."""
    for markup in _MARKUP.finditer(page):
        for attribute in _ATTRIBUTE.finditer(markup["link"] or ""):
            if attribute["name"].lower() == "href":
                yield attribute["double"] or attribute["single"] or attribute["bare"] or ""


def _file_name(target: str) -> str:
    try:
        path = urlsplit(html.unescape(target)).path
    except ValueError:
        return ""
    return unquote(path).rpartition("/")[2]
