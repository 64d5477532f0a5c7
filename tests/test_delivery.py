"""From sources to an unpacked, judged tree: seen from outside, in files, requests and errors."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from redist import File, RedistServer, RedistTree
from redist.archives import pack
from redist.command import run_command
from redist.faults import (
    Before,
    Changed,
    Cut,
    Extra,
    Fault,
    Flipped,
    Headers,
    IgnoreRange,
    NoLength,
    Page,
    Reset,
    Stall,
    Status,
    Together,
    Truncated,
)
from source.ground import (
    QUICK,
    TAR,
    archives,
    get,
    holders_of,
    large,
    nothing_left,
    partials,
    prefixes,
    redist,
    stages,
    statuses,
)

from cudnn_redist import Progress, TransferOptions, install, plan
from cudnn_redist.errors import (
    ArchiveError,
    ArchiveWithdrawn,
    DigestMismatch,
    IntegrityError,
    PrefixError,
    SizeMismatch,
    TransferError,
    TransientTransferError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPATIENT = TransferOptions(retries=0, retry_delay=0.01, connect_timeout=2.0, stall_timeout=0.4)
WINDOWS = {"platform": "windows-x86_64"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def second(redist_tree: RedistTree) -> Iterator[RedistServer]:
    """Another server of the same tree."""
    with RedistServer(redist_tree.path) as server:
        yield server


def damaged_zip(data: bytes) -> bytes:
    """Break the directory at the end."""
    return data[:-60] + bytes(38) + data[-22:]


# Within one run.


@pytest.mark.parametrize("fault", [Cut(30_000), Reset(30_000), Stall(30_000), NoLength(30_000)], ids=repr)
@pytest.mark.parametrize("choice", [{}, WINDOWS], ids=["tar", "zip"])
def test_unpacking_goes_on_where_the_line_failed(
    fault: Fault, choice: dict[str, str], redist_server: RedistServer, root: Path
) -> None:
    redist_server.fail("-archive." + ("zip" if choice else "tar.xz"), fault, fault)

    prefix = get(redist(redist_server), root=root, **choice)

    assert prefix.verify() == ()
    assert partials(root) == stages(root) == []


def test_a_whole_answer_to_a_range_starts_again_in_the_same_answer(
    redist_server: RedistServer, root: Path
) -> None:
    redist_server.fail(TAR, Cut(30_000), IgnoreRange())

    assert get(redist(redist_server), root=root).verify() == ()
    assert [request.range for request in archives(redist_server)] == [None, "bytes=30000-"]


def test_the_tail_of_another_file_costs_one_clean_start(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    size = redist_tree.archive_path("9.27.0").stat().st_size
    redist_server.fail(TAR, Cut(30_000), Changed(bytes(size), etag=None, deaf=True))

    assert get(redist(redist_server), root=root).verify() == ()
    assert [request.range for request in archives(redist_server)] == [None, "bytes=30000-", None]


def test_a_digest_that_is_wrong_after_a_resume_is_told_after_one_clean_start(
    redist_server: RedistServer, root: Path
) -> None:
    redist_server.fail(TAR, Together(Flipped(100), Cut(30_000)))
    redist_server.always(TAR, Flipped(100))
    with pytest.raises(DigestMismatch) as caught:
        get(redist(redist_server), root=root)

    cut, resumed, clean = archives(redist_server)
    assert (cut.range, resumed.range, clean.range) == (None, "bytes=30000-", None)
    assert clean.headers["cache-control"] == "no-cache"
    assert "cache-control" not in resumed.headers
    assert caught.value.exit_code == 5
    assert nothing_left(root)


@pytest.mark.parametrize(
    "fault",
    [
        Truncated(1000),
        Extra(),
        Flipped(0),
        Flipped(40000),
        Flipped(-1),
        Page(),
        Page("TLS handshake failed", "text/plain"),
        Together(Extra(), NoLength()),
    ],
    ids=["short", "long", "first-byte", "middle", "last-byte", "html", "text", "surplus"],
)
@pytest.mark.parametrize("choice", [{}, WINDOWS], ids=["tar", "zip"])
def test_a_stale_edge_is_asked_past_its_cache_once(
    fault: Fault, choice: dict[str, str], redist_server: RedistServer, root: Path
) -> None:
    suffix = ".zip" if choice else TAR
    redist_server.fail(suffix, fault)

    assert get(redist(redist_server), root=root, **choice).verify() == ()
    stale, good = redist_server.requests(suffix)
    assert "cache-control" not in stale.headers
    assert good.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        (Flipped(40_000), DigestMismatch, "sha256 is"),
        (Flipped(0), DigestMismatch, "sha256 is"),
        (Truncated(1000), SizeMismatch, "offers 1000 bytes"),
        (Truncated(0), SizeMismatch, "offers 0 bytes"),
        (Extra(), SizeMismatch, "offers"),
        (Page(), SizeMismatch, "looks like a web page"),
        (Together(Extra(), NoLength()), SizeMismatch, "more bytes than"),
    ],
    ids=["middle", "first", "short", "empty", "long", "html", "surplus"],
)
@pytest.mark.parametrize(
    "how", [{}, WINDOWS, {"options": {"verify_first": True}}], ids=["tar", "zip", "first"]
)
def test_wrong_bytes_are_a_fault_of_integrity_whatever_they_look_like(
    *,
    fault: Fault,
    kind: type[IntegrityError],
    told: str,
    how: dict[str, Any],
    redist_server: RedistServer,
    root: Path,
) -> None:
    suffix = ".zip" if how is WINDOWS else TAR
    redist_server.always(suffix, Together(fault, Headers({"Age": "77", "Via": "edge-3"})))
    with pytest.raises(kind, match=told) as caught:
        get(redist(redist_server), root=root, **how)

    assert len(redist_server.requests(suffix)) == 2
    assert "age: 77, via: edge-3" in str(caught.value)
    assert str(caught.value.where).startswith(redist(redist_server))
    assert nothing_left(root)


@pytest.mark.parametrize(
    "how", [{}, {"options": {"verify_first": True}}], ids=["overlapped", "verified-first"]
)
@pytest.mark.parametrize("place", ["http", "directory", "store"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_damaged_archive_with_the_right_digest_is_the_archives_fault(
    *,
    kind: str,
    place: str,
    how: dict[str, Any],
    redist_tree: RedistTree,
    redist_server: RedistServer,
    root: Path,
    tmp_path: Path,
) -> None:
    platform = "windows-x86_64" if kind == "zip" else "linux-x86_64"
    whole = redist_tree.archive_path("9.27.0", platform=platform).read_bytes()
    data = damaged_zip(whole) if kind == "zip" else whole[:20_000] + whole[20_100:]
    path = redist_tree.replace_archive(data, "9.27.0", platform=platform, update_manifest=True)
    source: object = redist_tree.path if place == "directory" else redist(redist_server)
    options = dict(how.get("options", {}))
    if place == "store":
        options["archives"] = tmp_path / "store"
        put_in_store(tmp_path / "store", redist_tree, path, platform=platform)
    with pytest.raises(ArchiveError) as caught:
        get(source, root=root, platform=platform, options=options)

    assert caught.value.exit_code == 6
    assert nothing_left(root)


def put_in_store(store: Path, tree: RedistTree, archive: Path, platform: str = "linux-x86_64") -> Path:
    sha256 = tree.manifest("9.27.0")["cudnn"][platform]["cuda13"]["sha256"]
    path = store / "sha256" / sha256[:2] / sha256
    path.parent.mkdir(parents=True)
    path.write_bytes(archive.read_bytes())
    return path


def test_a_wrong_kind_with_the_right_digest_is_the_archives_fault(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    redist_tree.replace_archive(b"<html>Please log in</html>", "9.27.0", update_manifest=True)
    with pytest.raises(ArchiveError, match="HTML"):
        get(redist(redist_server), root=root)

    assert nothing_left(root)


def test_the_error_names_the_manifest_that_promised(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    """C07: the manifest may be the one that is wrong, and a rerun must not trust the one it had."""
    good = redist_tree.manifest_path("9.27.0").read_bytes()
    redist_tree.edit_manifest("9.27.0", spoil_digest)
    with pytest.raises(DigestMismatch, match="promised by the manifest with sha256") as caught:
        get(redist(redist_server), root=root)
    redist_tree.manifest_path("9.27.0").write_bytes(good)

    assert (caught.value.expected, len(str(caught.value.actual))) == ("0" * 64, 64)
    assert get(redist(redist_server), root=root).verify() == ()


def spoil_digest(manifest: dict[str, Any]) -> None:
    manifest["cudnn"]["linux-x86_64"]["cuda13"]["sha256"] = "0" * 64


# Between runs.


def cut_short(server: RedistServer, root: Path) -> None:
    server.fail(TAR, Cut(30_000))
    with pytest.raises(TransientTransferError, match="got 30000 of"):
        get(redist(server), root=root, transfer=IMPATIENT)


def test_a_failure_of_transport_leaves_a_partial_and_the_next_run_resumes(
    redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    note = json.loads(partial.with_name(f"{partial.name}.json").read_bytes())

    prefix = get(redist(redist_server), root=root)

    first, second = archives(redist_server)
    assert second.range == "bytes=30000-"
    assert second.headers["if-range"] == note["validator"]
    assert first.sent + second.sent == prefix.record.archive_size
    assert prefix.verify() == ()
    assert list((root / ".partial").iterdir()) == []


def test_without_a_strong_etag_the_next_run_names_the_date(redist_server: RedistServer, root: Path) -> None:
    redist_server.fail(TAR, Together(Headers(without=("ETag",)), Cut(30_000)))
    with pytest.raises(TransferError):
        get(redist(redist_server), root=root, transfer=IMPATIENT)

    get(redist(redist_server), root=root)

    assert archives(redist_server)[1].headers["if-range"].endswith("GMT")
    assert statuses(redist_server) == [200, 206]


def test_bytes_of_an_earlier_run_that_are_wrong_cost_one_clean_start(
    redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    partial.write_bytes(bytes(30_000))

    assert get(redist(redist_server), root=root).verify() == ()
    assert [request.range for request in archives(redist_server)] == [None, "bytes=30000-", None]


def test_a_complete_partial_is_judged_and_used_without_a_request(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    partial.write_bytes(redist_tree.archive_path("9.27.0").read_bytes())

    assert get(redist(redist_server), root=root).verify() == ()
    assert len(archives(redist_server)) == 1


def test_an_archive_that_changed_between_runs_starts_again(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    path = redist_tree.archive_path("9.27.0")
    redist_tree.replace_archive(pack("tar.xz", "top", {"lib/x": File(b"x")}), "9.27.0", update_manifest=True)
    assert path.exists()

    prefix = get(redist(redist_server), root=root)

    assert prefix.verify() == ()
    assert archives(redist_server)[1].range is None


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(Flipped(40_000), IntegrityError), (Page(), IntegrityError), (Status(404), ArchiveWithdrawn)],
    ids=["digest", "page", "withdrawn"],
)
def test_only_a_failure_of_transport_leaves_a_partial(
    fault: Fault, kind: type[Exception], redist_server: RedistServer, root: Path
) -> None:
    cut_short(redist_server, root)
    redist_server.always(TAR, fault)
    with pytest.raises(kind):
        get(redist(redist_server), root=root)

    assert nothing_left(root)


def test_the_partial_of_a_live_process_is_left_to_it(redist_server: RedistServer, root: Path) -> None:
    cut_short(redist_server, root)
    (partial,) = partials(root)
    host = os.uname().nodename.replace(".", "-")
    taken = partial.rename(partial.with_name(partial.name.replace("free", f"{host}.{os.getppid()}")))

    get(redist(redist_server), root=root)

    assert archives(redist_server)[1].range is None
    assert taken.exists()


# Several sources.


@pytest.mark.parametrize("fault", [Status(404), Status(403), Status(503), Cut(30_000), Page()], ids=repr)
def test_the_second_source_answers_when_the_first_does_not(
    fault: Fault, redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    redist_server.always(TAR, fault)

    prefix = get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    assert prefix.verify() == ()
    assert partials(root) == []


def test_what_the_first_source_gave_is_not_fetched_again(
    redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    redist_server.always(TAR, Cut(30_000))

    prefix = get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    (request,) = archives(second)
    assert request.range == "bytes=30000-"
    assert "if-range" not in request.headers
    assert prefix.verify() == ()


def test_the_first_source_may_be_gone_altogether(
    redist_server: RedistServer, second: RedistServer, root: Path
) -> None:
    gone = redist(second)
    second.close()

    assert get(gone, redist(redist_server), root=root, transfer=IMPATIENT).verify() == ()


@pytest.mark.parametrize(
    ("first", "then", "kind", "status"),
    [
        (Status(503), Status(502), TransferError, 503),
        (Status(404), Status(503), TransferError, 503),
        (Status(503), Status(404), TransferError, 503),
        (Flipped(9), Status(503), DigestMismatch, None),
        (Status(404), Status(410), ArchiveWithdrawn, None),
    ],
    ids=["both-down", "gone-then-down", "down-then-gone", "wrong-then-down", "both-gone"],
)
def test_when_all_fail_the_first_that_matters_is_told(
    *,
    first: Fault,
    then: Fault,
    kind: type[TransferError],
    status: int | None,
    redist_server: RedistServer,
    second: RedistServer,
    root: Path,
) -> None:
    redist_server.always(TAR, first)
    second.always(TAR, then)
    with pytest.raises(kind) as caught:
        get(redist(redist_server), redist(second), root=root, transfer=IMPATIENT)

    assert getattr(caught.value, "status", None) == status
    assert nothing_left(root)


@pytest.mark.parametrize("form", ["path", "url"])
def test_a_directory_is_read_in_place(form: str, redist_tree: RedistTree, root: Path) -> None:
    source = redist_tree.path if form == "path" else redist_tree.path.as_uri()

    prefix = get(source, root=root)

    assert prefix.verify() == ()
    assert not (root / ".partial").exists()


@pytest.mark.parametrize("damage", ["missing", "short", "flipped"])
def test_http_stands_in_for_a_directory_that_lacks_the_archive(
    damage: str, redist_tree: RedistTree, redist_server: RedistServer, root: Path, tmp_path: Path
) -> None:
    copy = RedistTree(tmp_path / "copy")
    copy.add_release("9.27.0", date="2026-09-29")
    path = copy.archive_path("9.27.0")
    assert path.read_bytes() == redist_tree.archive_path("9.27.0").read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "short":
        os.truncate(path, 1000)
    else:
        path.write_bytes(bytes(path.stat().st_size))

    prefix = get(copy.path, redist(redist_server), root=root)

    assert prefix.verify() == ()
    assert len(archives(redist_server)) == 1


def test_sources_are_asked_in_the_order_given(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    get(redist(redist_server), redist_tree.path, root=root)

    assert statuses(redist_server) == [200]


def test_a_directory_that_lacks_the_archive_is_told_by_path(redist_tree: RedistTree, root: Path) -> None:
    path = redist_tree.archive_path("9.27.0")
    path.unlink()
    with pytest.raises(ArchiveWithdrawn) as caught:
        get(redist_tree.path, root=root)

    assert caught.value.exit_code == 3
    assert str(path).endswith(Path(str(caught.value.where)).name)


@pytest.mark.parametrize(
    "how", [{}, WINDOWS, {"options": {"verify_first": True}}], ids=["tar", "zip", "first"]
)
def test_a_file_that_changes_while_it_is_read_is_refused(
    how: dict[str, Any], redist_tree: RedistTree, root: Path
) -> None:
    path = redist_tree.archive_path("9.27.0", platform=how.get("platform", "linux-x86_64"))

    def touch(progress: Progress) -> None:
        if progress.phase == "unpack":
            os.utime(path, (1, 1))

    made = plan(
        "9.27.0",
        **({"platform": "linux-x86_64", "cuda": "13"} | how_to_choose(how)),
        sources=[str(redist_tree.path)],
        root=root,
    )
    with pytest.raises(DigestMismatch, match="changed while it was read") as caught:
        install(made, progress=touch)

    assert caught.value.exit_code == 5
    assert nothing_left(root)


def how_to_choose(how: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in how.items() if name != "options"}


def test_requests_are_counted(redist_server: RedistServer, root: Path) -> None:
    get(redist(redist_server), root=root)
    assert [request.path.rpartition("/")[2][:9] for request in redist_server.log] == [
        "redistrib",
        "cudnn-lin",
    ]

    get(redist(redist_server), root=root)
    assert len(redist_server.log) == 2


# Secrets.


def test_no_secret_stays_anywhere(redist_server: RedistServer, root: Path, tmp_path: Path) -> None:
    redist_server.auth = ("me", "hunter2")
    source = redist(redist_server, "me:hunter2@") + "?token=t0ken"
    redist_server.fail(TAR, Cut(30_000))
    options = ["--platform", "linux-x86_64", "--cuda", "13", "--root", root, "--source", source]
    failed = run_command("fetch", "9.27.0", *options, "--retries", "0", "--debug")
    left = holders_of("hunter2", root) + holders_of("t0ken", root)
    done = run_command("fetch", "9.27.0", *options, "--archives", tmp_path / "store", "--json")

    assert (failed.code, done.code) == (4, 0)
    for secret in ("hunter2", "t0ken"):
        assert secret not in failed.err + failed.out + done.err + done.out
        assert holders_of(secret, tmp_path) == []
    assert left == []
    assert redist(redist_server) in (root / ".log.jsonl").read_text()
    assert all(request.target.endswith("?token=t0ken") for request in redist_server.log)


# The store of --archives.


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


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "directory", "dangling", "unreadable"])
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
        case _:
            bad = {"truncated": good[:5000], "empty": b"", "flipped": bytes(len(good))}
            path.write_bytes(bad[damage])

    prefix = get(redist(redist_server), root=tmp_path / "b", options=options)

    assert prefix.verify() == ()
    assert len(archives(redist_server)) == 2
    assert not path.is_symlink()
    assert path.read_bytes() == good
    assert ("is not what it was" in caplog.text) == (damage in ("truncated", "empty", "flipped"))


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


# How much, and how long.

_MEASURE = """
import re, sys
from pathlib import Path
from cudnn_redist import InstallOptions, UnpackOptions, fetch
options = InstallOptions(unpacking=UnpackOptions(threads=1))
fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[sys.argv[1]], root=Path(sys.argv[2]), options=options)
print(re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak is read from Linux's /proc")
def test_memory_does_not_grow_with_the_archive(tmp_path: Path) -> None:
    # Not ru_maxrss: the kernel counts what this process had before it became that one.
    peaks = []
    for megabytes in (5, 80):
        tree = RedistTree(tmp_path / f"tree{megabytes}")
        tree.add_release(
            "9.27.0",
            platforms=["linux-x86_64"],
            variants=["cuda13"],
            content=large(megabytes << 20),
            kind="tar",
        )
        with RedistServer(tree.path) as server:
            command = [sys.executable, "-c", _MEASURE, redist(server), str(tmp_path / f"root{megabytes}")]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        peaks.append(int(done.stdout) / 1024)

    small, big = peaks
    assert big - small < 25


class Stopping(Exception):
    pass


def test_an_error_of_unpacking_ends_a_stalled_download(redist_server: RedistServer, root: Path) -> None:
    redist_server.always(TAR, Stall(60_000))
    made = plan("9.27.0", platform="linux-x86_64", cuda="13", sources=[redist(redist_server)], root=root)

    def refuse(progress: Progress) -> None:
        if progress.phase == "unpack":
            raise Stopping

    started = time.monotonic()
    with pytest.raises(Stopping):
        install(made, progress=refuse)

    assert time.monotonic() - started < 3
    assert nothing_left(root)


def test_a_disk_that_refuses_ends_the_download(redist_server: RedistServer, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / ".partial").touch()
    with pytest.raises(PrefixError) as caught:
        get(redist(redist_server), root=root)

    assert caught.value.exit_code == 7


def test_the_archive_may_change_at_the_very_request(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    """The manifest was read, and then both are replaced (C71): the old promise is not met."""

    def replace() -> None:
        redist_tree.replace_archive(pack("tar.xz", "t", {"x": File(b"y")}), "9.27.0", update_manifest=True)

    redist_server.fail(TAR, Before(replace))
    with pytest.raises(SizeMismatch):
        get(redist(redist_server), root=root)

    assert get(redist(redist_server), root=root).verify() == ()


def test_progress_tells_every_phase(redist_server: RedistServer, root: Path) -> None:
    seen: list[Progress] = []
    made = plan("9.27.0", platform="linux-x86_64", cuda="13", sources=[redist(redist_server)], root=root)
    install(made, progress=seen.append)

    (archive,) = made.archives
    downloads = [each for each in seen if each.phase == "download"]
    assert {each.phase for each in seen} == {"download", "unpack", "installed"}
    assert [each.done for each in downloads] == sorted(each.done for each in downloads)
    assert downloads[-1].done == downloads[-1].total == archive.size


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz", "tar.zst", "zip"])
@pytest.mark.parametrize("first", [False, True], ids=["overlapped", "verified-first"])
def test_each_kind_comes_through(*, kind: str, first: bool, tmp_path: Path) -> None:
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.0", platforms=["linux-x86_64"], variants=["cuda13"], kind=kind)
    with RedistServer(tree.path) as server:
        server.fail(f".{kind}", Cut(20_000))
        prefix = get(redist(server), root=tmp_path / "http", options={"verify_first": first})
    local = get(tree.path, root=tmp_path / "local", options={"verify_first": first})

    assert prefix.verify() == local.verify() == ()
    assert prefix.record == local.record


def test_a_zip_without_a_size_in_the_manifest_is_judged_by_its_digest(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    redist_tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["windows-x86_64"]["cuda13"].pop("size")
    )
    redist_server.fail(".zip", Cut(20_000))

    prefix = get(redist(redist_server), root=root, **WINDOWS)

    archive = redist_tree.archive_path("9.27.0", platform="windows-x86_64")
    assert prefix.record.archive_size == archive.stat().st_size
    assert zipfile.is_zipfile(archive)


def test_nothing_is_published_twice(redist_server: RedistServer, root: Path) -> None:
    get(redist(redist_server), root=root)

    assert len(prefixes(root)) == 1
    assert stages(root) == []


def test_retries_are_told_to_who_listens(
    redist_server: RedistServer, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cudnn_redist")
    redist_server.fail(TAR, Cut(30_000))

    get(redist(redist_server), root=root, transfer=QUICK)

    assert "incomplete: got 30000 of" in caplog.text
