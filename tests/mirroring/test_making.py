"""A mirror is what its source publishes: the same bytes in the same places, and no more than was asked for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from installing import IMPATIENT, everything
from mirroring.ground import HIDDEN, ONE
from redist import RedistServer, RedistTree

from cudnn_redist import Manifest, fetch, labels
from cudnn_redist.errors import (
    ArchiveWithdrawn,
    ManifestError,
)
from cudnn_redist.mirroring.checking import check_mirror

if TYPE_CHECKING:
    from pathlib import Path

    from mirroring.ground import Ground

CHOICE = {"platform": "linux-x86_64", "cuda": "13"}


def archives(tree: RedistTree, pattern: str) -> list[Path]:
    return sorted(tree.redist.glob(f"*/*/{pattern}"))


def test_everything_of_a_release_is_there_byte_for_byte(ground: Ground) -> None:
    found = ground.make()

    licences = ground.tree.redist.glob("*/LICENSE.txt")
    manifest = ground.tree.manifest_path("9.27.0")
    assert ground.files() == ground.published(manifest, *licences, *archives(ground.tree, "*-9.27.0.*"))
    assert ground.hidden() == HIDDEN
    assert (found.labels, found.absent) == (("9.27.0",), {"9.27.0": ()})
    assert len(found.fetched) == 8


def test_a_choice_brings_its_archives_and_their_licence_alone(ground: Ground) -> None:
    found = ground.make(**ONE)

    archive = ground.tree.archive_path("9.27.0")
    licence = ground.tree.redist / "cudnn" / "LICENSE.txt"
    assert ground.files() == ground.published(ground.tree.manifest_path("9.27.0"), licence, archive)
    assert found.fetched == (ground.place(archive),)


def test_the_manifest_still_parses_and_the_absent_archives_are_told(ground: Ground) -> None:
    found = ground.make(**ONE)

    data = (ground.mirror / ground.place(ground.tree.manifest_path("9.27.0"))).read_bytes()
    known = {archive.relative_path for archive in Manifest.parse(data, origin="mirror").archives()}
    there = ground.tree.archive_path("9.27.0").relative_to(ground.tree.redist).as_posix()
    assert set(found.absent["9.27.0"]) == known - {there}
    with pytest.raises(ArchiveWithdrawn, match=r"promised, but not here: cudnn 9\.27\.0 for linux-sbsa"):
        fetch("9.27.0", platform="linux-sbsa", cuda="13", sources=[str(ground.mirror)], root=ground.root)
    assert not (ground.root / "cudnn").exists()


def test_what_is_there_is_not_fetched_again(ground: Ground, server: RedistServer) -> None:
    ground.make("9.26.0", source=server.url)
    before = {path: path.stat().st_mtime_ns for path in ground.mirror.rglob("*.tar.xz")}
    asked = len(server.requests(".tar.xz"))
    found = ground.make(">=9.26", source=server.url)

    assert len(server.requests(".tar.xz")) - asked == len(found.fetched) == 8
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert ground.make(">=9.26", source=server.url).fetched == ()


def test_a_second_run_changes_nothing(ground: Ground) -> None:
    ground.make()
    before = {path: path.stat().st_mtime_ns for path in ground.mirror.rglob("*") if path.is_file()}
    ground.make()

    assert {path: path.stat().st_mtime_ns for path in ground.mirror.rglob("*") if path.is_file()} == before


def test_what_is_missing_or_has_another_size_is_fetched_again(ground: Ground) -> None:
    ground.make(component="cudnn", cuda="13")
    missing, short = sorted(ground.mirror.rglob("*.tar.xz"))
    missing.unlink()
    short.write_bytes(short.read_bytes()[:-1])

    assert len(ground.make(component="cudnn", cuda="13").fetched) == 2
    assert len(check_mirror(ground.mirror)) > 2


def test_a_release_that_was_published_anew_replaces_the_old_one(
    ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    ground.make(**ONE)
    other = ground.tree.archive_path("9.27.0", variant="cuda12").read_bytes()
    old = ground.tree.archive_path("9.27.0").read_bytes()
    # The size may well be the same.
    changed = (other + bytes(len(old)))[: len(old)]
    archive = ground.tree.replace_archive(changed, "9.27.0", update_manifest=True)
    found = ground.make(**ONE)

    assert found.fetched == (ground.place(archive),)
    assert (ground.mirror / ground.place(archive)).read_bytes() == changed
    assert "9.27.0 was published anew" in caplog.text
    assert check_mirror(ground.mirror)


def test_several_products_share_a_mirror(ground: Ground) -> None:
    tensor = RedistTree(ground.tree.path, product="cutensor")
    tensor.add_release("2.3.0", components=("libcutensor",), platforms=("linux-x86_64",))
    ground.make(**ONE)
    ground.make("2.3.0", product="cutensor")
    ground.make(**ONE, prune=True)

    source = str(ground.mirror)
    assert [label.text for label in labels(product="cutensor", sources=[source])] == ["2.3.0"]
    assert b"cutensor/" in (ground.mirror / "index.html").read_bytes()
    prefix = fetch("2.3.0", product="cutensor", sources=[source], root=ground.root, **CHOICE)
    assert prefix.record.product == "cutensor"


def test_it_is_a_source_like_the_one_it_was_made_from(ground: Ground, tmp_path: Path) -> None:
    ground.make()
    for name, source in (("a", ground.tree.path), ("b", ground.mirror)):
        fetch("latest", sources=[str(source)], root=tmp_path / name, **CHOICE)

    assert everything(tmp_path / "a/cudnn") == everything(tmp_path / "b/cudnn")


def test_a_release_without_a_licence_text_is_mirrored_and_told(
    ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    (ground.tree.redist / "cudnn" / "LICENSE.txt").unlink()
    ground.make(**ONE)

    assert "no licence text here" in caplog.text
    assert check_mirror(ground.mirror)


def test_two_manifests_that_promise_different_bytes_of_one_name(ground: Ground) -> None:
    """Both cannot be kept: the first is, the second is an error."""
    same = ground.tree.manifest("9.26.0")["cudnn"]["linux-x86_64"]["cuda13"]["relative_path"]
    ground.tree.edit_manifest(
        "9.27.0", lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path=same)
    )
    with pytest.raises(ManifestError, match="has another sha256 in another manifest"):
        ground.make(">=9.26", **ONE)

    assert [label.text for label in labels(sources=[str(ground.mirror)])] == ["9.26.0"]
    assert check_mirror(ground.mirror)


def test_the_next_source_has_what_the_first_lost(ground: Ground, tmp_path: Path) -> None:
    other = RedistTree(tmp_path / "other")
    other.add_release("9.27.0", components=("cudnn", "cudnn_jit"), platforms=("linux-x86_64", "linux-sbsa"))
    ground.tree.archive_path("9.27.0").unlink()
    with RedistServer(other.path) as second:
        ground.make(sources=[str(ground.tree.path), f"{second.url}cudnn/redist/"], **ONE)

    assert [request.path for request in second.requests(".tar.xz")] == [
        f"/{other.archive_path('9.27.0').relative_to(other.path).as_posix()}"
    ]
    assert check_mirror(ground.mirror)


def test_a_manifest_is_read_anew_whatever_the_root_keeps(ground: Ground) -> None:
    fetch("9.27.0", sources=[str(ground.tree.path)], root=ground.root, **CHOICE)
    ground.tree.edit_manifest("9.27.0", lambda node: node.update(release_date="2027-01-01"))
    ground.make(**ONE)

    manifest = ground.tree.manifest_path("9.27.0")
    assert (ground.mirror / ground.place(manifest)).read_bytes() == manifest.read_bytes()


def test_progress_reaches_the_size_of_each_archive(ground: Ground, server: RedistServer) -> None:
    told: dict[str, int] = {}
    ground.make(source=server.url, landed=lambda place, done: told.update({place: done}))

    assert told == {ground.place(path): path.stat().st_size for path in archives(ground.tree, "*-9.27.0.*")}


def test_a_few_archives_are_under_way_at_a_time(ground: Ground, server: RedistServer) -> None:
    server.rate = 100_000
    ground.make("9.27.0", source=server.url, component="cudnn", transfer=IMPATIENT)
    lines = {request.connection for request in server.requests(".tar.xz")}

    assert 2 <= len(lines) <= 4


def test_nothing_is_printed(
    ground: Ground, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    ground.make()

    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
