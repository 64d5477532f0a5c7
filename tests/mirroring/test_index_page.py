from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest

from cudnn_redist.mirroring.index_page import index_pages
from cudnn_redist.source.index import labels_of_page

PLACES = (
    "cudnn/redist/redistrib_9.9.0.json",
    "cudnn/redist/redistrib_9.10.0.json",
    "cudnn/redist/cudnn/linux-x86_64/a.tar.xz",
    "cutensor/redist/redistrib_2.3.0.json",
)


def links(page: bytes) -> list[str]:
    return re.findall(r'href="([^"]*)"', page.decode())


def test_every_directory_has_a_page() -> None:
    assert sorted(index_pages(PLACES)) == [
        "cudnn/index.html",
        "cudnn/redist/cudnn/index.html",
        "cudnn/redist/cudnn/linux-x86_64/index.html",
        "cudnn/redist/index.html",
        "cutensor/index.html",
        "cutensor/redist/index.html",
        "index.html",
    ]


def test_links_lead_from_the_top_to_every_file() -> None:
    pages = {f"/{place.removesuffix('index.html')}": page for place, page in index_pages(PLACES).items()}
    reached, ahead = set[str](), ["/"]
    while ahead:
        here = ahead.pop()
        if here not in reached:
            reached.add(here)
            ahead.extend(urljoin(here, link) for link in links(pages.get(here, b"")))

    assert reached == {*pages, *(f"/{place}" for place in PLACES)}


def test_our_own_reader_finds_the_labels() -> None:
    page = index_pages(PLACES)["cudnn/redist/index.html"].decode()

    assert [label.text for label in labels_of_page(page)] == ["9.9.0", "9.10.0"]


def test_directories_come_first_and_9_9_before_9_10() -> None:
    assert links(index_pages(PLACES)["cudnn/redist/index.html"]) == [
        "../",
        "cudnn/",
        "redistrib_9.9.0.json",
        "redistrib_9.10.0.json",
    ]


@pytest.mark.parametrize("name", ["a b", 'a"b', "<b>", "a:b", "a#b?c", "\u00e9"])
def test_an_odd_name_breaks_no_page(name: str) -> None:
    page = index_pages([f"{name}/x"])["index.html"]

    assert "<b>" not in page.decode()
    (link,) = links(page)
    assert re.fullmatch(r"[A-Za-z0-9%._-]+/", link)


def test_nothing_at_all_is_an_empty_page() -> None:
    assert list(index_pages([])) == ["index.html"]
