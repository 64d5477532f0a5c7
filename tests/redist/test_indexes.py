from __future__ import annotations

import os
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from redist import RedistServer, RedistTree
from redist.raw_client import ask

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("9.9.0", "9.10.0", "9.27.0")


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.hrefs += [value or "" for name, value in attrs if name == "href"]


@pytest.fixture
def tree(tmp_path: Path) -> RedistTree:
    tree = RedistTree(tmp_path)
    for label in LABELS:
        tree.add_release(label, platforms=("linux-x86_64",), variants=("cuda13",))
    (tree.redist / "a name & more.txt").write_text("x")
    return tree


@pytest.mark.parametrize("dialect", ["nginx", "apache", "python", "nvidia"])
def test_every_link_of_an_index_leads_somewhere(tree: RedistTree, dialect: str) -> None:
    with RedistServer(tree.path, index=dialect) as server:
        url = server.url + "cudnn/redist/"
        links = Links()
        links.feed(ask(url).body.decode())
        named = [href for href in links.hrefs if href.endswith(".json")]
        assert sorted(named) == sorted(f"redistrib_{label}.json" for label in LABELS)
        assert {ask(urljoin(url, href)).status for href in links.hrefs} <= {200, 301}
        assert "a%20name%20%26%20more.txt" in links.hrefs


NAME = "redistrib_9.9.0.json"
LINES = {
    "nginx": f'<a href="{NAME}">{NAME}</a>{" " * 31}29-Sep-2026 16:00{" " * 17}701\r\n',
    "apache": f'<tr><td><a href="{NAME}">{NAME}</a></td>'
    '<td align="right">2026-09-29 16:00  </td><td align="right"> 701</td></tr>',
    "python": f'<li><a href="{NAME}">{NAME}</a></li>',
    "nvidia": f"<li><span class='file'><a href='{NAME}'>{NAME}</a></span>"
    "<span class='size'>4.0KB</span><span class='date'>2026-09-29 16:00</span></li>",
}


@pytest.mark.parametrize(("dialect", "line"), LINES.items(), ids=LINES)
def test_a_line_looks_as_the_server_writes_it(tree: RedistTree, dialect: str, line: str) -> None:
    path = tree.manifest_path("9.9.0")
    written = path.stat().st_mtime
    path.write_bytes(bytes(701))
    os.utime(path, (written, written))
    with RedistServer(tree.path, index=dialect) as server:
        assert line in ask(server.url + "cudnn/redist/").body.decode()


def test_nvidia_orders_labels_as_numbers(tree: RedistTree) -> None:
    with RedistServer(tree.path, index="nvidia") as server:
        text = ask(server.url + "cudnn/redist/").body.decode()
    assert text.index("_9.9.0") < text.index("_9.10.0") < text.index("_9.27.0")


@pytest.mark.parametrize(("index", "status"), [("forbidden", 403), ("missing", 404)])
def test_a_server_may_have_no_index(tree: RedistTree, index: str, status: int) -> None:
    with RedistServer(tree.path, index=index) as server:
        assert ask(server.url + "cudnn/redist/").status == status
        assert ask(server.url + "cudnn/redist/redistrib_9.9.0.json").status == 200
