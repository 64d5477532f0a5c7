"""A disk that fills up (C59), in each phase: exit 7 with the numbers, nothing half done, what was there untouched."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from disk.moments import before
from disk.mounting import BALLAST, fill, fill_names
from installing import everything, leftovers, options, planned
from redist import File
from redist.command import run_command

from cudnn_redist import Prefix, Progress, install
from cudnn_redist.errors import PrefixError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from disk.mounting import Mounts
    from redist import RedistServer, RedistTree

    from cudnn_redist import Plan

NUMBERS = (
    r"No space left on device: needs about [\d,]+ bytes in all, [\d,]+ are free with what was begun removed$"
)


@dataclass
class Filler:
    """A progress callback that fills ``place`` when ``phase`` is first heard of, and keeps what it heard."""

    place: Path
    phase: str
    heard: list[Progress] = field(default_factory=list)
    at: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        self.heard.append(progress)
        if self.at is None and progress.phase == self.phase:
            self.at = progress
            fill(self.place)

    @property
    def phases(self) -> set[str]:
        return {progress.phase for progress in self.heard}


@dataclass
class Ground:
    """A small file system with an earlier install on it, which no failure may touch."""

    place: Path
    earlier: Prefix
    before: dict[str, tuple[str, str]]

    def untouched(self) -> bool:
        (self.place / BALLAST).unlink(missing_ok=True)
        return everything(self.place) == self.before and self.earlier.verify() == ()


def ground_at(place: Path, tree: RedistTree) -> Ground:
    (earlier,) = install(planned(tree.path, place, "9.26.0"))
    return Ground(place, earlier, everything(place))


@pytest.fixture
def small(mounts: Mounts, tmp_path: Path, big_tree: RedistTree) -> Iterator[Ground]:
    """Room for the archive and its estimate, which is asked for first, and not much more."""
    return ground_at(mounts.tmpfs(tmp_path / "small", "20m"), big_tree)


def refused(made: Plan, **how: object) -> PrefixError:
    with pytest.raises(PrefixError, match=NUMBERS) as caught:
        install(made, **how)  # type: ignore[arg-type]
    assert caught.value.exit_code == 7
    return caught.value


def test_while_downloading(small: Ground, big_server: RedistServer) -> None:
    filler = Filler(small.place, "download")
    made = planned(big_server.url, small.place)
    error = refused(made, options=options(verify_first=True), progress=filler)
    assert error.phase == "download"
    assert str(error.where).startswith(str(small.place / ".partial"))
    assert filler.phases == {"download"}
    assert filler.at is not None
    assert 0 < filler.at.done < (made.archives[0].size or 0)
    assert len(big_server.requests(".tar.gz")) == 1
    assert leftovers(small.place) == []
    assert not made.archives[0].prefix.exists()
    assert small.earlier.verify() == ()
    (small.place / BALLAST).unlink()
    assert install(made)[0].verify() == ()


def test_while_unpacking(small: Ground, big_tree: RedistTree) -> None:
    filler = Filler(small.place, "unpack")
    made = planned(big_tree.path, small.place)
    error = refused(made, progress=filler)
    assert (error.phase, error.where) == ("unpack", str(made.archives[0].prefix))
    assert filler.phases == {"unpack"}
    assert small.untouched()
    assert install(made)[0].verify() == ()


def test_while_downloading_and_unpacking_at_once(small: Ground, big_server: RedistServer) -> None:
    filler = Filler(small.place, "unpack")
    error = refused(planned(big_server.url, small.place), progress=filler)
    assert error.phase in ("download", "unpack")
    assert filler.phases == {"download", "unpack"}
    assert leftovers(small.place) == []
    assert small.earlier.verify() == ()


def test_while_the_record_is_written(small: Ground, big_tree: RedistTree) -> None:
    made = planned(big_tree.path, small.place)
    heard: list[Progress] = []

    def the_new_record(path: Path) -> bool:
        return path.name == ".cudnn-redist.json" and path.parent.parent.suffix == ".stage"

    with before("open", the_new_record, lambda: fill(small.place)):
        error = refused(made, progress=heard.append)
    assert error.phase == "publish"
    assert heard[-1].phase == "unpack"
    assert heard[-1].done > 4 << 20
    assert small.untouched()


def test_while_it_is_published(mounts: Mounts, tmp_path: Path, big_tree: RedistTree) -> None:
    """The rename itself: the directory has no room for another name, and cannot grow."""
    ground = ground_at(mounts.ext4(tmp_path / "small", tmp_path / "image", 40 << 20), big_tree)
    made = planned(big_tree.path, ground.place)
    target = made.archives[0].prefix

    def no_room() -> None:
        fill(ground.place)
        fill_names(target.parent)

    with before("os.rename", lambda path: path == target, no_room):
        error = refused(made)
    assert error.phase == "publish"
    assert not target.exists()
    assert leftovers(ground.place) == []
    assert ground.earlier.verify() == ()


def test_when_only_the_log_is_left_to_write(
    small: Ground, big_tree: RedistTree, caplog: pytest.LogCaptureFixture
) -> None:
    """The prefix stands, so that is no failure; and no half a line is left for the next one to hang on to."""
    made = planned(big_tree.path, small.place)
    log = small.place / ".log.jsonl"
    page = log.read_bytes().ljust(4096 - 20, b"\n")
    log.write_bytes(page)
    with caplog.at_level(logging.WARNING), before("open", log.__eq__, lambda: fill(small.place)):
        (prefix,) = install(made)
    assert f"{log}: a note on this installation could not be kept: No space left on device" in caplog.text
    assert prefix.verify() == ()
    assert log.read_bytes() == page
    (small.place / BALLAST).unlink()
    install(made, options=options(force=True))
    assert json.loads(log.read_text().splitlines()[-1])["prefix"] == str(prefix.path)


def test_the_command_says_so(mounts: Mounts, tmp_path: Path, redist_tree: RedistTree) -> None:
    """Content that unpacks to more than any estimate: nothing but the disk can tell."""
    zeros = {"lib/libcudnn.so.9.27.0": File(bytes(3_000_000), 0o755)}
    redist_tree.add_release("9.27.0", content=lambda *_: zeros)
    place = mounts.tmpfs(tmp_path / "small", "1m")
    words = ("--platform", "linux-x86_64", "--cuda", "13", "--root", place, "--source", redist_tree.path)
    assert run_command("fetch", "9.26.0", *words).code == 0
    before = everything(place)
    done = run_command("fetch", "9.27.0", *words)
    assert (done.code, done.out) == (7, "")
    prefix = place / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    reason = f"cudnn-redist: unpack: {prefix}: No space left on device: needs about "
    assert done.err.splitlines()[-1].startswith(reason)
    assert everything(place) == before
    assert run_command("verify", "9.26.0", "--root", place).code == 0
