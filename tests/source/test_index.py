from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redist.indexes import index_page

from cudnn_redist.manifest import label_of
from cudnn_redist.source.index import labels_of_page

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ["8.9.7.29", "9.1.1", "9.9.0", "9.10.0", "9.10.2", "9.27.0"]
OTHERS = ["redistrib-v2.schema.json", "redistrib_9.27.0_tar.json", "redistrib_.json", "index.html"]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    for label in LABELS:
        (tmp_path / f"redistrib_{label}.json").touch()
    for name in OTHERS:
        (tmp_path / name).touch()
    (tmp_path / "cudnn").mkdir()
    return tmp_path


@pytest.mark.parametrize("dialect", ["nvidia", "nginx", "apache", "python"])
def test_each_dialect_gives_the_labels_oldest_first(dialect: str, published: Path) -> None:
    page = index_page(dialect, published, "/cudnn/redist/")

    assert [label.text for label in labels_of_page(page)] == LABELS


@pytest.mark.parametrize(
    "target",
    [
        "redistrib_9.27.0.json",
        "./redistrib_9.27.0.json",
        "/compute/cudnn/redist/redistrib_9.27.0.json",
        "https://mirror.example/cudnn/redist/redistrib_9.27.0.json?download=1#top",
        "redistrib%5F9.27.0.json",
        "redistrib&#95;9.27.0.json",
    ],
)
def test_a_link_may_be_spelled_in_any_way(target: str) -> None:
    (label,) = labels_of_page(f'<A class=x HREF="{target}">redistrib_9.27..&gt;</A>')

    assert label.text == "9.27.0"


@pytest.mark.parametrize(
    "page",
    [
        "",
        "redistrib_9.27.0.json",
        "<a>redistrib_9.27.0.json</a>",
        "<a href>x</a>",
        '<link href="redistrib_9.27.0.json">',
        '<!-- <a href="redistrib_9.27.0.json">gone</a> -->',
        '<a href="http://[/redistrib_9.27.0.json">x</a>',
        '<a href="redistrib_9.27.0.json/">x</a>',
        '<!-- <a href="redistrib_9.27.0.json">gone</a>',
        "<script>'<a href=redistrib_9.27.0.json>'</script>",
        "<abbr href=redistrib_9.27.0.json>",
        "<a data-href=redistrib_9.27.0.json>",
        "<a title='href=redistrib_9.27.0.json'>",
    ],
    ids=[
        *("empty", "text", "no-target", "bare", "other-tag", "comment", "bad-url", "directory"),
        *("endless-comment", "script", "longer-tag", "longer-attribute", "in-a-value"),
    ],
)
def test_what_is_no_link_to_a_manifest_gives_nothing(page: str) -> None:
    assert labels_of_page(page) == ()


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(f"&#{'9' * 5000};", id="character-of-5000-digits"),
        pytest.param(f'<a href="&#{"9" * 5000};">', id="target-of-5000-digits"),
        pytest.param("<a " * 300_000, id="links-that-never-end"),
        pytest.param("<a href='" * 100_000, id="targets-that-never-end"),
        pytest.param("<!-- " * 200_000, id="comments-that-never-end"),
        pytest.param("<script " * 100_000, id="scripts-that-never-end"),
        pytest.param("<a " + "x = " * 200_000, id="attributes-without-a-value"),
        pytest.param("<a " + " " * 800_000, id="nothing-but-space"),
        pytest.param("<![CDATA[" * 100_000, id="sections-that-never-end"),
    ],
)
def test_a_hostile_page_costs_neither_the_links_before_it_nor_an_age(junk: str) -> None:
    """Where time grew with the square of the page, one of these took hours."""
    (label,) = labels_of_page(f'<a href="redistrib_9.27.0.json" title="a > b">x</a>{junk}')

    assert label.text == "9.27.0"


def test_links_before_broken_markup_count() -> None:
    page = '<a href="redistrib_9.27.0.json">x</a><![broken [ <a href="redistrib_9.1.1.json">'

    assert "9.27.0" in [label.text for label in labels_of_page(page)]


@given(
    page=st.one_of(
        st.text(max_size=300),
        st.lists(
            st.sampled_from(
                [
                    "<a ",
                    "href=",
                    '"',
                    "'",
                    ">",
                    "<!",
                    "<![",
                    "<!--",
                    "]]>",
                    "<?",
                    "&#",
                    "%5",
                    "http://[",
                    "redistrib_",
                    "9.1.1",
                    ".json",
                    "<script>",
                    "</a>",
                    "\x00",
                    " ",
                    "=",
                ]
            ),
            max_size=40,
        ).map("".join),
    )
)
def test_no_page_breaks_it(page: str) -> None:
    labels = labels_of_page(page)

    assert list(labels) == sorted(set(labels))
    assert all(label_of(label.manifest_name) == label for label in labels)
