from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.errors import ManifestError, PrefixError, UsageError
from cudnn_redist.mirroring.listing import LIST_NAME, Listed
from cudnn_redist.mirroring.tree import MirrorTree

if TYPE_CHECKING:
    from pathlib import Path

A, B = Listed(sha256="a" * 64, size=1), Listed(sha256="b" * 64, size=2, original="c" * 64, tree="d" * 64)


def write_list(path: Path, content: object) -> None:
    path.mkdir(exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (path / LIST_NAME).write_bytes(data)


@pytest.mark.parametrize(
    "names", [(), (".partial", ".turn"), (".originals",)], ids=["empty", "killed", "repacking"]
)
def test_an_empty_directory_becomes_a_mirror(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).mkdir()

    assert MirrorTree(tmp_path).files == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_somebody_elses_directory_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="no mirror of ours, and not empty"):
        MirrorTree(tmp_path)


def test_a_file_is_no_mirror(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="a file, where"):
        MirrorTree(tmp_path / "file")


def test_the_list_outlives_the_run(tmp_path: Path) -> None:
    MirrorTree(tmp_path).announce({"cudnn/a": A, "cudnn/b": B})

    assert MirrorTree(tmp_path).files == {"cudnn/a": A, "cudnn/b": B}
    assert sorted(path.name for path in tmp_path.rglob("*")) == [LIST_NAME, ".partial"]


def test_two_runs_lose_nothing_of_each_other(tmp_path: Path) -> None:
    one, two = MirrorTree(tmp_path), MirrorTree(tmp_path)
    one.announce({"cudnn/a": A})
    two.announce({"cudnn/b": B})
    one.remove(["cudnn/a"])

    assert MirrorTree(tmp_path).files == {"cudnn/b": B}


def test_a_listed_file_stays_what_it_was_until_it_is_something_else(tmp_path: Path) -> None:
    tree = MirrorTree(tmp_path)
    tree.announce({"cudnn/a": A})
    tree.announce({"cudnn/a": B})
    assert tree.files == {"cudnn/a": A}

    tree.settle({"cudnn/a": B})
    assert MirrorTree(tmp_path).files == {"cudnn/a": B}


def test_what_no_mirror_made_is_not_written_over(tmp_path: Path) -> None:
    tree = MirrorTree(tmp_path)
    tree.announce({"cudnn/a": A})
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(PrefixError, match="in the way"):
        tree.announce({"mine": A})

    assert MirrorTree(tmp_path).files == {"cudnn/a": A}


def test_only_what_is_listed_is_removed_and_the_directories_that_empties(tmp_path: Path) -> None:
    tree = MirrorTree(tmp_path)
    tree.announce({"x/y/a": A, "x/z/b": B})
    for place in ("x/y/a", "x/z/b"):
        tree.write(place, b"?")
    (tmp_path / "x/z/mine").touch()

    assert tree.remove(["x/y/a", "x/z/b", "x/z/mine"]) == ("x/y/a", "x/z/b")
    assert sorted(path.name for path in (tmp_path / "x").rglob("*")) == ["mine", "z"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("cudnn/linux/a.tar.xz", "cudnn/redist/cudnn/linux/a.tar.xz"),
        ("./a", "cudnn/redist/a"),
        ("../pool/a", "cudnn/pool/a"),
        ("a%20b", "cudnn/redist/a b"),
        ("a+b%2Bc", "cudnn/redist/a+b+c"),
    ],
)
def test_a_manifests_path_has_the_place_where_a_server_looks_for_it(
    path: str, place: str, tmp_path: Path
) -> None:
    assert MirrorTree(tmp_path).place("cudnn", path) == place


@pytest.mark.parametrize(
    "path", ["../../a", "../..", "%2e%2e/../x", "../../cudnnx/a", "a%5Cb", "a%00b", "../../../../etc/x"]
)
def test_a_path_that_leaves_the_product_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="leaves the product"):
        MirrorTree(tmp_path).place("cudnn", path)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"{", id="no-json"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param([], id="no-object"),
        pytest.param({"schema": 1}, id="no-files"),
        *(
            pytest.param({"schema": 1, "files": {place: {"sha256": "a", "size": 1}}}, id=f"place {place!a}")
            for place in ("", "/etc/passwd", "../x", "a/../../x", ".", "a//b", "a\\b", "a\0b", "http://x/y")
        ),
        pytest.param({"schema": 1, "files": {"a": {"sha256": 1, "size": 1}}}, id="digest"),
        pytest.param({"schema": 1, "files": {"a": {"sha256": "a", "size": "1"}}}, id="size"),
        pytest.param({"schema": 1, "files": {"a": {"sha256": "a", "size": 1, "tree": []}}}, id="tree"),
        pytest.param({"schema": 1, "files": {"a": None}}, id="no-entry"),
    ],
)
def test_a_damaged_list_is_told_and_nothing_is_touched(content: object, tmp_path: Path) -> None:
    write_list(tmp_path, content)
    with pytest.raises(PrefixError, match="list of the mirror's files is damaged"):
        MirrorTree(tmp_path)


def test_a_list_of_a_later_version_is_not_guessed_at(tmp_path: Path) -> None:
    write_list(tmp_path, {"schema": 2, "files": {}})
    with pytest.raises(UsageError, match="schema 2"):
        MirrorTree(tmp_path)
