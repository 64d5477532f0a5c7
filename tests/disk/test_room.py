"""What is needed is held against what is free before the first byte of an archive is asked for (C59, C60)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from installing import everything, options, planned
from redist.command import run_command
from redist.faults import Cut

from cudnn_redist import install
from cudnn_redist.errors import PrefixError, TransferError

if TYPE_CHECKING:
    from pathlib import Path

    from disk.mounting import Mounts
    from redist import RedistServer

ARCHIVE = ".tar.gz"
CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
NUMBERS = re.compile(r"needs about ([\d,]+) bytes, ([\d,]+) are free; nothing was fetched$")


def numbers(text: str) -> tuple[int, int]:
    """Return what is needed and what is free."""
    found = NUMBERS.search(text)
    assert found, text
    needed, free = (int(number.replace(",", "")) for number in found.groups())
    return needed, free


def test_the_root_is_too_small(mounts: Mounts, tmp_path: Path, big_server: RedistServer) -> None:
    place = mounts.tmpfs(tmp_path / "small", "6m")
    words = (*CHOICE, "--root", place / "root", "--source", big_server.url)
    done = run_command("fetch", "9.27.0", *words)
    assert (done.code, done.out) == (7, "")
    reason = done.err.splitlines()[-1]
    assert reason.startswith(f"cudnn-redist: space: {place}: ")
    size = planned(big_server.url, place).archives[0].size or 0
    assert numbers(reason) == (int(size * 3.5), 6 << 20)
    assert big_server.requests(ARCHIVE) == []
    assert everything(place) == {}


@pytest.mark.parametrize("option", ["--dest", "--root"])
def test_what_is_unpacked_goes_to_another_device(
    mounts: Mounts, tmp_path: Path, big_server: RedistServer, option: str
) -> None:
    """``--dest`` is measured where it lies; a root that holds both is measured for both."""
    place = mounts.tmpfs(tmp_path / "small", "12m")
    words = [*CHOICE, "--source", big_server.url, option, place / "here"]
    if option == "--dest":
        words += ["--root", tmp_path / "root"]
    done = run_command("fetch", "9.27.0", *words)
    # Unpacked it takes 10.5 MB by the estimate, with the archive 14.7 MB.
    assert done.code == (0 if option == "--dest" else 7), done.err
    assert len(big_server.requests(ARCHIVE)) == (1 if option == "--dest" else 0)


def test_partials_on_another_device_are_measured_there(
    mounts: Mounts, tmp_path: Path, big_server: RedistServer
) -> None:
    partials = mounts.tmpfs(tmp_path / "root/.partial", "2m")
    with pytest.raises(PrefixError) as caught:
        install(planned(big_server.url, tmp_path / "root"))
    assert (caught.value.phase, caught.value.where) == ("space", str(partials))
    assert numbers(caught.value.cause)[1] == 2 << 20
    assert big_server.requests(ARCHIVE) == []
    assert everything(tmp_path / "root") == {".partial": ("directory", "")}


def test_partials_on_another_device_serve(mounts: Mounts, tmp_path: Path, big_server: RedistServer) -> None:
    mounts.tmpfs(tmp_path / "root/.partial", "6m")
    big_server.fail(ARCHIVE, Cut(1_000_000))
    (prefix,) = install(planned(big_server.url, tmp_path / "root"))
    assert prefix.verify() == ()
    assert [request.range for request in big_server.requests(ARCHIVE)] == [None, "bytes=1000000-"]


def test_bytes_that_landed_before_are_not_asked_for_twice(
    mounts: Mounts, tmp_path: Path, big_server: RedistServer
) -> None:
    """With most of the archive on the disk, there is room for the rest and for what it unpacks to."""
    place = mounts.tmpfs(tmp_path / "small", "15m")
    made = planned(big_server.url, place)
    big_server.fail(ARCHIVE, Cut(3_000_000))
    with pytest.raises(TransferError):
        install(made, options=options())
    (prefix,) = install(made, options=options())
    assert prefix.verify() == ()
    assert [request.range for request in big_server.requests(ARCHIVE)] == [None, "bytes=3000000-"]


def test_an_archive_in_the_store_needs_no_room_to_land(
    mounts: Mounts, tmp_path: Path, big_server: RedistServer
) -> None:
    """The store lies on another device than the root, which takes a copy when it is filled."""
    store = mounts.tmpfs(tmp_path / "store", "6m")
    install(planned(big_server.url, tmp_path / "root"), options=options(archives=store))
    small = mounts.tmpfs(tmp_path / "small", "12m")
    (prefix,) = install(planned(big_server.url, small), options=options(archives=store))
    assert prefix.verify() == ()
    assert len(big_server.requests(ARCHIVE)) == 1


def test_a_store_without_room_keeps_nothing_and_stops_nothing(
    mounts: Mounts, tmp_path: Path, big_server: RedistServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = mounts.tmpfs(tmp_path / "store", "1m")
    (prefix,) = install(planned(big_server.url, tmp_path / "root"), options=options(archives=store))
    assert prefix.verify() == ()
    assert f"could not be kept as {store}" in caplog.text
    assert "No space left on device" in caplog.text
    assert [path for path, (kind, _) in everything(store).items() if kind != "directory"] == []


def test_a_small_temporary_directory_is_never_used(
    mounts: Mounts, tmp_path: Path, big_server: RedistServer
) -> None:
    """C60."""
    temporary = mounts.tmpfs(tmp_path / "tmp", "16k")
    words = (*CHOICE, "--root", tmp_path / "root", "--source", big_server.url)
    done = run_command("fetch", "9.27.0", *words, env={"TMPDIR": str(temporary)})
    assert done.code == 0, done.err
    assert everything(temporary) == {}


def test_a_mount_is_no_place_for_a_prefix(mounts: Mounts, tmp_path: Path, big_server: RedistServer) -> None:
    """A volume of a container: no rename can put a prefix in its place, and that is said first."""
    volume = mounts.tmpfs(tmp_path / "volume", "30m")
    words = (*CHOICE, "--root", tmp_path / "root", "--source", big_server.url)
    done = run_command("fetch", "9.27.0", *words, "--dest", volume)
    assert (done.code, done.out) == (7, "")
    assert f"{volume}: a file system is mounted here" in done.err.splitlines()[-1]
    assert big_server.requests(ARCHIVE) == []
    assert run_command("fetch", "9.27.0", *words, "--dest", volume / "cudnn").code == 0
