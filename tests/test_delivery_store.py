"""The content-addressed store of --archives (C70)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redist.faults import (
    Status,
)
from source.ground import (
    FAULTY,
    TAR,
    archives,
    get,
    redist,
)

if TYPE_CHECKING:
    from redist import RedistServer


def stored(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if not path.is_dir() or path.is_symlink()]


def test_a_second_root_downloads_nothing(redist_server: RedistServer, tmp_path: Path) -> None:
    options = {"archives": tmp_path / "store"}
    first = get(redist(redist_server), root=tmp_path / "a", options=options)
    second = get(redist(redist_server), root=tmp_path / "b", options=options)

    assert len(archives(redist_server)) == 1
    assert first.record == second.record
    (path,) = stored(tmp_path / "store")
    assert path.name == first.record.archive_sha256
    assert list((tmp_path / "a/.partial").iterdir()) == []


@pytest.mark.parametrize(
    "damage", ["truncated", "empty", "flipped", "faulty", "directory", "dangling", "unreadable"]
)
def test_a_bad_copy_is_replaced_once(
    damage: str, redist_server: RedistServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"archives": tmp_path / "store"}
    get(redist(redist_server), root=tmp_path / "a", options=options)
    (path,) = stored(tmp_path / "store")
    good = path.read_bytes()
    path.unlink()
    match damage:
        case "directory":
            (path / "below").mkdir(parents=True)
        case "dangling":
            path.symlink_to("nowhere")
        case "unreadable":
            path.symlink_to(path)
        case "faulty":
            path.symlink_to(FAULTY)
        case _:
            bad = {"truncated": good[:5000], "empty": b"", "flipped": bytes(len(good))}
            path.write_bytes(bad[damage])

    prefix = get(redist(redist_server), root=tmp_path / "b", options=options)

    assert prefix.verify() == ()
    assert len(archives(redist_server)) == 2
    assert not path.is_symlink()
    assert path.read_bytes() == good
    told = ("truncated", "empty", "flipped", *(("faulty",) if FAULTY.exists() else ()))
    assert ("is not what it was" in caplog.text) == (damage in told)


def test_a_store_may_lie_on_another_file_system(redist_server: RedistServer, tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system")
    store = memory / f"cudnn-redist-test-{os.getpid()}"
    try:
        for name in ("a", "b"):
            get(redist(redist_server), root=tmp_path / name, options={"archives": store})
        (path,) = stored(store)
        assert path.stat().st_mode & 0o077 == (tmp_path / "a/.log.jsonl").stat().st_mode & 0o077
    finally:
        subprocess.run(["rm", "-rf", str(store)], check=True)

    assert len(archives(redist_server)) == 1


def test_a_store_that_cannot_be_written_is_no_failure(
    redist_server: RedistServer, root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "store").touch()

    prefix = get(redist(redist_server), root=root, options={"archives": tmp_path / "store"})

    assert prefix.verify() == ()
    assert "could not be kept" in caplog.text


def test_a_store_works_without_the_source(redist_server: RedistServer, tmp_path: Path) -> None:
    options = {"archives": tmp_path / "store"}
    get(redist(redist_server), root=tmp_path / "a", options=options)
    redist_server.always(TAR, Status(404))

    assert get(redist(redist_server), root=tmp_path / "b", options=options).verify() == ()
