from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest
from prefix.made import entries, record

from cudnn_redist.errors import PrefixError
from cudnn_redist.manifest import Platform
from cudnn_redist.prefix.record import Entry, Record, tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    Edit = Callable[[dict[str, Any]], object]

ENTRY = Entry(path="lib/a", kind="file", size=3, executable=True, sha256="c" * 64)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"variant": None, "platform": "source"},
        {"entries": ()},
        {"generated": (Entry(path="lib64", kind="link", target="lib"),)},
        {"entries": (Entry(path="empty", kind="file", size=0, sha256="e" * 64),)},
        {"entries": (Entry(path="lib/\udce9t\u00e9", kind="file", size=1, sha256="e" * 64),)},
        {"offered": {Platform("windows-arm64"): ("cuda13", "cuda13.4"), Platform("linux-all"): (None,)}},
    ],
    ids=lambda changes: ",".join(changes) or "whole",
)
def test_a_record_comes_back_as_it_was(changes: dict[str, Any]) -> None:
    written = record(**changes)
    assert Record.parse(written.to_bytes(), origin="x") == written


def test_the_same_record_gives_the_same_bytes() -> None:
    reordered = record(offered=dict(reversed(record().offered.items())))
    assert (
        record().to_bytes()
        == reordered.to_bytes()
        == Record.parse(record().to_bytes(), origin="x").to_bytes()
    )
    assert record().to_bytes().isascii()


def test_what_is_in_the_file() -> None:
    raw = json.loads(record().to_bytes())
    assert raw["schema"] == 1
    assert raw["tree"] == tree_digest(entries())
    assert raw["archive"] == {"path": "cudnn/linux-x86_64/x.tar.xz", "sha256": "a" * 64, "size": 1000}
    assert raw["offered"] == {"linux-x86_64": ["cuda12", "cuda13"], "source": [None]}
    assert {"path": "lib/libcudnn.so", "kind": "link", "target": "libcudnn.so.9"} in raw["files"]
    assert "time" not in raw


def test_the_record_has_every_name_of_a_library() -> None:
    """C86: the link's name, the soname and the real file."""
    chain = {entry.path: entry.target for entry in record().entries if entry.path.startswith("lib/")}
    assert chain == {
        "lib/libcudnn.so": "libcudnn.so.9",
        "lib/libcudnn.so.9": "libcudnn.so.9.27.0",
        "lib/libcudnn.so.9.27.0": None,
    }


def test_a_truncated_record_is_damaged_wherever_it_ends() -> None:
    data = record().to_bytes().rstrip()
    for size in range(0, len(data), 97):
        with pytest.raises(PrefixError, match="damaged record"):
            Record.parse(data[:size], origin="x")


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b'"text"', b"12", b"\xff\xfe", b"[" * 100_000, b"{}", b'{"schema": 1}', b"NaN"],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_record_at_all(data: bytes) -> None:
    with pytest.raises(PrefixError, match="damaged record") as caught:
        Record.parse(data, origin="/x/.cudnn-redist.json")
    assert (caught.value.phase, caught.value.where) == ("record", "/x/.cudnn-redist.json")
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("schema", [2, 0, "1", None, [1], "x" * 5000], ids=repr)
def test_another_schema_is_told_as_such(schema: object) -> None:
    raw = record().as_json() | {"schema": schema}
    with pytest.raises(PrefixError, match="this version reads schema 1") as caught:
        Record.parse(json.dumps(raw).encode(), origin="x")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda raw: raw["files"].pop(), id="a-file-gone"),
        pytest.param(lambda raw: raw["files"].append(ENTRY.as_json()), id="a-file-more"),
        pytest.param(lambda raw: raw["files"][0].update(path="included"), id="another-path"),
        pytest.param(lambda raw: raw["files"][-1].pop("executable"), id="no-execute-bit"),
        pytest.param(lambda raw: raw["files"][-1].update(sha256="0" * 64), id="another-digest"),
        pytest.param(lambda raw: raw.update(tree="0" * 64), id="another-tree"),
    ],
)
def test_an_edited_list_does_not_match_its_digest(edit: Edit) -> None:
    raw = record().as_json()
    edit(raw)
    with pytest.raises(PrefixError, match="does not match its own digest"):
        Record.parse(json.dumps(raw).encode(), origin="x")


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda raw: raw.pop("tree"), id="no-tree"),
        pytest.param(lambda raw: raw.update(label=9), id="number-for-label"),
        pytest.param(lambda raw: raw.update(component=""), id="empty-component"),
        pytest.param(lambda raw: raw.update(variant=13), id="number-for-variant"),
        pytest.param(lambda raw: raw.update(archive=None), id="no-archive"),
        pytest.param(lambda raw: raw["archive"].update(size="1000"), id="text-for-size"),
        pytest.param(lambda raw: raw["archive"].update(size=-1), id="negative-size"),
        pytest.param(lambda raw: raw.update(manifest=[]), id="array-for-manifest"),
        pytest.param(lambda raw: raw.update(offered=[]), id="array-for-offered"),
        pytest.param(lambda raw: raw.update(offered={"source": 1}), id="number-for-variants"),
        pytest.param(lambda raw: raw.update(files={"lib": {}}), id="object-for-files"),
        pytest.param(lambda raw: raw.update(files=["lib"]), id="text-for-entry"),
        pytest.param(lambda raw: raw["files"][0].update(path=7), id="number-for-path"),
        pytest.param(lambda raw: raw["files"][0].update(path="a\0b"), id="path-with-nul"),
        pytest.param(lambda raw: raw["files"][0].update(path="\ud800"), id="path-that-is-no-text"),
        pytest.param(lambda raw: raw["files"][0].update(path="/etc/passwd"), id="absolute-path"),
        pytest.param(lambda raw: raw["files"][0].update(path="lib/../../x"), id="climbing-path"),
        pytest.param(lambda raw: raw["files"][0].update(kind="device"), id="unknown-kind"),
        pytest.param(lambda raw: raw["files"][-1].update(size=1.5), id="broken-size"),
        pytest.param(lambda raw: raw["files"][-1].pop("sha256"), id="file-without-digest"),
        pytest.param(
            lambda raw: raw["generated"].append({"path": "x", "kind": "link"}), id="link-to-nothing"
        ),
    ],
)
def test_a_record_of_the_wrong_shape_is_damaged(edit: Edit) -> None:
    raw = record().as_json()
    edit(raw)
    # Not for its digest, which anybody can make anew.
    with pytest.raises(PrefixError, match=r"damaged record \(\w+: "):
        Record.parse(json.dumps(raw).encode(), origin="x")


def test_the_tree_digest_is_that_of_a_set() -> None:
    assert tree_digest(entries()) == tree_digest(tuple(reversed(entries()))) == record().tree
    assert tree_digest(()) != tree_digest(entries())


@pytest.mark.parametrize(
    "change",
    [
        {"path": "lib/b"},
        {"executable": False},
        {"sha256": "d" * 64},
        {"kind": "directory", "sha256": None},
        {"kind": "link", "sha256": None, "target": "c" * 63},
    ],
    ids=str,
)
def test_the_tree_digest_tells_trees_apart(change: dict[str, Any]) -> None:
    assert tree_digest([ENTRY]) != tree_digest([dataclasses.replace(ENTRY, **change)])


def test_a_record_tells_its_place_under_a_root() -> None:
    assert record().levels == ("cudnn", "9.27.0", "cudnn", "linux-x86_64", "cuda13")
