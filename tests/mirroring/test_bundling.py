"""Releases go into one file, and come out of it on a machine that has nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from campaigns.processes import until
from installing import CHOSEN, IMPATIENT, everything, options, planned
from redist.command import start_command
from redist.faults import Stall

from cudnn_redist import fetch, install, labels
from cudnn_redist.errors import (
    ArchiveError,
    DigestMismatch,
    IntegrityError,
    LabelNotFound,
    LockMismatch,
    RedistError,
    TransferError,
    UsageError,
    VariantNotFound,
)
from cudnn_redist.locking.file import read_lock, write_lock
from cudnn_redist.locking.making import lock
from cudnn_redist.mirroring.bundling import bundle
from cudnn_redist.mirroring.making import mirror
from cudnn_redist.owners import own_mark
from cudnn_redist.source.bundle import Bundle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redist import RedistServer, RedistTree

    from cudnn_redist.mirroring.bundling import Bundled

MARKED = "from cudnn_redist.owners import own_mark; print(own_mark(), end='')"
PLATFORMS = ("linux-x86_64", "windows-x86_64")
LINUX = "linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
WINDOWS = "windows-x86_64-9.27.0.42_cuda13-archive.zip"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "cudnn.bundle"


def pack(out: Path, source: object, *labels: str, **choices: Any) -> Bundled:  # noqa: ANN401 - those of bundle
    """Bundle 9.27.0, or ``labels``, for CUDA 13 and two platforms, or what ``choices`` say."""
    chosen = {"platform": PLATFORMS, "cuda": "13"} | choices
    return bundle(out, labels or ("9.27.0",), sources=[str(source)], transfer=IMPATIENT, **chosen)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_comes_out_is_what_the_source_gives(
    platform: str, out: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    pack(out, redist_tree.path)

    (theirs,) = install(planned(redist_tree.path, tmp_path / "1", platform=platform))
    (ours,) = install(planned(out, tmp_path / "2", platform=platform))

    assert everything(ours.path) == everything(theirs.path)


def test_it_holds_manifests_archives_licences_and_a_lock(out: Path, redist_tree: RedistTree) -> None:
    licence = redist_tree.redist / "cudnn/LICENSE.txt"
    licence.write_bytes(b"be good\n")

    found = pack(out, redist_tree.path, "9.27.0", "9.26.0")

    held = Bundle.open(out)
    archives = [
        redist_tree.archive_path(label, platform=platform).relative_to(redist_tree.path).as_posix()
        for label in ("9.26.0", "9.27.0")
        for platform in PLATFORMS
    ]
    manifests = [f"cudnn/redist/redistrib_{label}.json" for label in ("9.26.0", "9.27.0")]
    assert sorted(held.files) == sorted(
        [*archives, *manifests, "cudnn-redist.lock", "cudnn/redist/cudnn/LICENSE.txt"]
    )
    assert held.read("cudnn/redist/cudnn/LICENSE.txt") == b"be good\n"
    assert [held.read(place) for place in manifests] == [
        redist_tree.manifest_path(label).read_bytes() for label in ("9.26.0", "9.27.0")
    ]
    assert sorted(found.archives) == sorted(archives)
    assert found.releases == ("cudnn 9.27.0", "cudnn 9.26.0")


def test_the_lock_in_it_is_that_of_its_source(out: Path, redist_tree: RedistTree, tmp_path: Path) -> None:
    pack(out, redist_tree.path)

    assert read_lock(out) == lock(
        "9.27.0", sources=[str(redist_tree.path)], root=tmp_path, platform=PLATFORMS, cuda="13"
    )


def test_the_same_question_gives_the_same_bytes_from_a_server_too(
    out: Path, redist_server: RedistServer, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "second.bundle"

    found = [pack(path, redist_server.url) for path in (out, other)]

    assert out.read_bytes() == other.read_bytes()
    assert found[0].sha256 == found[1].sha256
    assert [path.name for path in other.parent.iterdir()] == ["second.bundle"]


def test_a_bundle_lists_its_labels(out: Path, redist_tree: RedistTree) -> None:
    pack(out, redist_tree.path, "9.26.0", "9.27.0")

    assert [label.text for label in labels(sources=[str(out)])] == ["9.26.0", "9.27.0"]


@pytest.mark.parametrize("kind", ["whole", "narrowed"])
def test_a_lock_says_what_goes_in(kind: str, out: Path, redist_tree: RedistTree, tmp_path: Path) -> None:
    locked = lock(["9.26.0", "9.27.0"], sources=[str(redist_tree.path)], root=tmp_path, platform=PLATFORMS)
    choices = {"platform": "linux-x86_64", "cuda": "13"} if kind == "narrowed" else {}

    found = bundle(out, "9.27.0" if kind == "narrowed" else None, lock=locked, **choices)

    if kind == "whole":
        assert read_lock(out) == locked
        assert len(found.archives) == 8
    else:
        assert [archive.place for archive in read_lock(out).releases[0].archives] == [
            ("cudnn", "linux-x86_64", "cuda13")
        ]


def test_the_lock_of_a_bundle_counts_when_it_is_named(
    out: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    pack(out, redist_tree.path)
    shutil.rmtree(redist_tree.path)

    with pytest.raises(UsageError, match="a label is needed, or a lock"):
        fetch(sources=[str(out)], root=tmp_path / "root", **CHOSEN)
    prefix = fetch(lock=out, root=tmp_path / "root", offline=True, **CHOSEN)

    assert prefix.verify() == ()


def test_a_mirror_can_be_made_of_a_bundle(out: Path, redist_tree: RedistTree, tmp_path: Path) -> None:
    pack(out, redist_tree.path)

    mirror(tmp_path / "mirror", "9.27.0", sources=[str(out)], platform=PLATFORMS, cuda="13")

    (prefix,) = install(planned(tmp_path / "mirror", tmp_path / "root"))
    assert prefix.verify() == ()


def test_downloads_wait_beside_it_for_the_next_run(out: Path, redist_server: RedistServer) -> None:
    path = redist_server.directory / "cudnn/redist/cudnn/windows-x86_64"
    (archive,) = path.glob("*9.27.0*cuda13*")
    good = archive.read_bytes()
    archive.write_bytes(bytes(len(good)))

    with pytest.raises(IntegrityError):
        pack(out, redist_server.url)

    assert not out.exists()
    archive.write_bytes(good)
    before = len(redist_server.log)
    pack(out, redist_server.url)
    fetched = {request.path.rpartition("/")[2] for request in redist_server.log[before:]}
    assert archive.name in fetched
    assert not any("linux-x86_64" in name for name in fetched)
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_several_runs_at_a_time_end_well(out: Path, redist_server: RedistServer, tmp_path: Path) -> None:
    words = [
        "9.27.0",
        "--platform",
        "linux-x86_64",
        "--source",
        redist_server.url,
        "--root",
        tmp_path / "root",
    ]
    redist_server.rate = 40_000
    with ExitStack() as stack:
        runs = [
            stack.enter_context(start_command("bundle", out, *words, "--cuda", cuda))
            for cuda in ("12", "13", "13")
        ]
        told = [run.communicate()[1].decode() for run in runs]

    assert [run.returncode for run in runs] == [0, 0, 0], told
    assert len(Bundle.open(out).files) == 3
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.skipif(os.name == "nt", reason="whether a process lives is told by the clock there")
def test_what_a_killed_run_brought_is_taken_over(
    out: Path, redist_server: RedistServer, tmp_path: Path
) -> None:
    chosen = [word for platform in PLATFORMS for word in ("--platform", platform)]
    words = ["9.27.0", *chosen, "--cuda", "13", "--source", redist_server.url, "--root", tmp_path / "root"]
    redist_server.fail(WINDOWS, Stall(20_000))
    with start_command("bundle", out, *words) as running:
        redist_server.wait_for(WINDOWS, sent=20_000)
        assert until(lambda: list(out.parent.rglob(f"cudnn-{LINUX}")))
        running.kill()
        running.communicate()
    assert not out.exists()

    pack(out, redist_server.url)

    assert len(redist_server.requests(LINUX)) == 1
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.skipif(os.name == "nt", reason="whether a process lives is told by the clock there")
def test_what_a_killed_run_left_beside_it_goes_and_what_a_live_one_fills_stays(
    out: Path, redist_tree: RedistTree
) -> None:
    with subprocess.Popen([sys.executable, "-c", MARKED], stdout=subprocess.PIPE, text=True) as gone:
        assert gone.stdout is not None
        dead = out.with_name(f".{out.name}.{gone.stdout.read()}.part")
    live = out.with_name(f".{out.name}.{own_mark()}.part")
    others = out.with_name(f".other-{out.name}.{own_mark()}.part")
    for path in (dead, live, others):
        path.write_bytes(b"half a bundle")

    pack(out, redist_tree.path)

    assert [path.exists() for path in (dead, live, others)] == [False, True, True]


def test_an_archive_that_is_not_the_promised_one_is_not_packed(out: Path, redist_tree: RedistTree) -> None:
    good = redist_tree.archive_path("9.27.0").read_bytes()
    path = redist_tree.replace_archive(good[:-1] + b"?", "9.27.0")

    with pytest.raises(DigestMismatch) as caught:
        pack(out, redist_tree.path)

    assert caught.value.where == str(path)
    assert list(out.parent.iterdir()) == []


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _other_byte(data: bytes) -> bytes:
    """Change a byte of the last archive."""
    at = data.rindex(b"cudnn/redist/redistrib") - 600
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("damage", "kind", "code"),
    [
        (_cut, ArchiveError, 6),
        (_other_byte, DigestMismatch, 5),
        (lambda data: data.replace(b'"release_label"', b'"release_labe1"'), DigestMismatch, 5),
        (lambda _: b"not a bundle", UsageError, 2),
        (lambda _: b"", UsageError, 2),
    ],
    ids=["cut", "archive", "manifest", "text", "empty"],
)
def test_nothing_is_installed_from_a_damaged_bundle(
    damage: Callable[[bytes], bytes], kind: type[RedistError], code: int, out: Path, redist_tree: RedistTree
) -> None:
    pack(out, redist_tree.path, platform="linux-x86_64")
    out.write_bytes(damage(out.read_bytes()))
    root = out.parent / "root"

    with pytest.raises(kind) as caught:
        install(planned(out, root), options=options())

    assert caught.value.exit_code == code
    assert not list(root.rglob("cuda13"))


def test_a_platform_that_is_not_in_it_is_told(out: Path, redist_tree: RedistTree, tmp_path: Path) -> None:
    pack(out, redist_tree.path)

    with pytest.raises(RedistError, match="this bundle lacks it") as caught:
        install(planned(out, tmp_path / "root", platform="linux-sbsa"))

    assert caught.value.exit_code == 3


def test_a_manifest_that_is_not_the_locked_one_is_refused(
    out: Path, redist_tree: RedistTree, tmp_path: Path
) -> None:
    locked = lock("9.27.0", sources=[str(redist_tree.path)], root=tmp_path)
    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2026-10-10"))

    with pytest.raises(LockMismatch, match=r"cudnn 9\.27\.0 is not as locked"):
        bundle(out, lock=locked)

    assert not out.exists()


@pytest.mark.parametrize(
    ("question", "kind", "cause"),
    [
        ({}, UsageError, "a label is needed, or a lock"),
        ({"labels": "9.99.0"}, LabelNotFound, "9.99.0"),
        ({"labels": "9.27.0", "cuda": "11"}, VariantNotFound, "CUDA 11"),
        ({"labels": "9.99.0", "lock": True}, LabelNotFound, "the lock has no 9.99.0; it has cudnn 9.27.0"),
        ({"product": "cutensor", "lock": True}, LabelNotFound, "the lock has no cutensor"),
        ({"cuda": "11", "lock": True}, VariantNotFound, "CUDA 11"),
    ],
    ids=["nothing", "label", "cuda", "locked label", "locked product", "locked cuda"],
)
def test_what_cannot_be_bundled_is_told(
    question: dict[str, Any], kind: type[RedistError], cause: str, out: Path, redist_tree: RedistTree
) -> None:
    sources = [str(redist_tree.path)]
    if question.get("lock"):
        question = question | {"lock": lock("9.27.0", sources=sources, root=out.parent)}

    with pytest.raises(kind, match=cause):
        bundle(out, sources=sources, **question)

    assert not out.exists()


def test_only_a_bundle_is_replaced(out: Path, redist_tree: RedistTree, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear all")
    (tmp_path / "folder").mkdir()
    pack(out, redist_tree.path)
    before = out.read_bytes()

    for path in (tmp_path / "letter", tmp_path / "folder"):
        with pytest.raises(UsageError, match="something else than a bundle"):
            pack(path, redist_tree.path)
    pack(out, redist_tree.path, "9.26.0")

    assert (tmp_path / "letter").read_text() == "dear all"
    assert out.read_bytes() != before


def test_the_lock_in_a_bundle_is_never_written_to(out: Path, redist_tree: RedistTree) -> None:
    pack(out, redist_tree.path)
    before = out.read_bytes()

    with pytest.raises(UsageError, match="whose lock is not changed"):
        write_lock(out, read_lock(out))

    assert out.read_bytes() == before


def test_without_a_network_a_server_is_not_asked(out: Path, redist_server: RedistServer) -> None:
    with pytest.raises(TransferError, match="offline"):
        bundle(out, "9.27.0", sources=[redist_server.url], transfer=type(IMPATIENT)(offline=True))

    assert redist_server.log == []
