from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from installing import IMPATIENT
from locking.ground import document, locked, places
from redist import RedistServer, RedistTree

from cudnn_redist import Lock, fetch, lock
from cudnn_redist.errors import (
    ComponentNotFound,
    LabelNotFound,
    LockError,
    ManifestError,
    PlatformNotFound,
    RedistError,
    TransferError,
    UsageError,
    VariantNotFound,
    VersionNotFound,
)

if TYPE_CHECKING:
    from pathlib import Path

EVERYWHERE = [
    f"cudnn {platform} {variant}"
    for platform in ("linux-sbsa", "linux-x86_64", "windows-x86_64")
    for variant in ("cuda12", "cuda13")
]


@pytest.fixture
def rich(tmp_path: Path) -> RedistTree:
    """Three components, one of them for every host, and a platform with an archive of a minor CUDA."""
    tree = RedistTree(tmp_path / "rich")
    tree.add_release(
        "9.27.0",
        components=("cudnn", "cudnn_jit", "cudnn_samples"),
        platforms=("linux-x86_64", "linux-sbsa", "windows-arm64"),
        hybrid={"windows-arm64": "cuda13.4"},
    )
    return tree


def test_a_lock_costs_one_small_request_a_label(redist_server: RedistServer, root: Path) -> None:
    made = locked(redist_server.url + "cudnn/redist/", root, "9.26.0", "9.27.0")
    assert [request.path.rpartition("/")[2] for request in redist_server.log] == [
        "redistrib_9.26.0.json",
        "redistrib_9.27.0.json",
    ]
    assert places(made) == EVERYWHERE
    assert not root.exists()


def test_the_same_input_gives_the_same_bytes(redist_server: RedistServer, tmp_path: Path) -> None:
    first = locked(redist_server.url, tmp_path / "a", "9.27.0", "9.26.0", cuda=["13", "12"])
    again = locked(redist_server.url, tmp_path / "b", "9.26.0", "9.27.0", cuda=["cu12", "cuda13", "12"])
    assert first.to_bytes() == again.to_bytes()


@pytest.mark.parametrize(("asked", "found"), [("9.27", "9.27.0"), ("9", "9.27.0"), ("latest", "9.27.0")])
def test_a_partial_label_is_recorded_as_asked_and_as_found(
    redist_tree: RedistTree, root: Path, asked: str, found: str
) -> None:
    (release,) = locked(redist_tree.path, root, asked).releases
    assert (release.asked, release.label) == (asked, found)


def test_two_words_for_one_release_are_one_too_many(redist_tree: RedistTree, root: Path) -> None:
    with pytest.raises(UsageError, match=r"9\.27 and 9\.27\.0 are both release 9\.27\.0"):
        locked(redist_tree.path, root, "9.27", "9.27.0")


def test_no_login_and_no_token_gets_into_a_lock(redist_tree: RedistTree, root: Path) -> None:
    with RedistServer(redist_tree.path, auth=("me", "secret")) as server:
        source = server.url.replace("http://", "http://me:secret@") + "cudnn/redist/?token=hidden"
        made = locked(source, root)
    url = f"{server.url}cudnn/redist/"
    assert made.releases[0].manifest.url == f"{url}redistrib_9.27.0.json"
    assert all(archive.url == url + archive.relative_path for archive in made.releases[0].archives)
    assert all(word not in made.to_bytes() for word in (b"secret", b"hidden"))


CHOICES = {
    "all": ({}, 15),
    "component": ({"component": "cudnn_jit"}, 7),
    "components": ({"component": ["cudnn", "cudnn_samples"]}, 8),
    "platform, and what serves any": ({"platform": "linux-x86_64"}, 5),
    "container's spelling": ({"platform": "linux/amd64"}, 5),
    "either Arm": ({"platform": "linux/arm64"}, 5),
    "cuda": ({"cuda": "13"}, 7),
    "a minor that is there, else its major": ({"cuda": "13.4"}, 7),
    "a minor where it is there": ({"cuda": "13.4", "platform": "windows-arm64", "component": "cudnn"}, 1),
    "both cudas": ({"cuda": ["12", "13"]}, 13),
    "one of each": ({"component": "cudnn", "platform": "linux-sbsa", "cuda": "12"}, 1),
    "for every host": ({"component": "cudnn_samples", "platform": "linux-x86_64", "cuda": "12"}, 1),
}


@pytest.mark.parametrize(("choices", "count"), CHOICES.values(), ids=CHOICES)
def test_what_is_chosen_is_what_is_locked(
    rich: RedistTree, root: Path, choices: dict[str, str], count: int
) -> None:
    made = locked(rich.path, root, **choices)
    assert len(places(made)) == count
    assert Lock.parse(made.to_bytes(), origin="x") == made


def test_the_choice_is_kept_in_one_spelling(rich: RedistTree, root: Path) -> None:
    made = locked(rich.path, root, platform=["linux/amd64", "linux/arm64"], cuda=["cu128", "12.8.1"])
    assert document(made)["releases"][0]["chosen"] == {
        "component": [],
        "platform": ["linux-x86_64", "linux/arm64"],
        "cuda": ["12.8"],
    }


def test_all_that_is_offered_is_told_though_little_is_chosen(rich: RedistTree, root: Path) -> None:
    made = locked(rich.path, root, component="cudnn", platform="linux-x86_64", cuda="12")
    components = document(made)["releases"][0]["components"]
    assert components["cudnn"]["offered"]["windows-arm64"] == ["cuda12", "cuda13", "cuda13.4"]
    assert {name: each["main"] for name, each in components.items()} == {
        "cudnn": True,
        "cudnn_jit": False,
        "cudnn_samples": False,
    }


REFUSED: dict[str, tuple[str, dict[str, object], type[RedistError], str]] = {
    "no such label": ("9.99.0", {}, LabelNotFound, "no such release label"),
    "no such component": ("9.27.0", {"component": "cufft"}, ComponentNotFound, "cudnn, cudnn_jit"),
    "nothing of a component": (
        "9.27.0",
        {"component": ["cudnn", "cudnn_samples"], "platform": "linux-ppc64le"},
        PlatformNotFound,
        "no archive for linux-ppc64le; it has linux-sbsa",
    ),
    "no such platform": ("9.27.0", {"platform": "linux-aarch64"}, PlatformNotFound, "linux-x86_64"),
    "no such cuda": ("9.27.0", {"cuda": "11"}, VariantNotFound, "cuda12, cuda13"),
    "one cuda of two": ("9.27.0", {"cuda": ["12", "11"]}, VariantNotFound, "no archive for CUDA 11"),
    "no such version": ("9.27.0.1", {}, VersionNotFound, "9.27.0 holds 9.27.0.42, not 9.27.0.1"),
    "no label": ("", {}, UsageError, "not a release label"),
    "a path for a product": ("9.27.0", {"product": "../x"}, UsageError, "no product name"),
    "a path for a component": ("9.27.0", {"component": "../x"}, UsageError, "no component"),
    "words for a platform": ("9.27.0", {"platform": "a b"}, UsageError, "not a platform"),
    "words for a cuda": ("9.27.0", {"cuda": "new"}, UsageError, "not a CUDA version"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_locked_is_an_error(rich: RedistTree, root: Path, case: str) -> None:
    label, choices, kind, told = REFUSED[case]
    with pytest.raises(kind) as caught:
        locked(rich.path, root, label, **choices)
    assert told in str(caught.value)


def test_no_labels_are_an_error() -> None:
    with pytest.raises(UsageError, match="no label to lock"):
        lock([])


def test_a_version_from_inside_is_what_is_locked(tmp_path: Path, root: Path) -> None:
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.15.0", variant_versions={"cuda12": "9.15.0.56", "cuda13": "9.15.0.57"})
    made = locked(tree.path, root, "9.15.0.57")
    assert (made.releases[0].asked, made.releases[0].label) == ("9.15.0.57", "9.15.0")
    assert {archive.variant for archive in made.releases[0].archives} == {"cuda13"}


def without_digest(tree: RedistTree, *platforms: str) -> None:
    def edit(manifest: dict[str, dict[str, dict[str, dict[str, str]]]]) -> None:
        for platform in platforms:
            for archive in manifest["cudnn"][platform].values():
                del archive["sha256"]

    tree.edit_manifest("9.27.0", edit)


def test_an_archive_without_a_sha256_is_left_out_and_told(
    redist_tree: RedistTree, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    without_digest(redist_tree, "linux-sbsa")
    with caplog.at_level(logging.WARNING):
        made = locked(redist_tree.path, root)
    assert places(made) == EVERYWHERE[2:]
    assert "has no sha256 for cudnn/linux-sbsa/" in caplog.text
    assert "left out" in caplog.text


@pytest.mark.parametrize(
    "choices", [{"platform": "linux-sbsa"}, {"cuda": "12"}, {"component": "cudnn"}], ids=str
)
def test_a_chosen_archive_without_a_sha256_is_an_error(
    redist_tree: RedistTree, root: Path, choices: dict[str, str]
) -> None:
    without_digest(redist_tree, "linux-sbsa")
    with pytest.raises(ManifestError, match="no sha256 for cudnn/linux-sbsa/"):
        locked(redist_tree.path, root, **choices)


def test_a_release_that_has_no_sha256_at_all_is_an_error(tmp_path: Path, root: Path) -> None:
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("7.1.1", layout="oldest")
    with pytest.raises(ManifestError, match="no sha256"):
        locked(tree.path, root, "7.1.1")


def test_a_path_that_no_lock_may_hold_is_an_error_of_the_source(redist_tree: RedistTree, root: Path) -> None:
    def climb(manifest: dict[str, dict[str, dict[str, dict[str, str]]]]) -> None:
        manifest["cudnn"]["linux-sbsa"]["cuda12"]["relative_path"] = "cudnn/../cudnn/x.tar.xz"

    redist_tree.edit_manifest("9.27.0", climb)
    with pytest.raises(LockError, match="relative_path: climbs after a name"):
        locked(redist_tree.path, root)


def test_a_source_that_does_not_answer_is_an_error(root: Path) -> None:
    with pytest.raises(TransferError):
        lock("9.27.0", sources=["http://127.0.0.1:1/"], root=root, transfer=IMPATIENT)


def test_an_installed_label_needs_no_network(redist_tree: RedistTree, root: Path) -> None:
    with RedistServer(redist_tree.path) as server:
        fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[server.url], root=root)
        asked = len(server.log)
        made = locked(server.url, root)
        assert len(server.log) == asked
    assert made == locked(server.url, root)
    assert places(made) == EVERYWHERE


def test_every_real_manifest_of_cudnn_can_be_locked(shared_manifests: Path, tmp_path: Path) -> None:
    source = shared_manifests / "cudnn"
    labels = sorted(path.stem.removeprefix("redistrib_") for path in source.glob("redistrib_*.json"))
    first = lock(labels, sources=[str(source)], root=tmp_path)
    assert first.to_bytes() == lock(labels[::-1], sources=[str(source)], root=tmp_path).to_bytes()
    assert Lock.parse(first.to_bytes(), origin="x") == first
    assert {release.label for release in first.releases} == set(labels)
    assert len(labels) > 40
    assert list(tmp_path.iterdir()) == []
