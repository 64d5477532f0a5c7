"""C21: from a base and a manifest's path to the URL on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL, Fetch
from redist import RedistServer, RedistTree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def point_at(tree: RedistTree, relative_path: str, file: str | None = None) -> None:
    """Let the manifest name its archive so; it lies at ``file``, seen from the manifest."""
    if file is not None:
        place = tree.redist / file
        place.parent.mkdir(parents=True, exist_ok=True)
        tree.archive_path(LABEL).rename(place)
    entry = ("cudnn", "linux-x86_64", "cuda13")
    tree.edit_manifest(
        LABEL, lambda node: node[entry[0]][entry[1]][entry[2]].update(relative_path=relative_path)
    )


@pytest.fixture
def deep_tree(tmp_path: Path) -> RedistTree:
    """A tree below two folders, so that there is room to climb in."""
    tree = RedistTree(tmp_path / "served/a%b/c")
    tree.add_release(LABEL)
    return tree


@pytest.fixture
def server(deep_tree: RedistTree, tmp_path: Path) -> Iterator[RedistServer]:
    assert deep_tree.redist.is_relative_to(tmp_path)
    with RedistServer(tmp_path / "served") as server:
        yield server


BASE = "a%25b/c/cudnn/redist"


@pytest.mark.parametrize(
    ("base", "relative_path", "file", "target"),
    [
        (BASE, "cudnn/x.tar.xz", "cudnn/x.tar.xz", f"/{BASE}/cudnn/x.tar.xz"),
        (f"{BASE}/", "cudnn/x.tar.xz", "cudnn/x.tar.xz", f"/{BASE}/cudnn/x.tar.xz"),
        (BASE, "../x.tar.xz", "../x.tar.xz", "/a%25b/c/cudnn/x.tar.xz"),
        (BASE, "../../../pool/x.tar.xz", "../../../pool/x.tar.xz", "/a%25b/pool/x.tar.xz"),
        (BASE, "../../../../../x.tar.xz", "../../../../x.tar.xz", "/x.tar.xz"),
        (BASE, "a/%2e%2e/x.tar.xz", "x.tar.xz", f"/{BASE}/a/%2e%2e/x.tar.xz"),
        (BASE, "a%2Fb/x.tar.xz", "a/b/x.tar.xz", f"/{BASE}/a%2Fb/x.tar.xz"),
        (BASE, "./a/x+y~z.tar.xz", "a/x+y~z.tar.xz", f"/{BASE}/a/x+y~z.tar.xz"),
        (BASE, "a b/\u00e9.tar.xz", "a b/\u00e9.tar.xz", f"/{BASE}/a%20b/%C3%A9.tar.xz"),
    ],
)
def test_C21_a_path_is_joined_as_a_url(
    *,
    deep_tree: RedistTree,
    server: RedistServer,
    root: Path,
    base: str,
    relative_path: str,
    file: str,
    target: str,
) -> None:
    point_at(deep_tree, relative_path, file)
    Fetch(root, f"{server.url}{base}").installed()
    assert [request.target for request in server.requests(".xz")] == [target]


REFUSED = (
    "/etc/x.tar.xz",
    "//evil.example/x.tar.xz",
    "http://evil.example/x.tar.xz",
    "https:x.tar.xz",
    "file:///etc/x.tar.xz",
    "a/%5c%5cevil/x.tar.xz",
    "a%0d%0aHost:%20evil/x.tar.xz",
)


@pytest.mark.parametrize("relative_path", REFUSED)
def test_C21_a_path_that_names_another_place_is_refused_before_any_request(
    deep_tree: RedistTree, server: RedistServer, root: Path, relative_path: str
) -> None:
    point_at(deep_tree, relative_path)
    told = Fetch(root, f"{server.url}{BASE}/").refused(6)
    assert "is not relative to the manifest" in told
    assert [request.path.rpartition(".")[2] for request in server.log] == ["json"]
    assert not root.exists()


@pytest.mark.parametrize(
    "relative_path",
    ["../x.tar.xz", "a/../../x.tar.xz", "%2e%2e/x.tar.xz", "a/%2E./.%2e/x.tar.xz", "..%2fx.tar.xz"],
)
def test_C21_no_path_leaves_a_directory_source(deep_tree: RedistTree, root: Path, relative_path: str) -> None:
    point_at(deep_tree, relative_path, "../x.tar.xz")
    told = Fetch(root, deep_tree.redist).refused(6)
    assert "leaves the source" in told
    assert not root.exists()


@pytest.mark.parametrize("relative_path", ["../x.tar.xz", "%2e%2e/x.tar.xz"])
def test_C21_climbing_inside_a_directory_source_is_legal(
    deep_tree: RedistTree, root: Path, relative_path: str
) -> None:
    point_at(deep_tree, relative_path, "../x.tar.xz")
    Fetch(root, deep_tree.path).installed()
