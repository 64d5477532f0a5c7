"""Whatever fails, what bears a final name is whole, and the next run completes the mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from disk.mounting import Mounts
from mirroring.ground import HIDDEN, ONE, TAR
from redist.faults import Cut, Flipped, Headers, Status, Truncated

from cudnn_redist import TransferOptions, fetch, labels
from cudnn_redist.errors import (
    ArchiveWithdrawn,
    DigestMismatch,
    IntegrityError,
    PrefixError,
    TransferError,
    VerificationFailed,
)
from cudnn_redist.mirroring.checking import check_mirror

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mirroring.ground import Ground
    from redist import RedistServer
    from redist.faults import Fault

CHOICE = {"platform": "linux-x86_64", "cuda": "13"}


@pytest.mark.parametrize("fault", [Flipped(1000), Truncated(1000)], ids=["digest", "size"])
def test_wrong_bytes_at_the_source_get_no_final_name(
    fault: Fault, ground: Ground, server: RedistServer
) -> None:
    server.always(f"linux-x86_64-{TAR}", fault)
    with pytest.raises(IntegrityError) as caught:
        ground.make(">=9.26", source=server.url, cuda="13", component="cudnn", platform="linux-x86_64")

    assert (caught.value.exit_code, caught.value.where) == (
        5,
        f"{server.url}cudnn/redist/cudnn/linux-x86_64/cudnn-linux-x86_64-{TAR}",
    )
    assert [place for place in ground.files() if "9.27.0" in place] == []
    # The other release is complete.
    assert [label.text for label in labels(sources=[str(ground.mirror)])] == ["9.26.0"]
    assert ground.partials() == []


def test_wrong_bytes_in_a_directory_get_no_final_name(ground: Ground) -> None:
    archive = ground.tree.archive_path("9.27.0")
    data = bytearray(archive.read_bytes())
    data[1000] ^= 1
    archive.write_bytes(data)
    with pytest.raises(DigestMismatch):
        ground.make(**ONE)

    assert ground.files() == {}
    assert ground.partials() == []


def test_once_the_source_is_mended_the_next_run_completes(ground: Ground, server: RedistServer) -> None:
    server.fail(f"/cudnn-linux-x86_64-{TAR}", Flipped(1), Flipped(2))
    with pytest.raises(DigestMismatch):
        ground.make(source=server.url)
    with pytest.raises(VerificationFailed, match="missing: "):
        check_mirror(ground.mirror)
    ground.make(source=server.url)

    assert check_mirror(ground.mirror)


def test_a_lost_archive_leaves_its_release_incomplete_and_the_others_whole(
    ground: Ground, server: RedistServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.always("linux-x86_64-9.26.0.42_cuda13-archive.tar.xz", Status(404))
    with pytest.raises(ArchiveWithdrawn):
        ground.make(">=9.9", source=server.url)

    assert [label.text for label in labels(sources=[str(ground.mirror)])] == ["9.9.0", "9.27.0"]
    assert "cudnn 9.26.0 is left incomplete" in caplog.text


@pytest.mark.usefixtures("big")
def test_a_line_that_fails_leaves_bytes_that_the_next_run_takes_up(
    ground: Ground, server: RedistServer
) -> None:
    server.always(TAR, Cut(300_000))
    with pytest.raises(TransferError):
        ground.make(source=server.url, **ONE)
    (left,) = ground.partials()
    assert ground.files() == {}
    landed = left.stat().st_size
    server.heal()
    ground.make(source=server.url, **ONE)

    assert server.requests(TAR)[-1].range == f"bytes={landed}-"
    assert check_mirror(ground.mirror)
    assert ground.hidden() == HIDDEN


def test_within_a_run_a_line_is_taken_up_where_it_broke(ground: Ground, server: RedistServer) -> None:
    server.fail(TAR, Cut(10_000), Cut(20_000))
    ground.make(source=server.url, transfer=TransferOptions(retries=3, retry_delay=0.01), **ONE)

    assert [request.range for request in server.requests(TAR)] == [None, "bytes=10000-", "bytes=30000-"]


def test_a_licence_that_cannot_be_read_stops_its_release(ground: Ground, server: RedistServer) -> None:
    """A copy goes nowhere without its licence, and nobody knows whether there is one."""
    server.always("LICENSE.txt", Status(503))
    with pytest.raises(TransferError):
        ground.make(source=server.url, **ONE)

    assert list(ground.files()) == [ground.place(ground.tree.archive_path("9.27.0"))]


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    with Mounts() as mounts:
        yield mounts


@pytest.mark.usefixtures("big")
def test_a_disk_that_is_too_small_is_told_before_the_first_byte(
    ground: Ground, server: RedistServer, mounts: Mounts
) -> None:
    mounts.tmpfs(ground.mirror, "600k")
    with pytest.raises(PrefixError, match=r"needs about .* bytes, .* are free"):
        ground.make(source=server.url, **ONE)

    assert server.requests(TAR) == []


def test_a_disk_that_fills_up_leaves_nothing_under_a_final_name(
    big: Path, ground: Ground, server: RedistServer, mounts: Mounts
) -> None:
    mounts.tmpfs(ground.mirror, "600k")
    # Nobody told how large it would be.
    ground.tree.edit_manifest("9.27.0", lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].pop("size"))
    with pytest.raises(PrefixError, match="No space left") as caught:
        ground.make(source=server.url, **ONE)

    assert caught.value.exit_code == 7
    assert not (ground.mirror / ground.place(big)).exists()
    assert ground.partials() == []


def test_from_a_half_copied_mirror_nothing_is_installed(ground: Ground, tmp_path: Path) -> None:
    ground.make(**ONE)
    archive = ground.mirror / ground.place(ground.tree.archive_path("9.27.0"))
    whole = archive.read_bytes()
    for half, code in ((whole[: len(whole) // 2], 5), (b"", 5), (None, 3)):
        archive.unlink()
        if half is not None:
            archive.write_bytes(half)
        with pytest.raises((IntegrityError, ArchiveWithdrawn)) as caught:
            fetch("9.27.0", sources=[str(ground.mirror)], root=tmp_path / "r", **CHOICE)
        assert caught.value.exit_code == code
        assert not (tmp_path / "r/cudnn").exists()
        archive.touch()


def test_a_mirror_that_may_not_be_written_is_told(ground: Ground, mounts: Mounts) -> None:
    mounts.tmpfs(ground.mirror, "1m")
    ground.make("9.26.0", **ONE)
    mounts.read_only(ground.mirror)
    with pytest.raises(PrefixError, match="Read-only file system"):
        ground.make(**ONE)


def test_a_server_without_validators_costs_a_fresh_start(ground: Ground, server: RedistServer) -> None:
    server.always(TAR, Headers(without=("etag", "last-modified")))
    server.fail(TAR, Cut(10_000))
    ground.make(source=server.url, transfer=TransferOptions(retries=2, retry_delay=0.01), **ONE)

    assert check_mirror(ground.mirror)


def test_a_mirror_that_has_everything_is_not_written_to(ground: Ground, mounts: Mounts) -> None:
    mounts.tmpfs(ground.mirror, "1m")
    ground.make("9.26.0", **ONE)
    mounts.read_only(ground.mirror)

    assert ground.make("9.26.0", **ONE).fetched == ()
