"""A mirror of ``.tar.zst`` archives says so in its manifest, and gives the same trees as the original."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from installing import IMPATIENT, leftovers, planned

from cudnn_redist import fetch, install
from cudnn_redist.errors import DigestMismatch, IntegrityError, UsageError
from cudnn_redist.locking.making import lock
from cudnn_redist.mirroring.checking import check_mirror
from cudnn_redist.mirroring.making import mirror

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistTree

    from cudnn_redist.mirroring.making import Mirrored

PLATFORMS = ("linux-x86_64", "windows-x86_64")


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "mirror"


def repack(dest: Path, source: object, *, level: int = 3, **choices: Any) -> Mirrored:  # noqa: ANN401
    """Mirror 9.27.0 for CUDA 13 and two platforms, or what ``choices`` say, repacked."""
    chosen = {"platform": PLATFORMS, "cuda": "13"} | choices
    return mirror(dest, "9.27.0", sources=[str(source)], repack=level, transfer=IMPATIENT, **chosen)


def entry(dest: Path, platform: str = "linux-x86_64") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manifest_path(dest).read_bytes())["cudnn"][platform]["cuda13"]
    return found


def manifest_path(dest: Path) -> Path:
    return dest / "cudnn/redist/redistrib_9.27.0.json"


def archives(dest: Path) -> list[str]:
    return sorted(path.name for path in dest.rglob("*-archive.*"))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_both_routes_lead_to_the_same_tree(
    platform: str, dest: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    repack(dest, redist_tree.path)

    (theirs,) = install(planned(redist_tree.path, tmp_path / "1", platform=platform))
    (ours,) = install(planned(dest, tmp_path / "2", platform=platform))

    assert ours.record.tree == theirs.record.tree == entry(dest, platform)["tree"]
    assert ours.record.archive_path.endswith(".tar.zst")
    assert ours.record.entries == theirs.record.entries
    assert ours.verify() == ()


def test_only_what_its_source_published_anew_is_told_so(
    dest: Path, redist_tree: RedistTree, caplog: pytest.LogCaptureFixture
) -> None:
    repack(dest, redist_tree.path)
    mirror(dest, "9.27.0", sources=[str(redist_tree.path)], cuda="13", transfer=IMPATIENT)
    repack(dest, redist_tree.path)
    repack(dest, redist_tree.path, cuda="12")
    assert "published anew" not in caplog.text

    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2027-01-01"))
    repack(dest, redist_tree.path)
    assert "release 9.27.0 was published anew" in caplog.text


def test_the_manifest_keeps_what_nvidia_says_of_the_original(dest: Path, redist_tree: RedistTree) -> None:
    original = redist_tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]

    repack(dest, redist_tree.path)

    found = entry(dest)
    assert json.loads(manifest_path(dest).read_bytes())["repacked"] == "tar.zst"
    assert {name: found[f"original_{name}"] for name in ("relative_path", "sha256", "size")} == {
        name: original[name] for name in ("relative_path", "sha256", "size")
    }
    assert found["relative_path"] == original["relative_path"].replace(".tar.xz", ".tar.zst")
    assert "md5" not in found
    assert (dest / "cudnn/redist" / found["relative_path"]).stat().st_size == int(found["size"])


def test_nothing_else_is_left_in_the_mirror(dest: Path, redist_tree: RedistTree) -> None:
    found = repack(dest, redist_tree.path)

    assert archives(dest) == [
        "cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.zst",
        "cudnn-windows-x86_64-9.27.0.42_cuda13-archive.tar.zst",
    ]
    assert sorted(path.name for path in dest.iterdir()) == [
        ".cudnn-redist-mirror.json",
        ".partial",
        "cudnn",
        "index.html",
    ]
    assert sorted(check_mirror(dest)) == sorted((*found.fetched, *small_files(dest)))


def small_files(dest: Path) -> list[str]:
    shown = [path for path in dest.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return [path.relative_to(dest).as_posix() for path in shown if "-archive." not in path.name]


def test_what_was_repacked_stays_whatever_its_level(dest: Path, redist_tree: RedistTree) -> None:
    repack(dest, redist_tree.path)
    before = {path: path.stat().st_mtime_ns for path in dest.rglob("*-archive.*")}

    again = repack(dest, redist_tree.path, level=9)

    assert again.fetched == ()
    assert {path: path.stat().st_mtime_ns for path in dest.rglob("*-archive.*")} == before


def test_an_archive_that_was_published_anew_is_repacked_anew(dest: Path, redist_tree: RedistTree) -> None:
    repack(dest, redist_tree.path, platform="linux-x86_64")
    before = entry(dest)
    other = redist_tree.archive_path("9.26.0").read_bytes()
    redist_tree.replace_archive(other, "9.27.0", update_manifest=True)

    found = repack(dest, redist_tree.path, platform="linux-x86_64")

    after = entry(dest)
    assert len(found.fetched) == 1
    assert after["original_sha256"] == hashlib.sha256(other).hexdigest() != before["original_sha256"]
    assert after["tree"] != before["tree"]
    assert len(check_mirror(dest)) > 2


def test_two_machines_make_the_same_mirror(dest: Path, redist_tree: RedistTree, tmp_path: Path) -> None:
    mirrors = (dest, tmp_path / "other")
    for each in mirrors:
        repack(each, redist_tree.path)

    one, other = ({path.relative_to(each): path.read_bytes() for path in files(each)} for each in mirrors)

    assert one == other


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_failure_keeps_what_was_repacked(dest: Path, redist_tree: RedistTree) -> None:
    repack(dest, redist_tree.path, platform="linux-x86_64")
    path = redist_tree.archive_path("9.27.0", platform="windows-x86_64")
    good = path.read_bytes()
    redist_tree.replace_archive(good[:-1] + b"?", "9.27.0", platform="windows-x86_64")
    before = manifest_path(dest).read_bytes()

    with pytest.raises(IntegrityError):
        repack(dest, redist_tree.path)

    assert archives(dest) == ["cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.zst"]
    assert manifest_path(dest).read_bytes() == before
    redist_tree.replace_archive(good, "9.27.0", platform="windows-x86_64")
    assert [place.rpartition("/")[2] for place in repack(dest, redist_tree.path).fetched] == [
        "cudnn-windows-x86_64-9.27.0.42_cuda13-archive.tar.zst"
    ]


def test_another_choice_leaves_what_is_there_in_the_manifest(dest: Path, redist_tree: RedistTree) -> None:
    repack(dest, redist_tree.path)
    repack(dest, redist_tree.path, platform="linux-sbsa")

    assert [entry(dest, platform)["relative_path"][-8:] for platform in (*PLATFORMS, "linux-sbsa")] == [
        ".tar.zst"
    ] * 3


def test_what_was_not_chosen_stays_as_published(dest: Path, redist_tree: RedistTree) -> None:
    repack(dest, redist_tree.path)

    published = redist_tree.manifest("9.27.0")["cudnn"]["linux-sbsa"]["cuda13"]
    assert entry(dest, "linux-sbsa") == published


def test_a_mirror_of_a_repacked_mirror_takes_archives_as_they_are(
    dest: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    repack(dest, redist_tree.path)
    repack(tmp_path / "second", dest)

    assert entry(tmp_path / "second") == entry(dest)


def test_a_tree_that_is_not_the_promised_one_is_not_installed(
    dest: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    repack(dest, redist_tree.path)
    true, false = entry(dest)["tree"], "0" * 64
    text = manifest_path(dest).read_text().replace(true, false)
    manifest_path(dest).write_text(text)

    with pytest.raises(DigestMismatch, match="promised is 0000") as caught:
        install(planned(dest, tmp_path / "root"))

    assert (caught.value.expected, caught.value.actual) == (false, true)
    assert not list((tmp_path / "root").rglob("cuda13"))
    assert leftovers(tmp_path / "root") == []


def test_a_lock_of_a_repacked_mirror_knows_the_trees(
    dest: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    repack(dest, redist_tree.path)
    made = lock("9.27.0", sources=[str(dest)], root=tmp_path, platform=PLATFORMS, cuda="13")

    assert [each.tree for each in made.releases[0].archives] == [
        entry(dest, name)["tree"] for name in PLATFORMS
    ]
    prefix = fetch(lock=made, root=tmp_path, platform="linux-x86_64", cuda="13")
    assert prefix.record.tree == entry(dest)["tree"]


@pytest.mark.parametrize("level", [0, 20, -1])
def test_there_are_nineteen_levels(level: int, dest: Path, redist_tree: RedistTree) -> None:
    with pytest.raises(UsageError, match="1 to 19"):
        repack(dest, redist_tree.path, level=level)

    assert not dest.exists()
