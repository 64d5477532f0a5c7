from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from installing import IMPATIENT
from locking.ground import document, entry, locked, places
from redist import RedistServer, RedistTree

from cudnn_redist import Lock, fetch
from cudnn_redist.errors import LabelNotFound, PlatformNotFound, UsageError
from cudnn_redist.layout import Layout
from cudnn_redist.locking.installed import lock_installed
from cudnn_redist.locking.renewing import outdated, upgraded

if TYPE_CHECKING:
    from pathlib import Path


def upgrade(lock: Lock, root: Path, label: str | None = None, **choices: Any) -> tuple[Lock, list[str]]:  # noqa: ANN401
    made, upgrades = upgraded(lock, label, root=root, transfer=IMPATIENT, **choices)
    return made, [line for each in upgrades for line in each.differences()]


def newer(lock: Lock, root: Path) -> list[tuple[str | None, str | None]]:
    found = outdated(lock, root=root, transfer=IMPATIENT)
    return [(each.facts()["matching"], each.facts()["newest"]) for each in found]


@pytest.mark.parametrize(
    ("asked", "matching", "newest"),
    [
        ("9.26.0", None, "9.27.1"),
        ("9.27", "9.27.1", "9.27.1"),
        ("9", "9.27.1", "9.27.1"),
        ("latest", "9.27.1", "9.27.1"),
        ("9.27.0.42", None, "9.27.1"),
    ],
)
def test_what_is_newer_is_told_by_what_was_asked(
    redist_tree: RedistTree, root: Path, asked: str, matching: str | None, newest: str
) -> None:
    lock = locked(redist_tree.path, root, asked)
    assert newer(lock, root) == [(None, None if "9.26.0" not in asked else "9.27.0")]
    redist_tree.add_release("9.27.1")
    assert newer(lock, root) == [(matching, newest)]


def test_what_is_newer_costs_one_index(redist_server: RedistServer, root: Path) -> None:
    lock = locked(f"{redist_server.url}cudnn/redist/", root)
    before = len(redist_server.log)
    assert newer(lock, root) == [(None, None)]
    assert [request.path for request in redist_server.log[before:]] == ["/cudnn/redist/"]


def test_a_source_without_an_index_cannot_tell(redist_tree: RedistTree, root: Path) -> None:
    with RedistServer(redist_tree.path, index="missing") as server:
        lock = locked(server.url, root)
        with pytest.raises(LabelNotFound, match="lists no releases"):
            outdated(lock, root=root, transfer=IMPATIENT)


def test_an_upgrade_moves_to_the_newest_that_fits_and_keeps_the_choice(
    redist_tree: RedistTree, root: Path
) -> None:
    lock = locked(redist_tree.path, root, "9.27", platform="linux-x86_64")
    redist_tree.add_release("9.27.1", components=("cudnn", "cudnn_jit"))
    redist_tree.add_release("9.28.0")
    made, told = upgrade(lock, root)
    assert (made.releases[0].asked, made.releases[0].label) == ("9.27", "9.27.1")
    assert places(made) == [
        "cudnn linux-x86_64 cuda12",
        "cudnn linux-x86_64 cuda13",
        "cudnn_jit linux-x86_64 cuda12",
        "cudnn_jit linux-x86_64 cuda13",
    ]
    assert told[:2] == [
        "cudnn 9.27.0: upgraded to 9.27.1",
        "cudnn 9.27.0: changed: cudnn linux-x86_64 cuda12: version was 9.27.0.42, is 9.27.1.42",
    ]
    assert "appeared: cudnn_jit linux-x86_64 cuda12" in told[3]
    assert made == locked(redist_tree.path, root, "9.27", platform="linux-x86_64")


def test_nothing_newer_changes_nothing(redist_tree: RedistTree, root: Path) -> None:
    lock = locked(redist_tree.path, root, "9.26.0", "9.27")
    made, told = upgrade(lock, root)
    assert (made.to_bytes(), told) == (lock.to_bytes(), [])


def test_an_upgrade_never_goes_back_by_itself(redist_tree: RedistTree, tmp_path: Path, root: Path) -> None:
    lock = locked(redist_tree.path, root, "9")
    redist_tree.add_release("9.27.1")
    ahead, _ = upgrade(lock, root)
    behind = RedistTree(tmp_path / "behind")
    behind.add_release("9.26.0")
    behind.add_release("9.27.1")
    behind.manifest_path("9.27.1").rename(behind.redist / "hidden")
    with pytest.raises(LabelNotFound):
        upgrade(ahead, root, sources=[str(behind.path)])
    (behind.redist / "hidden").rename(behind.manifest_path("9.27.1"))
    made, _ = upgrade(ahead, root, sources=[str(behind.path)])
    assert made.releases[0].label == "9.27.1"


@pytest.mark.parametrize("label", ["9.26.0", "9.26", "9.28.0", "latest"])
def test_a_given_label_is_where_it_moves(redist_tree: RedistTree, root: Path, label: str) -> None:
    redist_tree.add_release("9.28.0")
    made, told = upgrade(locked(redist_tree.path, root), root, label)
    (release,) = made.releases
    assert (release.asked, release.label) == (label, "9.26.0" if "26" in label else "9.28.0")
    assert told[0] == f"cudnn 9.27.0: upgraded to {release.label}"


def test_the_release_that_is_most_like_the_label_moves(redist_tree: RedistTree, root: Path) -> None:
    redist_tree.add_release("8.9.7.29")
    redist_tree.add_release("9.27.1")
    lock = locked(redist_tree.path, root, "8.9.7.29", "9.27.0")
    made, _ = upgrade(lock, root, "9.27.1")
    assert [release.label for release in made.releases] == ["8.9.7.29", "9.27.1"]
    with pytest.raises(UsageError, match=r"10\.0\.0 may replace cudnn 8\.9\.7\.29, cudnn 9\.27\.0"):
        upgrade(lock, root, "10.0.0")


def test_a_label_of_one_product_needs_the_product(redist_tree: RedistTree, root: Path) -> None:
    cutensor = RedistTree(redist_tree.path, product="cutensor")
    cutensor.add_release("2.3.0", components=("cutensor",))
    cutensor.add_release("2.4.0", components=("cutensor",))
    other = locked(redist_tree.path, root, "2.3.0", product="cutensor")
    lock = locked(redist_tree.path, root, "9.26.0").with_releases(other.releases)
    made, _ = upgrade(lock, root, "2.4.0", product="cutensor")
    assert [release.name for release in made.releases] == ["cudnn 9.26.0", "cutensor 2.4.0"]
    with pytest.raises(LabelNotFound, match="the lock has no cufft; it has cudnn, cutensor"):
        upgrade(lock, root, product="cufft")


def test_a_re_issued_label_is_locked_as_it_is_now(redist_tree: RedistTree, root: Path) -> None:
    lock = locked(redist_tree.path, root)
    entry(redist_tree, "9.27.0", lambda archive: archive.update(sha256="0" * 64))
    made, told = upgrade(lock, root)
    assert told[0].startswith("cudnn 9.27.0: re-issued: the manifest's sha256 was ")
    assert told[1].startswith("cudnn 9.27.0: changed: cudnn linux-x86_64 cuda13: sha256 was ")
    assert made == locked(redist_tree.path, root)


def test_a_newer_release_that_lacks_what_was_chosen_is_an_error(redist_tree: RedistTree, root: Path) -> None:
    lock = locked(redist_tree.path, root, "9", platform="linux-sbsa")
    redist_tree.add_release("9.28.0", platforms=("linux-x86_64",))
    with pytest.raises(PlatformNotFound, match=r"9\.28\.0 has no archive for linux-sbsa"):
        upgrade(lock, root)


def test_two_releases_that_become_one_are_an_error(redist_tree: RedistTree, root: Path) -> None:
    lock = locked(redist_tree.path, root, "9.26", "9.27.0")
    nine = lock.releases[0].model_copy(update={"asked": "9"})
    with pytest.raises(UsageError, match=r"9 and 9\.27\.0 are both cudnn 9\.27\.0 now"):
        upgrade(Lock.of([nine, lock.releases[1]]), root)


def test_what_is_known_of_a_tree_outlives_an_upgrade(redist_tree: RedistTree, root: Path) -> None:
    prefix = fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[str(redist_tree.path)], root=root)
    lock = lock_installed(Layout(root))
    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2027-01-01"))
    made, _ = upgrade(lock, root)
    assert [each["tree"] for each in document(made)["releases"][0]["archives"] if each["tree"]] == [
        prefix.record.tree
    ]
