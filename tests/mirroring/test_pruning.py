"""What goes from a mirror, and what never does: only a mirror's own files are removed or written over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mirroring.ground import ONE

from cudnn_redist import labels
from cudnn_redist.errors import (
    ArchiveWithdrawn,
    PrefixError,
)
from cudnn_redist.mirroring.checking import check_mirror

if TYPE_CHECKING:
    from pathlib import Path

    from mirroring.ground import Ground
    from redist import RedistTree


def archives(tree: RedistTree, pattern: str) -> list[Path]:
    return sorted(tree.redist.glob(f"*/*/{pattern}"))


def test_what_was_not_asked_for_is_pruned_and_the_directories_that_empties(ground: Ground) -> None:
    ground.make(">=9.9")
    found = ground.make("9.26.0", cuda="13", prune=True)

    alone = ground.tree.redist / "cudnn" / "LICENSE.txt"
    kept = archives(ground.tree, "*-9.26.0.*_cuda13-*")
    assert ground.files() == ground.published(ground.tree.manifest_path("9.26.0"), alone, *kept)
    assert "cudnn/redist/redistrib_9.27.0.json" in found.pruned
    assert not (ground.mirror / "cudnn/redist/cudnn_jit").exists()
    assert check_mirror(ground.mirror)
    assert [label.text for label in labels(sources=[str(ground.mirror)])] == ["9.26.0"]


def test_what_no_mirror_made_is_never_pruned(ground: Ground) -> None:
    ground.make("9.26.0")
    foreign = [
        ground.mirror / place
        for place in ("cudnn/redist/redistrib_1.0.0.json", "robots.txt", "cudnn/redist/cudnn/index.htm")
    ]
    for path in foreign:
        path.write_text("mine")
    found = ground.make("9.27.0", component="cudnn_jit", prune=True)

    assert [path.read_text() for path in foreign] == ["mine"] * 3
    assert not set(found.pruned) & {path.relative_to(ground.mirror).as_posix() for path in foreign}


def test_without_prune_everything_stays(ground: Ground) -> None:
    ground.make("9.26.0")
    before = ground.files()
    assert ground.make("9.27.0").pruned == ()
    assert before.items() <= ground.files().items()


def test_a_manifest_goes_before_what_it_names(ground: Ground) -> None:
    """Whatever stops the removing, nobody is promised an archive that has gone."""
    ground.make("9.26.0", **ONE)
    archive = ground.mirror / ground.place(ground.tree.archive_path("9.26.0"))
    archive.unlink()
    (archive / "not removed").mkdir(parents=True)
    with pytest.raises(PrefixError):
        ground.make(**ONE, prune=True)

    assert archive.exists()
    assert [label.text for label in labels(sources=[str(ground.mirror)])] == ["9.27.0"]


def test_nothing_is_pruned_when_the_run_fails(ground: Ground) -> None:
    ground.make("9.26.0")
    ground.tree.archive_path("9.27.0").unlink()
    before = ground.files()
    with pytest.raises(ArchiveWithdrawn):
        ground.make("9.27.0", prune=True)

    assert before.items() <= ground.files().items()


def test_a_file_that_no_mirror_made_is_not_written_over(ground: Ground) -> None:
    ground.make("9.26.0", **ONE)
    place = ground.mirror / ground.place(ground.tree.archive_path("9.27.0"))
    place.write_text("mine")
    with pytest.raises(PrefixError, match="in the way, and no mirror made it"):
        ground.make(**ONE)

    assert place.read_text() == "mine"


def test_a_directory_in_the_way_stays(ground: Ground) -> None:
    ground.make(**ONE)
    place = ground.mirror / ground.place(ground.tree.archive_path("9.27.0"))
    place.unlink()
    place.mkdir()
    (place / "mine").touch()
    with pytest.raises(PrefixError, match="directory"):
        ground.make(**ONE)

    assert (place / "mine").exists()


def test_the_very_archive_that_somebody_put_there_is_taken_as_it_is(ground: Ground) -> None:
    ground.make("9.26.0", **ONE)
    archive = ground.tree.archive_path("9.27.0")
    (ground.mirror / ground.place(archive)).write_bytes(archive.read_bytes())

    assert ground.make(**ONE).fetched == ()


def test_an_index_page_of_ones_own_stays(ground: Ground) -> None:
    ground.make("9.26.0", **ONE)
    (ground.mirror / ".cudnn-redist-mirror.json").write_text('{"schema": 1, "files": {}}')
    (ground.mirror / "index.html").write_text("mine")
    for page in (ground.mirror / "cudnn").rglob("*"):
        if page.is_file() and page.suffix != ".xz":
            page.unlink()
    ground.make("9.26.0", **ONE)

    assert (ground.mirror / "index.html").read_text() == "mine"
