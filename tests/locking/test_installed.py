from __future__ import annotations

import json
import logging
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from installing import options
from locking.ground import document, locked, places
from redist import RedistServer, RedistTree

from cudnn_redist import Lock, fetch, install, plan
from cudnn_redist.errors import LockMismatch, NotInstalled, UsageError
from cudnn_redist.layout import Layout
from cudnn_redist.locking.file import read_lock
from cudnn_redist.locking.installed import deviations, lock_installed, locked_archive
from cudnn_redist.locking.making import choice
from cudnn_redist.manifest.labels import ReleaseLabel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cudnn_redist import Prefix

HERE = {"platform": "linux-x86_64", "cuda": "13"}
MINE = "cudnn linux-x86_64 cuda13"


def get(source: object, root: Path, label: str = "9.27.0", **choices: Any) -> Prefix:  # noqa: ANN401
    return fetch(label, sources=[str(source)], root=root, options=options(), **{**HERE, **choices})


def trees(lock: Lock) -> dict[str, str]:
    """Return the tree digests of a lock, by place."""
    archives = [archive for release in lock.releases for archive in release.archives]
    return {" ".join(filter(None, each.place)): each.tree for each in archives if each.tree}


def test_it_is_the_lock_of_the_source_and_the_trees(redist_server: RedistServer, root: Path) -> None:
    prefix = get(redist_server.url, root)
    by_source = document(locked(redist_server.url, root))
    redist_server.close()
    by_root = lock_installed(Layout(root))
    assert trees(by_root) == {MINE: prefix.record.tree}
    for archive in by_source["releases"][0]["archives"]:
        mine = (archive["platform"], archive["variant"]) == ("linux-x86_64", "cuda13")
        archive["tree"] = prefix.record.tree if mine else None
    assert document(by_root) == by_source


def test_it_adds_to_a_lock(redist_server: RedistServer, root: Path) -> None:
    lock = locked(redist_server.url, root, "9.27")
    prefix = get(redist_server.url, root)
    older = get(redist_server.url, root, "9.26.0")
    made = lock_installed(Layout(root), base=lock)
    assert [(release.asked, release.label) for release in made.releases] == [
        ("9.26.0", "9.26.0"),
        ("9.27", "9.27.0"),
    ]
    told = [{archive.tree for archive in release.archives} for release in made.releases]
    assert told == [{None, older.record.tree}, {None, prefix.record.tree}]


@pytest.mark.parametrize(
    ("label", "product", "found"),
    [
        (None, None, ["cudnn 9.26.0", "cudnn 9.27.0", "cutensor 2.3.0"]),
        (None, "cutensor", ["cutensor 2.3.0"]),
        ("9.26.0", None, ["cudnn 9.26.0"]),
        ("9.26", None, ["cudnn 9.26.0"]),
        ("9", None, ["cudnn 9.27.0"]),
        ("9.27.0.42", None, ["cudnn 9.27.0"]),
    ],
)
def test_labels_choose_among_what_is_installed(
    redist_tree: RedistTree, root: Path, label: str | None, product: str | None, found: list[str]
) -> None:
    RedistTree(redist_tree.path, product="cutensor").add_release("2.3.0", components=("cutensor",))
    for each, of_product in (("9.26.0", "cudnn"), ("9.27.0", "cudnn"), ("2.3.0", "cutensor")):
        get(redist_tree.path, root, each, product=of_product)
    labels = [ReleaseLabel.parse(label)] if label else []
    made = lock_installed(Layout(root), labels, product=product)
    assert [release.name for release in made.releases] == found
    assert made.releases[0].asked == (label or made.releases[0].label)


def test_a_choice_is_one_of_the_manifest(redist_tree: RedistTree, root: Path) -> None:
    get(redist_tree.path, root)
    made = lock_installed(Layout(root), chosen=choice(platform="linux-x86_64"))
    assert places(made) == ["cudnn linux-x86_64 cuda12", MINE]


def forget_manifests(root: Path) -> None:
    shutil.rmtree(root / ".manifests")


def test_where_no_manifest_is_kept_what_is_installed_is_locked(
    redist_tree: RedistTree, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prefix = get(redist_tree.path, root)
    whole = locked(redist_tree.path, root)
    forget_manifests(root)
    with caplog.at_level(logging.WARNING):
        made = lock_installed(Layout(root))
    assert "cudnn 9.27.0: no manifest is kept" in caplog.text
    (release,), (full,) = made.releases, whole.releases
    assert trees(made) == {MINE: prefix.record.tree}
    assert release.manifest.url == full.manifest.url
    assert release.manifest.sha256 == full.manifest.sha256
    assert release.components == full.components
    (archive,) = release.archives
    (same,) = (each for each in full.archives if each.place == archive.place)
    assert archive.model_copy(update={"tree": None}) == same
    assert (release.chosen.platform, release.chosen.cuda) == (("linux-x86_64",), ("13",))


def test_a_prefix_that_came_by_a_lock_can_be_locked(redist_server: RedistServer, root: Path) -> None:
    lock = locked(redist_server.url, root)
    prefix = fetch(lock=lock, root=root, options=options(), **HERE)
    made = lock_installed(Layout(root))
    assert trees(made) == {MINE: prefix.record.tree}
    assert fetch(lock=made, root=root.with_name("other"), options=options(), **HERE).record == prefix.record


@pytest.mark.parametrize("spoil", [b"", b"{", b"[]\n", b'{"archive": 1}\n', b"\xff\n"], ids=repr)
def test_a_log_that_tells_nothing_leaves_the_url_open(
    redist_tree: RedistTree, root: Path, spoil: bytes
) -> None:
    get(redist_tree.path, root)
    (root / ".log.jsonl").write_bytes(spoil)
    kept = lock_installed(Layout(root))
    assert {archive.url for archive in kept.releases[0].archives} == {None}
    assert kept.releases[0].manifest.size is not None
    named = lock_installed(Layout(root), sources=[str(redist_tree.path)])
    assert named.releases[0].manifest.url == f"{redist_tree.redist.as_uri()}/redistrib_9.27.0.json"
    forget_manifests(root)
    (archive,) = lock_installed(Layout(root)).releases[0].archives
    assert archive.url is None


def test_an_installed_archive_that_is_not_the_locked_one_is_refused(
    redist_tree: RedistTree, root: Path
) -> None:
    lock = locked(redist_tree.path, root)
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    get(redist_tree.path, root)
    with pytest.raises(LockMismatch, match=r"archive sha256 is .*, locked as") as caught:
        lock_installed(Layout(root), base=lock)
    assert caught.value.differences[0].startswith(f"cudnn 9.27.0 {MINE}: archive sha256 is ")


def test_what_the_lock_leaves_out_stays_out(
    redist_tree: RedistTree, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lock = locked(redist_tree.path, root, cuda="12")
    get(redist_tree.path, root)
    with caplog.at_level(logging.WARNING):
        assert lock_installed(Layout(root), base=lock) == lock
    assert f"cudnn 9.27.0 {MINE}: installed, but not among what is locked" in caplog.text


def test_prefixes_of_two_manifests_under_one_label_are_an_error(redist_tree: RedistTree, root: Path) -> None:
    get(redist_tree.path, root)
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    install(
        plan(
            "9.27.0",
            platform="linux-x86_64",
            cuda="12",
            sources=[str(redist_tree.path)],
            root=root,
            refresh=True,
        )
    )
    with pytest.raises(UsageError, match="come from 2 manifests"):
        lock_installed(Layout(root))


@pytest.mark.parametrize("labels", [[], [ReleaseLabel.parse("9.27.0")], [None]], ids=["", "label", "latest"])
def test_nothing_installed_is_an_error(root: Path, labels: list[ReleaseLabel | None]) -> None:
    with pytest.raises(NotInstalled, match="no prefix is installed"):
        lock_installed(Layout(root), labels)


def test_a_label_that_is_not_installed_is_an_error(redist_tree: RedistTree, root: Path) -> None:
    get(redist_tree.path, root)
    with pytest.raises(NotInstalled, match=r"9\.26\.0 is not installed; there: cudnn 9\.27\.0"):
        lock_installed(Layout(root), [ReleaseLabel.parse("9.26.0")])


def test_a_record_that_no_lock_may_hold_is_an_error(redist_tree: RedistTree, root: Path) -> None:
    record = get(redist_tree.path, root).path / ".cudnn-redist.json"
    told = json.loads(record.read_bytes())
    told["archive"]["path"] = "/etc/passwd"
    record.write_text(json.dumps(told))
    forget_manifests(root)
    (root / ".log.jsonl").unlink()
    with pytest.raises(Exception, match="relative_path: not a path relative") as caught:
        lock_installed(Layout(root))
    assert getattr(caught.value, "exit_code", None) == 6


def other_tree(node: dict[str, Any]) -> None:
    for archive in node["releases"][0]["archives"]:
        archive["tree"] = "0" * 64


def other_archive(node: dict[str, Any]) -> None:
    for archive in node["releases"][0]["archives"]:
        archive["sha256"] = "0" * 64


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda _: None, []),
        (other_tree, ["tree digest is"]),
        (other_archive, ["archive sha256 is"]),
        (lambda node: (other_tree(node), other_archive(node)), ["archive sha256 is", "tree digest is"]),
    ],
    ids=["same", "tree", "archive", "both"],
)
def test_a_prefix_beside_its_lock(
    redist_tree: RedistTree, tmp_path: Path, root: Path, spoil: Callable[[Any], object], told: list[str]
) -> None:
    prefix = get(redist_tree.path, root)
    node = document(lock_installed(Layout(root)))
    spoil(node)
    (tmp_path / "lock").write_text(json.dumps(node))
    archive = locked_archive(read_lock(tmp_path / "lock"), prefix.record.levels)
    assert archive is not None
    found = deviations(archive, prefix.record)
    assert [line[: len(part)] for line, part in zip(found, told, strict=True)] == told
