from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from locking.ground import document, locked

from cudnn_redist import Lock
from cudnn_redist.errors import LockError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redist import RedistTree

Node = dict[str, Any]


@pytest.fixture
def made(redist_tree: RedistTree, root: Path) -> Lock:
    return locked(redist_tree.path, root, "9.26.0", "9.27")


def shuffled(value: Any) -> Any:  # noqa: ANN401 - parsed JSON
    """Return the same JSON with the keys of every object in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(below)) for key, below in value.items()]
        random.Random(1).shuffle(items)
        return dict(items)
    return [shuffled(below) for below in value] if isinstance(value, list) else value


def test_what_was_written_is_read_as_the_same(made: Lock) -> None:
    data = made.to_bytes()
    assert Lock.parse(data, origin="x") == made
    assert Lock.parse(data, origin="x").to_bytes() == data


def test_the_file_is_sorted_indented_ascii_with_a_newline_at_its_end(made: Lock) -> None:
    data = made.to_bytes()
    parsed = json.loads(data)
    assert data == json.dumps(parsed, indent=2, sort_keys=True).encode("ascii") + b"\n"
    assert parsed["schema"] == 1
    assert [release["label"] for release in parsed["releases"]] == ["9.26.0", "9.27.0"]
    places = [
        (each["component"], each["platform"], each["variant"]) for each in parsed["releases"][0]["archives"]
    ]
    assert places == sorted(places)


def test_the_order_of_keys_and_a_byte_order_mark_mean_nothing(made: Lock) -> None:
    text = json.dumps(shuffled(document(made)))
    assert Lock.parse(b"\xef\xbb\xbf" + text.encode(), origin="x").to_bytes() == made.to_bytes()


def test_a_release_tells_all_that_a_fleet_needs(made: Lock, redist_tree: RedistTree) -> None:
    release = document(made)["releases"][1]
    redist = redist_tree.redist.as_uri()
    data = redist_tree.manifest_path("9.27.0").read_bytes()
    assert (release["product"], release["asked"], release["label"]) == ("cudnn", "9.27", "9.27.0")
    assert release["manifest"]["url"] == f"{redist}/redistrib_9.27.0.json"
    assert (release["manifest"]["size"], release["manifest"]["date"]) == (len(data), "2026-09-29")
    (archive,) = (
        each
        for each in release["archives"]
        if (each["platform"], each["variant"]) == ("linux-x86_64", "cuda13")
    )
    path = redist_tree.archive_path("9.27.0")
    published = redist_tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]
    assert archive == {
        "component": "cudnn",
        "version": "9.27.0.42",
        "platform": "linux-x86_64",
        "variant": "cuda13",
        "relative_path": published["relative_path"],
        "url": path.as_uri(),
        "sha256": published["sha256"],
        "size": path.stat().st_size,
        "tree": None,
    }


def release(node: Node) -> Node:
    found: Node = node["releases"][0]
    return found


def archive(node: Node) -> Node:
    found: Node = release(node)["archives"][0]
    return found


def change(part: Callable[[Node], Node], **values: Any) -> Callable[[Node], object]:  # noqa: ANN401 - any JSON
    return lambda node: part(node).update(values)


def lose(part: Callable[[Node], Node], name: str) -> Callable[[Node], object]:
    return lambda node: part(node).pop(name)


def twice(part: Callable[[Node], list[Node]]) -> Callable[[Node], object]:
    return lambda node: part(node).append(part(node)[0])


DAMAGE: dict[str, tuple[Callable[[Node], object], str]] = {
    "schema of tomorrow": (change(lambda n: n, schema=2), "lock of schema 2; this version reads schema 1"),
    "schema as text": (change(lambda n: n, schema="1"), "lock of schema '1'; this version reads schema 1"),
    "schema as truth": (change(lambda n: n, schema=True), "lock of schema True; this version reads schema 1"),
    "no schema": (lose(lambda n: n, "schema"), "lock of schema None; this version reads schema 1"),
    "unknown field": (change(archive, md5="0" * 32), "releases.0.archives.0.md5: Extra inputs"),
    "unknown field above": (change(lambda n: n, comment="x"), "comment: Extra inputs"),
    "no release": (change(lambda n: n, releases=[]), "releases: none in it"),
    "no archive": (change(release, archives=[]), "releases.0: archives: none in it"),
    "missing field": (lose(archive, "sha256"), "releases.0.archives.0.sha256: missing"),
    "digest too short": (change(archive, sha256="ab"), "sha256: not 64 hex digits"),
    "digest not hex": (change(archive, sha256="z" * 64), "sha256: not 64 hex digits"),
    "digest in capitals": (change(archive, sha256="A" * 64), "sha256: not 64 hex digits"),
    "digest as a number": (change(archive, sha256=7), "sha256: Input should be a valid string"),
    "size as text": (change(archive, size="7"), "size: Input should be a valid integer"),
    "size as truth": (change(archive, size=True), "size: Input should be a valid integer"),
    "size below nothing": (change(archive, size=-1), "size: not a number of bytes"),
    "size beyond all": (change(archive, size=10**18), "size: not a number of bytes"),
    "tree not hex": (change(archive, tree="x"), "tree: not 64 hex digits"),
    "manifest digest": (change(lambda n: release(n)["manifest"], sha256=""), "manifest.sha256: not 64 hex"),
    "absolute path": (change(archive, relative_path="/etc/passwd"), "relative_path: not a path relative"),
    "path with a scheme": (change(archive, relative_path="http://h/x"), "relative_path: not a path relative"),
    "path with a host": (change(archive, relative_path="//h/x"), "relative_path: not a path relative"),
    "path with a backslash": (change(archive, relative_path="a\\b"), "relative_path: not a path relative"),
    "path with a control": (
        change(archive, relative_path="a\nb"),
        "relative_path: empty, or holds a control",
    ),
    "empty path": (change(archive, relative_path=""), "relative_path: empty, or holds a control"),
    "path that climbs": (change(archive, relative_path="a/../../b"), "relative_path: climbs after a name"),
    "path that climbs, hidden": (change(archive, relative_path="a/%2e%2e/b"), "relative_path: climbs after"),
    "url of another kind": (change(archive, url="ftp://h/x"), "url: no http, https or file URL"),
    "url without a host": (change(archive, url="http:///x"), "url: no http, https or file URL"),
    "url with a login": (change(archive, url="https://me:secret@h/x"), "url: holds a login or a query"),
    "url with a token": (change(archive, url="https://h/x?token=secret"), "url: holds a login or a query"),
    "platform that climbs": (change(archive, platform=".."), "platform: cannot be a directory name"),
    "variant that is a path": (change(archive, variant="a/b"), "variant: cannot be a directory name"),
    "product": (change(release, product="../x"), "product: no product name"),
    "label": (change(release, label="9.x"), "label: not a release label"),
    "asked": (change(release, asked="newest"), "asked: neither a release label nor 'latest'"),
    "chosen platform": (
        change(lambda n: release(n)["chosen"], platform=["a b"]),
        "platform.0: not a platform",
    ),
    "chosen cuda": (change(lambda n: release(n)["chosen"], cuda=["cuda12"]), "cuda.0: not a CUDA version"),
    "archive twice": (
        twice(lambda n: release(n)["archives"]),
        "archives: cudnn linux-sbsa cuda12 is there twice",
    ),
    "release twice": (twice(lambda n: n["releases"]), "releases: cudnn 9.26.0 is there twice"),
    "asked twice": (change(release, asked="9.27"), "releases: cudnn 9.27 is there twice"),
    "archive that is not offered": (change(archive, variant="cuda99"), "cuda99 is not among what is offered"),
    "no such component": (change(archive, component="x"), "archives: x linux-sbsa cuda12 is not among"),
    "a list for an object": (lambda n: n["releases"].insert(0, []), "releases.0: "),
}


@pytest.mark.parametrize(("spoil", "told"), DAMAGE.values(), ids=DAMAGE)
def test_a_lock_edited_by_hand_is_told_by_place(
    made: Lock, spoil: Callable[[Node], object], told: str
) -> None:
    spoiled = document(made)
    spoil(spoiled)
    with pytest.raises(LockError) as caught:
        Lock.parse(json.dumps(spoiled).encode(), origin="my.lock")
    assert told in str(caught.value)
    assert (caught.value.exit_code, caught.value.where, caught.value.phase) == (6, "my.lock", "lock")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the body is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"schema": 1, "rel', "cut short"),
        (b"[]", "not a lock file: the JSON is not an object"),
        (b"<html>", "a page"),
        (b'{"schema": 1, "schema": 1, "releases": []}', "schema: this key is given twice"),
        (b'{"schema": 1, "releases": "\\ud800"}', "half of a surrogate pair"),
        (b'{"schema": NaN}', "NaN is no JSON number"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested deeper than"),
        (b'{"schema": ' + b"1" * 5000 + b"}", "not JSON that can be used"),
    ],
    ids=["empty", "bytes", "cut", "list", "page", "key twice", "surrogate", "NaN", "deep", "huge number"],
)
def test_what_is_no_lock_at_all_is_an_error_of_ours(data: bytes, told: str) -> None:
    with pytest.raises(LockError, match=told):
        Lock.parse(data, origin="my.lock")


def test_every_fault_is_told(made: Lock) -> None:
    spoiled = document(made)
    for each in spoiled["releases"][0]["archives"]:
        each["sha256"] = "x"
    with pytest.raises(LockError) as caught:
        Lock.parse(json.dumps(spoiled).encode(), origin="x")
    assert len(caught.value.faults) == len(spoiled["releases"][0]["archives"])
