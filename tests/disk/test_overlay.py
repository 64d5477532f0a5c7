"""A prefix in the lower layer of an overlay, as in a container's image: nothing can move it (EXDEV) or lose it.

A build that fetches in one layer and fetches again in the next one meets this.
"""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from disk.moments import before
from disk.mounting import fill
from installing import everything, leftovers, options, planned
from redist import RedistTree
from redist.command import run_command

from cudnn_redist import Prefix, install
from cudnn_redist.errors import PrefixError

if TYPE_CHECKING:
    from pathlib import Path

    from disk.mounting import Mounts

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
PREFIX = "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"


@dataclass(frozen=True)
class Layered:
    """A root with a prefix of 9.27.0 and a ``dest`` with 9.26.0, both in the lower layer, and a link beside them."""

    place: Path
    source: Path

    @property
    def root(self) -> Path:
        return self.place / "root"

    @property
    def prefix(self) -> Path:
        return self.root / PREFIX

    @property
    def dest(self) -> Path:
        return self.place / "dest"

    @property
    def words(self) -> tuple[str | Path, ...]:
        return (*CHOICE, "--root", self.root, "--source", self.source)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Layered:
    """What the lower layer holds; an overlay never writes there."""
    tree = RedistTree(tmp_path_factory.mktemp("tree"))
    for label in ("9.26.0", "9.27.0"):
        tree.add_release(label, platforms=("linux-x86_64",), variants=("cuda13",))
    image = Layered(tmp_path_factory.mktemp("lower"), tree.path)
    install(planned(tree.path, image.root))
    install(planned(tree.path, image.root, "9.26.0"), dest=image.dest)
    (image.place / "link").symlink_to(image.prefix)
    return image


@pytest.fixture
def layered(mounts: Mounts, tmp_path: Path, image: Layered) -> Layered:
    scratch = mounts.tmpfs(tmp_path / "scratch", "8m")
    return Layered(mounts.overlay(tmp_path / "merged", lower=image.place, scratch=scratch), image.source)


def sound(path: Path, label: str = "9.27.0") -> bool:
    prefix = Prefix.open(path)
    return prefix.record.label == label and prefix.verify() == ()


def test_the_system_refuses_to_move_it(layered: Layered) -> None:
    """What the other tests here are about; a kernel with another default would make them prove nothing."""
    with pytest.raises(OSError, match="cross-device") as caught:
        layered.prefix.rename(layered.prefix.with_name("aside"))
    assert caught.value.errno == errno.EXDEV


@pytest.mark.parametrize("damage", [None, "LICENSE", ".cudnn-redist.json", "include"])
def test_it_is_installed_again(layered: Layered, damage: str | None) -> None:
    """By ``--force``, or because something is missing."""
    if damage is not None:
        gone = layered.prefix / damage
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    (layered.prefix / "added").write_text("goes with the old prefix")
    done = run_command("fetch", "9.27.0", *layered.words, *(["--force"] if damage is None else []))
    assert (done.code, done.out) == (0, f"{layered.prefix}\n"), done.err
    assert sound(layered.prefix)
    assert leftovers(layered.place) == []


@pytest.mark.parametrize(
    ("label", "more"), [("9.26.0", ("--force",)), ("9.27.0", ())], ids=["again", "another release"]
)
def test_the_users_own_directory_is_replaced(layered: Layered, label: str, more: tuple[str, ...]) -> None:
    done = run_command("fetch", label, *layered.words, "--dest", layered.dest, *more)
    assert (done.code, done.out) == (0, f"{layered.dest}\n"), done.err
    assert sound(layered.dest, label)
    assert leftovers(layered.place) == []


@pytest.mark.parametrize("by", ["label", "path"])
def test_it_is_removed(layered: Layered, by: str) -> None:
    target = "9.27.0" if by == "label" else layered.prefix
    done = run_command("remove", target, "--root", layered.root)
    assert (done.code, done.out) == (0, f"{layered.prefix}\n"), done.err
    assert not (layered.root / "cudnn").exists()
    assert run_command("fetch", "9.27.0", *layered.words).code == 0
    assert sound(layered.prefix)


def test_a_link_is_turned(layered: Layered) -> None:
    link = layered.place / "link"
    done = run_command("fetch", "9.26.0", *layered.words, "--link", link)
    assert done.code == 0
    assert sound(link, "9.26.0")


def test_an_emptied_prefix_is_no_obstacle(layered: Layered) -> None:
    for child in layered.prefix.iterdir():
        shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    assert run_command("fetch", "9.27.0", *layered.words).code == 0
    assert sound(layered.prefix)


def test_what_killed_runs_left_in_the_image_is_swept(
    mounts: Mounts, tmp_path: Path, redist_tree: RedistTree
) -> None:
    stage = tmp_path / "lower" / f"{PREFIX.rpartition('/')[0]}/.cudnn-redist-elsewhere.1.0a0a0a0a.stage"
    (stage / "top").mkdir(parents=True)
    (stage / "top/file").touch()
    os.utime(stage, (0, 0))
    place = mounts.overlay(
        tmp_path / "merged", lower=tmp_path / "lower", scratch=mounts.tmpfs(tmp_path / "scratch", "8m")
    )
    (prefix,) = install(planned(redist_tree.path, place))
    assert prefix.verify() == ()
    assert leftovers(place) == []


# What fails on the way


def test_a_successor_that_fails_leaves_the_copy_in_its_place(layered: Layered) -> None:
    was = everything(layered.prefix)
    times = {path: path.lstat().st_mtime for path in layered.prefix.rglob("*")}
    made = planned(layered.source, layered.root)

    def lose_the_stage() -> None:
        (stage,) = layered.prefix.parent.glob("*.stage")
        shutil.rmtree(stage)

    # The first rename finds the old prefix, the second one is to put the new one in its place.
    with (
        before("os.rename", layered.prefix.__eq__, lose_the_stage, turn=2),
        pytest.raises(PrefixError, match="No such file"),
    ):
        install(made, options=options(force=True))
    assert everything(layered.prefix) == was
    assert {path: path.lstat().st_mtime for path in times} == times
    assert sound(layered.prefix)
    assert leftovers(layered.place) == []


@pytest.mark.parametrize("suffix", [".old", ".gone"], ids=["before the copy", "before the record goes"])
def test_an_interruption_leaves_the_prefix(layered: Layered, suffix: str) -> None:
    was = everything(layered.prefix)

    def interrupt() -> None:
        raise KeyboardInterrupt

    made = planned(layered.source, layered.root)
    with pytest.raises(KeyboardInterrupt), before("os.rename", lambda path: path.suffix == suffix, interrupt):
        install(made, options=options(force=True))
    assert everything(layered.prefix) == was
    assert leftovers(layered.place) == []


def test_no_room_for_the_copy_leaves_the_prefix(layered: Layered, tmp_path: Path) -> None:
    was = everything(layered.prefix)
    made = planned(layered.source, layered.root)
    scratch = tmp_path / "scratch"
    with (
        before("os.rename", lambda path: path.suffix == ".old", lambda: fill(scratch)),
        pytest.raises(PrefixError, match="No space left on device: needs about") as caught,
    ):
        install(made, options=options(force=True))
    assert caught.value.phase == "publish"
    assert everything(layered.prefix) == was
    assert sound(layered.prefix)
    assert leftovers(layered.place) == []


def test_what_cannot_be_deleted_is_made_whole_again(layered: Layered, mounts: Mounts) -> None:
    """A mount inside the prefix: of all that goes before it, nothing stays gone."""
    mounts.tmpfs(layered.prefix / "lib/mounted", "16k")
    was = everything(layered.prefix)
    with pytest.raises(PrefixError, match="busy"):
        install(planned(layered.source, layered.root), options=options(force=True))
    assert everything(layered.prefix) == was
    assert leftovers(layered.place) == []


def test_an_interrupted_removal_leaves_no_installation_and_needs_no_hand(layered: Layered) -> None:
    """Killed while it deletes in place: the record is gone first, and what is left is known as ours."""
    for target, words in ((layered.prefix, ()), (layered.dest, ("--dest", layered.dest))):
        record = target / ".cudnn-redist.json"
        record.rename(target / ".cudnn-redist-elsewhere.1.0a0a0a0a.gone")
        shutil.rmtree(target / "lib")
        assert run_command("verify", target).code == 3
        label = "9.27.0" if target == layered.prefix else "9.26.0"
        assert run_command("fetch", label, *layered.words, *words).code == 0
        assert sound(target, label)
    assert leftovers(layered.place) == []
