from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudnn_redist.errors import ManifestError, UsageError
from cudnn_redist.locations import NVIDIA_ROOT, Folder, folders, local_path, redacted

if TYPE_CHECKING:
    from pathlib import Path


def folder(url: str, query: str = "") -> Folder:
    return Folder(url=url, tree=url, query=query)


@pytest.mark.parametrize(
    ("base", "relative", "joined"),
    [
        ("http://h/a/redist/", "cudnn/x.tar.xz", "http://h/a/redist/cudnn/x.tar.xz"),
        ("http://h:8080/redist/", "cudnn/x.tar.xz", "http://h:8080/redist/cudnn/x.tar.xz"),
        ("http://h/a/b/redist/", "../../pool/x.tar.xz", "http://h/a/pool/x.tar.xz"),
        ("http://h/redist/", "../../../../x", "http://h/x"),
        ("http://h/redist/", "a/%2e%2e/x", "http://h/redist/a/%2e%2e/x"),
        ("http://h/redist/", "a b/x?y#z", "http://h/redist/a%20b/x%3Fy%23z"),
        ("http://h/redist/", "caf\u00e9/x", "http://h/redist/caf%C3%A9/x"),
        ("http://u:p@h/redist/", "x", "http://u:p@h/redist/x"),
    ],
    ids=["plain", "port", "climbs", "climbs-too-far", "encoded-kept", "reserved", "accent", "login"],
)
def test_a_path_joins_as_a_browser_would(base: str, relative: str, joined: str) -> None:
    assert folder(base).join(relative) == joined


@pytest.mark.parametrize(
    "relative",
    [
        "/etc/x",
        "//evil/x",
        "http://evil/x",
        "file:///etc/x",
        " http://evil/x",
        "ht\ntp://evil/x",
        "//[x",
        "a\\..\\x",
        "a%5c..%5cx",
        "a\x00b",
        "a%00b",
        "a\nb",
        "\ud800",
    ],
)
@pytest.mark.parametrize("base", ["http://h/redist/", "file:///srv/redist/"])
def test_a_path_that_is_not_relative_is_refused(base: str, relative: str) -> None:
    with pytest.raises(ManifestError) as caught:
        folder(base).join(relative)

    assert caught.value.phase == "plan"


@pytest.mark.parametrize(
    "relative", ["../x", "a/../../x", "%2e%2e/x", "a/%2E%2e/..%2fx", "..", "../redist-of-others/x"]
)
def test_a_directory_source_is_not_left(relative: str) -> None:
    with pytest.raises(ManifestError, match="leaves the source"):
        folder("file:///srv/redist/").join(relative)


def test_a_path_may_climb_inside_a_directory_source() -> None:
    below = Folder(url="file:///srv/mirror/cudnn/redist/", tree="file:///srv/mirror/")

    assert below.join("../../pool/x") == "file:///srv/mirror/pool/x"


@given(relative=st.one_of(st.text(max_size=40), st.text(alphabet="./\\%2eE5cCfF:@?#;[]ab \t\n", max_size=40)))
def test_no_path_leaves_scheme_and_host(relative: str) -> None:
    base = "https://user:secret@mirror.example:8443/a/redist/"
    try:
        joined = folder(base).join(relative)
    except ManifestError:
        return

    assert urlsplit(joined)[:2] == urlsplit(base)[:2]
    sent = httpx.URL(joined)
    assert (sent.scheme, sent.host, sent.port) == ("https", "mirror.example", 8443)


@given(relative=st.one_of(st.text(max_size=40), st.text(alphabet="./\\%2eE5cCfF:@?#;[]ab \t\n", max_size=40)))
def test_no_path_leaves_a_directory(relative: str) -> None:
    try:
        joined = folder("file:///srv/mirror/").join(relative)
    except ManifestError:
        return

    path = os.path.normpath(local_path(joined))
    assert f"{path}/".startswith("/srv/mirror/")
    assert "\0" not in unquote(joined)


@pytest.mark.parametrize("source", ["http://h/a/redist", "http://h/a/redist/", "HTTP://h/a/redist?t=1"])
def test_a_redist_folder_is_the_only_place(source: str) -> None:
    (found,) = folders(source, "cudnn")

    assert found.url == "http://h/a/redist/"


def test_a_root_is_looked_into_before_the_products_folder() -> None:
    itself, below = folders("http://h/mirror", "cutensor")

    assert (itself.url, below.url) == ("http://h/mirror/", "http://h/mirror/cutensor/redist/")


def test_nvidias_root_has_products_only() -> None:
    (found,) = folders(NVIDIA_ROOT.rstrip("/"), "cudnn")

    assert found.url == NVIDIA_ROOT + "cudnn/redist/"


def test_a_query_goes_with_every_request_and_is_no_part_of_the_path() -> None:
    for found in folders("https://h/mirror?token=abc&x=1", "cudnn"):
        assert found.join("a/x.json") == f"{found.url}a/x.json?token=abc&x=1"
        assert found.index_url == f"{found.url}?token=abc&x=1"


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("a b \u00fc", "a%20b%20%C3%BC"),
        ("a%20b", "a%20b"),
        ('[x]{y}|^"', "%5Bx%5D%7By%7D%7C%5E%22"),
        ("it's(1)~@2,3;v=1+2", "it's(1)~@2,3;v=1+2"),
        ("\udcff", "%FF"),
    ],
    ids=["blank-and-letter", "encoded", "brackets", "allowed", "no-utf-8"],
)
def test_a_web_source_is_as_a_browser_would_send_it(typed: str, sent: str) -> None:
    for found in folders(f" http://u:p@h:1/{typed}?t={typed}&u=1 ", "cudnn"):
        assert found.tree == f"http://u:p@h:1/{sent}/"
        assert found.join("x") == f"{found.url}x?t={sent}&u=1"
        assert folders(found.tree, "cudnn")[0].url == found.tree


@pytest.mark.parametrize("form", [str, "file://{}".format, "file://localhost{}".format, "file:{}".format])
def test_a_directory_may_be_given_as_path_or_url(form: object, tmp_path: Path) -> None:
    assert callable(form)
    itself, _ = folders(form(tmp_path), "cudnn")

    assert itself.local
    assert local_path(itself.url) == tmp_path


def test_a_relative_directory_is_found_behind_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/inner")
    monkeypatch.chdir(tmp_path)

    itself, _ = folders("link/../mirror", "cudnn")

    assert local_path(itself.join("x")) == tmp_path / "real/mirror/x"


@pytest.mark.parametrize(
    "name", ["with space", "per%20cent", "quest?ion", "ha#sh", "caf\u00e9", "semi;colon"]
)
def test_a_directory_may_have_any_name(name: str, tmp_path: Path) -> None:
    itself, _ = folders(str(tmp_path / name), "cudnn")

    assert local_path(itself.join("a b/x")) == tmp_path / name / "a b/x"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "  ",
        "a\x00b",
        "http://",
        "https:///x",
        "https:/user:secret@h/",
        "http://[::1",
        "http://h:port/",
        "http://h:99999/",
        "http://h:0/",
        "http://user:sec#ret@h/",
        "ftp://user:secret@h/",
        "s3://bucket/x",
        "file://elsewhere/x",
        "file://[x",
        "file:///%00",
        "file:///srv/a%00b",
    ],
)
def test_a_source_that_makes_no_sense_is_a_usage_error(source: str) -> None:
    with pytest.raises(UsageError) as caught:
        folders(source, "cudnn")

    assert "sec" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://u:p@h:8/x?token=1#f", "https://h:8/x"),
        ("https://h/x", "https://h/x"),
        ("file:///srv/x", "file:///srv/x"),
        ("/srv/x?y", "/srv/x?y"),
        ("http://u:p@[bad", "http://..."),
    ],
    ids=["all", "nothing", "file", "path", "unreadable"],
)
def test_what_is_told_of_a_url(url: str, told: str) -> None:
    assert redacted(url) == told


def test_a_path_that_is_refused_does_not_tell_the_login() -> None:
    with pytest.raises(ManifestError) as caught:
        folder("https://u:secret@h/redist/").join("/x")

    assert "secret" not in str(caught.value)
    assert caught.value.where == "https://h/redist/"
