"""What a lock yields: plans and prefixes, without a manifest being read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from installing import everything, options
from locking.ground import document, entry, locked, write
from redist import RedistServer, RedistTree

from cudnn_redist import Lock, fetch, install, plan
from cudnn_redist.errors import (
    ArchiveWithdrawn,
    ComponentNotFound,
    DigestMismatch,
    IntegrityError,
    LabelNotFound,
    LockError,
    LockMismatch,
    PlatformNotFound,
    RedistError,
    TransferError,
    UsageError,
    VariantNotFound,
    VersionNotFound,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HERE = {"platform": "linux-x86_64", "cuda": "13"}


def get(lock: Lock | Path, root: Path, label: str | None = None, **choices: Any) -> Any:  # noqa: ANN401 - those of fetch
    """Fetch one prefix by a lock."""
    return fetch(label, lock=lock, root=root, **{"options": options(), **HERE, **choices})


@pytest.fixture
def file(redist_server: RedistServer, tmp_path: Path) -> Path:
    """A lock file of 9.27.0, made from the server at the cost of one request."""
    return write(
        tmp_path / "cudnn-redist.lock", locked(f"{redist_server.url}cudnn/redist/", tmp_path / "nowhere")
    )


def asked_since(server: RedistServer) -> list[str]:
    """Return the files that were asked for after the lock was made."""
    return [request.path.rpartition("/")[2] for request in server.log[1:]]


def test_a_lock_alone_is_enough_and_no_manifest_is_read(
    file: Path, redist_server: RedistServer, root: Path
) -> None:
    prefix = get(file, root)
    assert prefix.path == root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert prefix.verify() == ()
    assert asked_since(redist_server) == ["cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"]
    assert get(file, root) == prefix
    assert len(asked_since(redist_server)) == 1


def test_a_lock_given_as_a_value_is_as_good(file: Path, root: Path) -> None:
    assert get(Lock.parse(file.read_bytes(), origin="x"), root) == get(file, root)


@pytest.mark.parametrize("choices", [{}, {"cuda": "12"}, {"platform": "windows-x86_64"}], ids=str)
def test_the_prefix_is_the_one_that_the_manifest_gives(
    file: Path, redist_server: RedistServer, tmp_path: Path, choices: dict[str, str]
) -> None:
    by_lock = get(file, tmp_path / "lock", **choices)
    by_label = fetch(
        "9.27.0",
        sources=[redist_server.url],
        root=tmp_path / "label",
        options=options(),
        **{**HERE, **choices},
    )
    assert everything(by_lock.path) == everything(by_label.path)


def test_a_lock_of_little_leaves_the_same_record(redist_server: RedistServer, tmp_path: Path) -> None:
    """The record answers later questions of the label: it must know all that the manifest offers."""
    little = locked(redist_server.url, tmp_path / "nowhere", cuda="13", platform="linux-x86_64")
    by_lock = get(little, tmp_path / "lock")
    by_label = fetch("9.27.0", sources=[redist_server.url], root=tmp_path / "label", **HERE)
    assert by_lock.record == by_label.record


def test_what_a_lock_has_is_what_is_chosen_from(redist_server: RedistServer, root: Path) -> None:
    older = locked(redist_server.url, root, cuda="12")
    assert get(older, root, cuda="12.8").record.variant == "cuda12"
    with pytest.raises(
        VariantNotFound, match=r"cudnn 9\.27\.0 in the lock on linux-x86_64 has no archive for CUDA 13"
    ):
        get(older, root)


def test_given_sources_are_where_archives_come_from(
    file: Path, redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    redist_server.close()
    made = plan(lock=file, sources=["http://127.0.0.1:1/redist/", str(redist_tree.path)], root=root, **HERE)
    path = made.archives[0].relative_path
    assert made.archives[0].urls == (
        f"http://127.0.0.1:1/redist/{path}",
        f"{redist_tree.redist.as_uri()}/{path}",
    )
    assert install(made, options=options())[0].verify() == ()


def test_a_directory_of_archives_alone_serves_a_lock(file: Path, redist_tree: RedistTree, root: Path) -> None:
    for manifest in redist_tree.redist.glob("*.json"):
        manifest.unlink()
    assert get(file, root, sources=[str(redist_tree.path)]).verify() == ()


def test_without_a_url_nvidia_is_meant(file: Path, root: Path) -> None:
    parsed = document(Lock.parse(file.read_bytes(), origin="x"))
    for archive in parsed["releases"][0]["archives"]:
        archive["url"] = None
    (archive,) = plan(lock=write(file, parsed), root=root, **HERE).archives
    assert archive.urls == (
        f"https://developer.download.nvidia.com/compute/cudnn/redist/{archive.relative_path}",
    )


def several(tree: RedistTree, root: Path) -> Lock:
    RedistTree(tree.path, product="cutensor").add_release("2.3.0", components=("cutensor",))
    cutensor = locked(tree.path, root, "2.3.0", product="cutensor")
    return locked(tree.path, root, "9.26.0", "9.27").with_releases(cutensor.releases)


NAMED: dict[str, tuple[str | None, dict[str, str], str]] = {
    "exact": ("9.26.0", {}, "cudnn/9.26.0"),
    "as asked": ("9.27", {}, "cudnn/9.27.0"),
    "the newest of two": ("9", {}, "cudnn/9.27.0"),
    "a version inside": ("9.26.0.42", {}, "cudnn/9.26.0"),
    "another product": ("2.3.0", {}, "cutensor/2.3.0"),
    "a product alone": (None, {"product": "cutensor"}, "cutensor/2.3.0"),
    "the latest of a product": ("latest", {"product": "cudnn"}, "cudnn/9.27.0"),
}


@pytest.mark.parametrize(("label", "choices", "place"), NAMED.values(), ids=NAMED)
def test_a_label_chooses_among_the_entries(
    redist_tree: RedistTree, root: Path, label: str | None, choices: dict[str, str], place: str
) -> None:
    lock = several(redist_tree, root)
    assert place in get(lock, root, label, **choices).path.as_posix()


REFUSED: dict[str, tuple[str | None, dict[str, Any], type[RedistError], str]] = {
    "a label that is not in it": (
        "9.25.0",
        {},
        LabelNotFound,
        "it has cudnn 9.26.0, cudnn 9.27.0, cutensor 2.3.0",
    ),
    "a product that is not": (
        None,
        {"product": "cufft"},
        LabelNotFound,
        "the lock has no cufft; it has cudnn",
    ),
    "a version that is not": ("9.27.0.1", {}, VersionNotFound, "holds cudnn linux-x86_64 cuda13 9.27.0.42"),
    "a component that is not": (
        "9.27.0",
        {"component": "cufft"},
        ComponentNotFound,
        "the lock has no 'cufft'",
    ),
    "a platform that is not": ("9.27.0", {"platform": "linux-aarch64"}, PlatformNotFound, "linux-sbsa"),
    "a cuda that is not": ("9.27.0", {"cuda": "11"}, VariantNotFound, "cuda12, cuda13"),
    "several of one product": (None, {"product": "cudnn"}, UsageError, "a label or a product chooses one"),
    "any of several products": ("latest", {}, UsageError, "latest may be cudnn 9.27.0, cutensor 2.3.0"),
    "no label": ("9.x", {}, UsageError, "not a release label"),
    "a pin beside it": ("9.27.0", {"manifest_sha256": "0" * 64}, UsageError, "no place beside it"),
    "a refresh beside it": ("9.27.0", {"refresh": True}, UsageError, "no place beside it"),
    "two choices": ("9.27.0", {"cuda": ["12", "13"]}, UsageError, "fetch is for one prefix"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_lock_does_not_have_is_an_error(
    redist_tree: RedistTree, tmp_path: Path, root: Path, case: str
) -> None:
    label, choices, kind, told = REFUSED[case]
    lock = several(redist_tree, tmp_path / "nowhere")
    with pytest.raises(kind) as caught:
        get(lock, root, label, **choices)
    assert told in str(caught.value)
    assert not root.exists()


def test_neither_label_nor_lock_is_an_error() -> None:
    with pytest.raises(UsageError, match="a label is needed, or a lock"):
        fetch()
    with pytest.raises(UsageError, match="locked needs a lock"):
        fetch("9.27.0", locked=True)


def test_components_that_were_chosen_come_without_being_named(
    tmp_path: Path, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tree = RedistTree(tmp_path / "tree")
    tree.add_release(components=("cudnn", "cudnn_jit", "cudnn_samples"))
    all_of_it = plan(lock=locked(tree.path, root), root=root, **HERE)
    assert [archive.component for archive in all_of_it.archives] == ["cudnn"]
    two = locked(tree.path, root, component=["cudnn", "cudnn_jit"])
    assert [archive.component for archive in plan(lock=two, root=root, **HERE).archives] == [
        "cudnn",
        "cudnn_jit",
    ]
    tree.edit_manifest("9.27.0", lambda manifest: manifest["cudnn_jit"].pop("windows-x86_64"))
    lame = locked(tree.path, root, component=["cudnn", "cudnn_jit"])
    with caplog.at_level(logging.WARNING):
        made = plan(lock=lame, root=root, platform="windows-x86_64", cuda="13")
    assert [archive.component for archive in made.archives] == ["cudnn"]
    assert "cudnn_jit 9.27.0 in the lock has no archive for windows-x86_64" in caplog.text


def swap(node: dict[str, Any]) -> None:
    """Give two archives each other's digest and size."""
    one, other = (each for each in node["releases"][0]["archives"] if each["platform"] == "linux-x86_64")
    for name in ("sha256", "size"):
        one[name], other[name] = other[name], one[name]


def wrong_digest(node: dict[str, Any]) -> None:
    for each in node["releases"][0]["archives"]:
        each["sha256"] = "0" * 64


def leave_the_source(node: dict[str, Any]) -> None:
    for each in node["releases"][0]["archives"]:
        each["relative_path"] = "../../../../etc/passwd"


def point_elsewhere(node: dict[str, Any]) -> None:
    for each in node["releases"][0]["archives"]:
        each["relative_path"] = "pool/x.tar.xz"


def promise_another_tree(node: dict[str, Any]) -> None:
    for each in node["releases"][0]["archives"]:
        each["tree"] = "0" * 64


UNTRUE: dict[str, tuple[Callable[[dict[str, Any]], object], type[RedistError]]] = {
    "digest of another archive": (swap, IntegrityError),
    "digest of nothing": (wrong_digest, DigestMismatch),
    "digest of another tree": (promise_another_tree, DigestMismatch),
    "path out of the directory": (leave_the_source, LockError),
    "path to nothing": (point_elsewhere, ArchiveWithdrawn),
}


@pytest.mark.parametrize(("spoil", "kind"), UNTRUE.values(), ids=UNTRUE)
def test_a_lock_that_is_not_true_installs_nothing(
    redist_tree: RedistTree,
    tmp_path: Path,
    root: Path,
    spoil: Callable[[dict[str, Any]], object],
    kind: type[RedistError],
) -> None:
    untrue = document(locked(redist_tree.path, root))
    spoil(untrue)
    with pytest.raises(kind):
        get(write(tmp_path / "lock", untrue), root, sources=[str(redist_tree.path)])
    assert everything(root) == {}


@pytest.mark.parametrize("force", [False, True])
def test_bytes_that_changed_at_the_source_are_refused(
    file: Path, redist_tree: RedistTree, root: Path, *, force: bool
) -> None:
    other = redist_tree.archive_path("9.26.0").read_bytes()
    redist_tree.replace_archive(other, "9.27.0", update_manifest=True)
    with pytest.raises(IntegrityError):
        get(file, root, options=options(force=force))
    assert everything(root).keys() <= {".partial"}


def test_an_installed_prefix_of_another_archive_is_refused_unless_forced(
    file: Path, redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    locked_sha256 = redist_tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]["sha256"]
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    fetch("9.27.0", sources=[redist_server.url], root=root, **HERE)
    before = everything(root)
    with pytest.raises(LockMismatch, match=f"the lock names {locked_sha256}") as caught:
        get(file, root)
    assert caught.value.exit_code == 8
    assert everything(root) == before
    forced = get(file, root, options=options(force=True))
    assert forced.record.archive_sha256 == locked_sha256


def test_locked_reads_the_manifest_and_keeps_it(file: Path, redist_server: RedistServer, root: Path) -> None:
    prefix = get(file, root, locked=True)
    assert asked_since(redist_server)[0] == "redistrib_9.27.0.json"
    assert [path.name for path in root.glob(".manifests/*/*/*")] == ["redistrib_9.27.0.json"]
    assert prefix.verify() == ()


def test_locked_refuses_any_difference_and_never_writes(
    file: Path, redist_tree: RedistTree, root: Path
) -> None:
    before = file.read_bytes()
    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2027-01-01"))
    with pytest.raises(LockMismatch, match=r"cudnn 9\.27\.0 is not as locked: manifest sha256 is"):
        get(file, root, locked=True)
    redist_tree.manifest_path("9.27.0").unlink()
    with pytest.raises(LockMismatch, match="no such release label"):
        get(file, root, locked=True)
    assert not root.exists()
    assert file.read_bytes() == before
    assert get(file, root).verify() == ()


def test_locked_asks_the_source_though_the_manifest_is_kept(
    file: Path, redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    fetch("9.27.0", sources=[redist_server.url], root=root, **HERE)
    entry(redist_tree, "9.27.0", lambda archive: archive.update(md5="0" * 32))
    with pytest.raises(LockMismatch):
        get(file, root, locked=True)


def test_locked_without_a_line_is_a_failure_of_the_line(
    file: Path, redist_server: RedistServer, root: Path
) -> None:
    redist_server.close()
    with pytest.raises(TransferError):
        get(file, root, locked=True)
