from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prefix.ordinary import NOBODY, run_as_ordinary_user

from cudnn_redist.source.partial import Partial, discard_partials, sweep_partials

if TYPE_CHECKING:
    from collections.abc import Callable

SHA = "ab" * 32
URL = "https://mirror.example/x.tar.xz"
HOUR = 3600.0


def left(directory: Path, data: bytes = b"some bytes", *, owner: str = "free", url: str = URL) -> Path:
    """Leave a partial with its note, and return its path."""
    path = directory / f"{SHA}.{owner}.0123abcd.part"
    path.write_bytes(data)
    path.with_name(f"{path.name}.json").write_text(json.dumps({"url": url, "validator": '"v"'}))
    return path


def age(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def here(pid: int) -> str:
    return f"{socket.gethostname().replace('.', '-')}.{pid}"


def test_a_new_one_is_empty_private_and_goes(tmp_path: Path) -> None:
    with Partial.claim(tmp_path / "deep/.partial", SHA) as partial:
        (path,) = (tmp_path / "deep/.partial").iterdir()
        assert partial.size == 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    assert names(tmp_path / "deep/.partial") == []


def test_bytes_are_read_where_they_were_written(tmp_path: Path) -> None:
    with Partial.claim(tmp_path, SHA) as partial:
        partial.write_at(b"abcdef", 0)
        partial.write_at(memoryview(b"XY"), 2)
        with partial.open() as file:
            assert file.read() == b"abXYef"
        assert partial.read_at(3, 1) == b"bXY"
        assert partial.read_at(9, 6) == b""


@pytest.mark.parametrize("owner", ["free", "dead", "elsewhere"])
def test_what_nobody_fills_is_taken_over_with_its_note(owner: str, tmp_path: Path) -> None:
    owners = {"free": "free", "dead": here(dead_process()), "elsewhere": "elsewhere.1"}
    path = left(tmp_path, owner=owners[owner])
    if owner == "elsewhere":
        age(path, 2 * HOUR)

    with Partial.claim(tmp_path, SHA) as partial:
        assert partial.read_at(99, 0) == b"some bytes"
        assert partial.validator_at(URL) == '"v"'
        assert not path.exists()

    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "owner",
    [here(os.getpid()), here(1), "elsewhere.1", here(10**30), here(0)],
    ids=["this", "init", "elsewhere", "endless", "zero"],
)
def test_what_somebody_may_still_fill_is_left_alone(owner: str, tmp_path: Path) -> None:
    path = left(tmp_path, owner=owner)
    if owner.startswith(socket.gethostname()):
        age(path, 2 * HOUR)

    with Partial.claim(tmp_path, SHA) as partial:
        assert partial.size == 0

    assert path.read_bytes() == b"some bytes"


def test_a_machine_called_free_has_no_free_partials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "free")
    with Partial.claim(tmp_path, SHA) as mine, Partial.claim(tmp_path, SHA) as other:
        mine.write_at(b"x", 0)
        assert other.size == 0


def test_the_largest_is_taken(tmp_path: Path) -> None:
    left(tmp_path, b"small", owner="free.a")
    left(tmp_path, b"the large one", owner=here(dead_process()))
    left(tmp_path, b"medium")

    with Partial.claim(tmp_path, SHA) as partial:
        assert partial.size == len(b"the large one")


def test_another_archive_is_not_taken(tmp_path: Path) -> None:
    left(tmp_path)
    with Partial.claim(tmp_path, "cd" * 32) as partial:
        assert partial.size == 0


@pytest.mark.parametrize(
    "make", [Path.mkdir, lambda path: path.symlink_to("/etc/passwd")], ids=["dir", "link"]
)
def test_what_is_no_file_is_not_taken(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / f"{SHA}.free.0123abcd.part")
    with Partial.claim(tmp_path, SHA) as partial:
        assert partial.size == 0


CLAIM = """
import sys
from pathlib import Path
from cudnn_redist.source.partial import Partial
with Partial.claim(Path(sys.argv[1]), sys.argv[2]) as partial:
    print(partial.size)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
def test_what_another_user_left_stays_his(tmp_path: Path) -> None:
    path = left(tmp_path)
    path.chmod(0o600)
    os.chown(path, NOBODY, NOBODY)
    before = names(tmp_path)
    done = run_as_ordinary_user("-c", CLAIM, tmp_path, SHA)

    assert (done.stdout, done.stderr) == ("0\n", "")
    assert names(tmp_path) == before


def test_released_bytes_stay_for_the_next(tmp_path: Path) -> None:
    with Partial.claim(tmp_path, SHA) as partial:
        partial.write_at(b"abc", 0)
        partial.note(URL, '"v"')
        partial.release()
    assert len(names(tmp_path)) == 2

    with Partial.claim(tmp_path, SHA) as partial:
        assert (partial.size, partial.validator_at(URL)) == (3, '"v"')


def test_nothing_is_kept_of_nothing(tmp_path: Path) -> None:
    with Partial.claim(tmp_path, SHA) as partial:
        partial.note(URL, '"v"')
        partial.release()

    assert names(tmp_path) == []


def test_a_partial_that_was_swept_away_is_released_without_a_word(tmp_path: Path) -> None:
    with Partial.claim(tmp_path, SHA) as partial:
        partial.write_at(b"abc", 0)
        for path in tmp_path.iterdir():
            path.unlink()
        partial.release()

    assert names(tmp_path) == []


def test_a_note_has_no_secret(tmp_path: Path) -> None:
    url = "https://user:hunter2@mirror.example/x?token=t0ken"
    with Partial.claim(tmp_path, SHA) as partial:
        partial.note(url, '"v"')
        (note,) = tmp_path.glob("*.json")
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        assert b"hunter2" not in note.read_bytes()
        assert b"t0ken" not in note.read_bytes()
        assert partial.validator_at(url) == '"v"'
        assert partial.validator_at("https://other.example/x") is None


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100000,
        b'{"url": "U"}',
        b'{"url": "U", "validator": 7}',
        b'{"url": "U", "validator": "a\\nb: c"}',
        '{"url": "U", "validator": "é"}'.encode(),
    ],
    ids=["empty", "cut", "list", "binary", "deep", "none", "number", "newline", "accent"],
)
def test_a_damaged_note_is_none(note: bytes, tmp_path: Path) -> None:
    path = left(tmp_path)
    path.with_name(f"{path.name}.json").write_bytes(note.replace(b'"U"', json.dumps(URL).encode()))

    with Partial.claim(tmp_path, SHA) as partial:
        assert partial.size == 10
        assert partial.validator_at(URL) is None


def test_truncating_forgets_the_note(tmp_path: Path) -> None:
    left(tmp_path)
    with Partial.claim(tmp_path, SHA) as partial:
        partial.truncate()
        assert (partial.size, partial.validator_at(URL)) == (0, None)


def test_a_stored_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with Partial.claim(tmp_path / "partial", SHA) as partial:
        partial.write_at(b"abc", 0)
        partial.store_at(tmp_path / "store" / SHA)

    stored = tmp_path / "store" / SHA
    plain = tmp_path / "plain"
    plain.touch()
    assert stored.read_bytes() == b"abc"
    assert stored.stat().st_mode == plain.stat().st_mode
    assert names(tmp_path / "store") == [SHA]
    assert names(tmp_path / "partial") == []


def test_what_cannot_be_stored_is_told(tmp_path: Path) -> None:
    (tmp_path / "store/there").mkdir(parents=True)
    with Partial.claim(tmp_path / "partial", SHA) as partial:
        partial.write_at(b"abc", 0)
        with pytest.raises(IsADirectoryError):
            partial.store_at(tmp_path / "store")

    assert names(tmp_path) == ["partial", "store"]


def test_without_pread_the_bytes_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.delattr(os, "pread")
    monkeypatch.delattr(os, "pwrite")
    with Partial.claim(tmp_path, SHA) as partial:
        partial.write_at(b"abcdef", 0)
        partial.write_at(b"XY", 2)
        assert partial.read_at(4, 1) == b"bXYe"


def test_leftovers_of_one_archive_can_be_discarded(tmp_path: Path) -> None:
    left(tmp_path)
    alive = left(tmp_path, owner=here(os.getpid()))
    other = tmp_path / f"{'cd' * 32}.free.0123abcd.part"
    other.touch()

    discard_partials(tmp_path, SHA)
    discard_partials(tmp_path / "missing", SHA)

    assert names(tmp_path) == sorted([alive.name, f"{alive.name}.json", other.name])


def test_sweeping_takes_the_old_and_the_notes_of_none(tmp_path: Path) -> None:
    old, young = age(left(tmp_path, owner="a.1"), 25 * HOUR), left(tmp_path, owner="b.2")
    for path in (old, young):
        age(path.with_name(f"{path.name}.json"), 25 * HOUR)
    (tmp_path / "foreign").touch()
    age(tmp_path / "foreign", 25 * HOUR)

    sweep_partials(tmp_path)
    sweep_partials(tmp_path / "missing")

    assert names(tmp_path) == sorted([young.name, f"{young.name}.json", "foreign"])
