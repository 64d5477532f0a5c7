from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from campaigns.processes import open_files, until
from mirroring.ground import ONE
from redist.command import start_command
from stopwatch import Stopwatch

from cudnn_redist.errors import UsageError, VerificationFailed
from cudnn_redist.mirroring.checking import check_mirror
from cudnn_redist.mirroring.listing import Listed
from cudnn_redist.mirroring.tree import MirrorTree

if TYPE_CHECKING:
    from pathlib import Path

    from mirroring.ground import Ground


def test_a_mirror_is_as_it_was_made(ground: Ground) -> None:
    ground.make(**ONE)

    checked = check_mirror(ground.mirror)
    assert set(checked) > set(ground.files())
    assert [place for place in checked if not (ground.mirror / place).is_file()] == []


def test_every_difference_is_named(ground: Ground) -> None:
    ground.make(component="cudnn", cuda="13")
    gone, changed = sorted(ground.mirror.rglob("*.tar.xz"))
    gone.unlink()
    data = bytearray(changed.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    (ground.mirror / "cudnn/redist/redistrib_9.27.0.json").write_bytes(b"{}")
    with pytest.raises(VerificationFailed, match="3 files are not as mirrored") as caught:
        check_mirror(ground.mirror)

    told = sorted(fault.split(": sha256")[0] for fault in caught.value.findings)
    place = {path: path.relative_to(ground.mirror).as_posix() for path in (gone, changed)}
    assert told == [
        f"changed: {place[changed]}",
        "changed: cudnn/redist/redistrib_9.27.0.json",
        f"missing: {place[gone]}",
    ]
    assert caught.value.exit_code == 9


def test_what_is_removed_is_fetched_again(ground: Ground) -> None:
    ground.make(**ONE)
    (archive,) = ground.mirror.rglob("*.tar.xz")
    archive.write_bytes(bytes(archive.stat().st_size))
    with pytest.raises(VerificationFailed, match="what is removed is fetched again"):
        check_mirror(ground.mirror)
    archive.unlink()
    ground.make(**ONE)

    assert check_mirror(ground.mirror)


def test_a_file_that_turned_into_a_directory(ground: Ground) -> None:
    ground.make(**ONE)
    (archive,) = ground.mirror.rglob("*.tar.xz")
    archive.unlink()
    archive.mkdir()
    with pytest.raises(VerificationFailed, match=r"unreadable: .*: Is a directory"):
        check_mirror(ground.mirror)


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    """In the middle of files that take long to hash."""
    places = [f"cudnn/{number}" for number in range(8)]
    tree = MirrorTree(tmp_path)
    tree.announce({place: Listed(sha256="0" * 64, size=None) for place in places})
    (tmp_path / "cudnn").mkdir()
    for place in places:
        (tmp_path / place).touch()
        os.truncate(tmp_path / place, 1 << 36)
    with start_command("mirror", tmp_path, "--check") as running:
        assert until(lambda: any(path.is_relative_to(tmp_path / "cudnn") for path in open_files(running.pid)))
        with Stopwatch() as watch:
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=60)

    assert (running.returncode, watch.seconds < 2) == (130, True)


@pytest.mark.parametrize("what", ["absent", "empty", "file", "foreign"])
def test_what_is_no_mirror_is_not_checked(what: str, tmp_path: Path) -> None:
    path = tmp_path / what
    if what == "file":
        path.touch()
    elif what != "absent":
        path.mkdir()
    if what == "foreign":
        (path / "x").touch()
    with pytest.raises(UsageError, match="no mirror of ours"):
        check_mirror(path)
