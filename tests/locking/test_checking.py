from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from installing import IMPATIENT
from locking.ground import document, entry, locked
from redist import RedistServer, RedistTree

from cudnn_redist import Lock, fetch
from cudnn_redist.errors import LockMismatch, ManifestError, TransferError
from cudnn_redist.locking.checking import Checked, check
from cudnn_redist.locking.comparing import changes
from cudnn_redist.locking.locked import locked_plans

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Node = dict[str, Any]
X86 = "cudnn linux-x86_64"


def checked(lock: Lock, root: Path, *sources: object) -> Checked:
    (found,) = check(lock, sources=[*map(str, sources)], root=root, transfer=IMPATIENT)
    return found


def test_a_release_that_is_as_locked(redist_server: RedistServer, root: Path) -> None:
    lock = locked(redist_server.url, root)
    found = checked(lock, root)
    assert found.same
    assert (found.differences(), found.changes) == ([], ())


def test_a_kept_manifest_is_no_answer(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    lock = locked(redist_server.url, root)
    fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[redist_server.url], root=root)
    entry(redist_tree, "9.27.0", lambda archive: archive.update(sha256="0" * 64))
    assert not checked(lock, root).same


def rename(node: Node) -> None:
    node["cudnn"]["linux-sbsa2"] = node["cudnn"].pop("linux-sbsa")


def swap_cudas(node: Node) -> None:
    x86 = node["cudnn"]["linux-x86_64"]
    x86["cuda12"], x86["cuda13"] = x86["cuda13"], x86["cuda12"]


CHANGES: dict[str, tuple[Callable[[Node], object], list[tuple[str, str]]]] = {
    "date only": (lambda node: node.update(release_date="2027-01-01"), []),
    "bytes": (
        lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(sha256="0" * 64),
        [("changed", f"{X86} cuda13")],
    ),
    "size": (
        lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(size="7"),
        [("changed", f"{X86} cuda13")],
    ),
    "path": (
        lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path="x/y.tar.xz"),
        [("moved", f"{X86} cuda13")],
    ),
    "one gone": (lambda node: node["cudnn"]["linux-x86_64"].pop("cuda13"), [("vanished", f"{X86} cuda13")]),
    "digest gone": (
        lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].pop("sha256"),
        [("vanished", f"{X86} cuda13")],
    ),
    "one more": (
        lambda node: node["cudnn"]["linux-x86_64"].update(cuda14=node["cudnn"]["linux-x86_64"]["cuda13"]),
        [("appeared", f"{X86} cuda14")],
    ),
    "a platform renamed": (
        rename,
        [
            ("vanished", "cudnn linux-sbsa cuda12"),
            ("vanished", "cudnn linux-sbsa cuda13"),
            ("appeared", "cudnn linux-sbsa2 cuda12"),
            ("appeared", "cudnn linux-sbsa2 cuda13"),
        ],
    ),
    "two swapped": (swap_cudas, [("changed", f"{X86} cuda12"), ("changed", f"{X86} cuda13")]),
}


@pytest.mark.parametrize(("edit", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_re_issued_label_is_told_archive_by_archive(
    redist_tree: RedistTree, root: Path, edit: Callable[[Node], object], expected: list[tuple[str, str]]
) -> None:
    lock = locked(redist_tree.path, root)
    redist_tree.edit_manifest("9.27.0", edit)
    found = checked(lock, root)
    told = [(change.kind, " ".join(filter(None, change.archive.place))) for change in found.changes]
    assert told == expected
    first, *rest = found.differences()
    assert first.startswith("cudnn 9.27.0: re-issued: the manifest's sha256 was ")
    assert first.endswith("; every archive is the same") == (expected == [])
    assert [line.split(": ")[1:3] for line in rest] == [[kind, place] for kind, place in expected]
    assert json.loads(json.dumps(found.facts()))["found"] == found.manifest_sha256


def test_a_label_that_is_gone_is_told_so(redist_tree: RedistTree, root: Path) -> None:
    lock = locked(redist_tree.path, root)
    redist_tree.manifest_path("9.27.0").unlink()
    found = checked(lock, root)
    assert found.manifest_sha256 is None
    assert found.differences() == ["cudnn 9.27.0: vanished: the source has no such label any more"]


def test_a_label_that_now_only_covers_others_is_gone(tmp_path: Path, root: Path) -> None:
    tree = RedistTree(tmp_path / "tree", product="nvpl")
    tree.add_release("25.1", components=("nvpl_blas",))
    lock = locked(tree.path, root, "25.1", product="nvpl")
    tree.manifest_path("25.1").unlink()
    tree.add_release("25.1.1", components=("nvpl_blas",))
    assert checked(lock, root).manifest_sha256 is None


def test_only_what_was_chosen_appears(redist_tree: RedistTree, root: Path) -> None:
    lock = locked(redist_tree.path, root, platform="linux-x86_64", cuda="13")
    redist_tree.add_release(
        "9.27.0", platforms=("linux-x86_64", "linux-sbsa", "linux-new"), date="2027-01-01"
    )
    found = checked(lock, root)
    assert not found.same
    assert found.changes == ()


def test_an_archive_that_the_choice_now_passes_over_is_still_there(tmp_path: Path, root: Path) -> None:
    """CUDA 13.4 took cuda13 for lack of its own; that one appears, and cuda13 has not vanished."""
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.0", platforms=("windows-arm64",))
    lock = locked(tree.path, root, cuda="13.4")
    tree.add_release("9.27.0", platforms=("windows-arm64",), hybrid={"windows-arm64": "cuda13.4"})
    found = checked(lock, root)
    assert [(change.kind, change.archive.variant) for change in found.changes] == [("appeared", "cuda13.4")]


def test_another_source_with_the_same_manifest_is_the_same(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    lock = locked(redist_server.url, root)
    redist_server.close()
    assert checked(lock, root, redist_tree.path).same
    entry(redist_tree, "9.27.0", lambda archive: archive.update(sha256="0" * 64))
    assert [change.kind for change in checked(lock, root, redist_tree.path).changes] == ["changed"]


EDITS: dict[str, tuple[Callable[[Node], object], list[str]]] = {
    "digest": (lambda archive: archive.update(sha256="0" * 64), [f"changed: {X86} cuda13: sha256 was 0000"]),
    "size": (lambda archive: archive.update(size=7), [f"changed: {X86} cuda13: size was 7, is "]),
    "place": (
        lambda archive: archive.update(component="cudnn", platform="linux-sbsa", variant="cuda13"),
        ["vanished: cudnn linux-sbsa cuda13: cudnn/linux-x86_64/"],
    ),
}


@pytest.mark.parametrize(("edit", "expected"), EDITS.values(), ids=EDITS)
def test_a_lock_that_names_other_archives_than_its_manifest(
    redist_tree: RedistTree, root: Path, edit: Callable[[Node], object], expected: list[str]
) -> None:
    redist_tree.edit_manifest("9.27.0", lambda node: node["cudnn"]["linux-sbsa"].pop("cuda13"))
    node = document(locked(redist_tree.path, root, platform="linux-x86_64", cuda="13"))
    node["releases"][0]["components"]["cudnn"]["offered"]["linux-sbsa"].append("cuda13")
    (archive,) = node["releases"][0]["archives"]
    edit(archive)
    lock = Lock.parse(json.dumps(node).encode(), origin="edited")

    found = checked(lock, root)

    assert not found.same
    first, *rest = found.differences()
    assert first.startswith("cudnn 9.27.0: the lock was edited: its manifest is the same")
    assert [line.startswith(f"cudnn 9.27.0: {told}") for line, told in zip(rest, expected, strict=True)] == [
        True
    ]
    with pytest.raises(LockMismatch, match="the lock was edited") as caught:
        locked_plans(
            lock,
            platform="linux-sbsa" if edit is EDITS["place"][0] else "linux-x86_64",
            cuda="13",
            root=root,
            unchanged=True,
        )
    assert list(caught.value.differences) == rest


def test_a_size_that_the_manifest_does_not_tell_is_no_difference(redist_tree: RedistTree, root: Path) -> None:
    entry(redist_tree, "9.27.0", lambda archive: archive.pop("size"))
    node = document(locked(redist_tree.path, root))
    for archive in node["releases"][0]["archives"]:
        archive["size"] = archive["size"] or 80000
    assert checked(Lock.parse(json.dumps(node).encode(), origin="told"), root).same


def test_a_source_that_fails_is_no_difference(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    lock = locked(redist_server.url, root)
    redist_tree.manifest_path("9.27.0").write_bytes(b"{")
    with pytest.raises(ManifestError):
        check(lock, root=root, transfer=IMPATIENT)
    redist_server.close()
    with pytest.raises(TransferError):
        check(lock, root=root, transfer=IMPATIENT)


def test_a_new_address_alone_is_a_move(redist_tree: RedistTree, root: Path) -> None:
    (release,) = locked(redist_tree.path, root).releases
    first, *rest = release.archives
    moved = first.model_copy(update={"url": "https://mirror.example/x"})
    (change,) = changes(release.archives, [moved, *rest])
    assert str(change) == (
        f"moved: cudnn linux-sbsa cuda12: url was {first.url}, is https://mirror.example/x"
    )
    assert change.facts()["before"]["url"] == first.url
