"""What an install must not take away, and what a pin, a kept manifest and a standing prefix mean to one another."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import pytest
from redist import File, RedistTree
from redist.archives import pack

from cudnn_redist import InstallOptions, TransferOptions, fetch
from cudnn_redist.errors import DigestMismatch, ManifestChanged, PrefixError, UsageError
from cudnn_redist.prefix.installed import Prefix

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer

QUICK = InstallOptions(transfer=TransferOptions(retries=0, retry_delay=0.01))


def get(source: object, root: Path, label: str = "9.27.0", **choices: Any) -> Prefix:  # noqa: ANN401
    given = {"platform": "linux-x86_64", "cuda": "13", "options": QUICK, **choices}
    return fetch(label, sources=[str(source)], root=root, **given)


def test_a_pin_is_not_answered_by_a_prefix_of_another_manifest(redist_tree: RedistTree, root: Path) -> None:
    old = get(redist_tree.path, root)
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    now = redist_tree.manifest_path("9.27.0").read_bytes()
    pin = hashlib.sha256(now).hexdigest()
    with pytest.raises(ManifestChanged, match="--force"):
        get(redist_tree.path, root, manifest_sha256=pin)
    assert Prefix.open(old.path).record == old.record
    forced = InstallOptions(force=True)
    assert get(redist_tree.path, root, manifest_sha256=pin, options=forced).record.version == "9.27.0.43"


def test_the_same_archive_of_a_republished_manifest_is_asked_for_once(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    get(redist_server.url, root)
    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2027-01-01"))
    pin = hashlib.sha256(redist_tree.manifest_path("9.27.0").read_bytes()).hexdigest()
    get(redist_server.url, root, manifest_sha256=pin)
    asked = len(redist_server.log)
    get(redist_server.url, root, manifest_sha256=pin)
    assert len(redist_server.log) == asked


def test_a_kept_manifest_with_a_wrong_digest_is_read_again(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    good = redist_tree.manifest_path("9.27.0").read_bytes()
    redist_tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["linux-x86_64"]["cuda12"].update(sha256="0" * 64)
    )
    get(redist_server.url, root, cuda="13")
    with pytest.raises(DigestMismatch):
        get(redist_server.url, root, cuda="12")
    redist_tree.manifest_path("9.27.0").write_bytes(good)
    assert get(redist_server.url, root, cuda="12").verify() == ()


def test_a_kept_manifest_speaks_for_its_own_source_only(
    redist_tree: RedistTree, root: Path, tmp_path: Path
) -> None:
    get(redist_tree.path, root, cuda="13")
    other = RedistTree(tmp_path / "other")
    other.add_release("9.27.0", version="9.27.0.99")
    assert get(other.path, root, cuda="12").record.version == "9.27.0.99"


def test_dest_keeps_what_was_added_to_a_prefix(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    dest = tmp_path / "cudnn"
    get(redist_tree.path, root, "9.26.0", dest=dest)
    (dest / "mine.txt").write_text("mine")
    with pytest.raises(PrefixError, match=r"mine\.txt"):
        get(redist_tree.path, root, "9.27.0", dest=dest)
    assert (dest / "mine.txt").read_text() == "mine"
    assert get(redist_tree.path, root, "9.27.0", dest=dest, options=InstallOptions(force=True)).verify() == ()


def test_dest_keeps_what_came_while_it_was_fetched(
    redist_server: RedistServer, root: Path, tmp_path: Path
) -> None:
    dest = tmp_path / "cudnn"

    def busy(_: object) -> None:
        dest.mkdir(exist_ok=True)
        (dest / "precious").write_text("mine")

    with pytest.raises(PrefixError, match="left alone"):
        get(redist_server.url, root, dest=dest, progress=busy)
    assert [path.name for path in dest.iterdir()] == ["precious"]


@pytest.mark.parametrize("first", ["nested", "flat"])
def test_a_label_whose_shape_changed_takes_no_variants_along(
    first: str, redist_tree: RedistTree, root: Path
) -> None:
    """A flat archive without a variant would lie where the variants lie."""
    if first == "flat":
        redist_tree.add_release("9.27.0", variants=())
    old = get(redist_tree.path, root)
    redist_tree.add_release("9.27.0", variants=("cuda12", "cuda13") if first == "flat" else ())
    forced = InstallOptions(force=True)
    with pytest.raises(PrefixError, match="left alone"):
        get(redist_tree.path, root, options=forced)
    assert Prefix.open(old.path).verify() == ()


def test_a_zip_that_changes_between_judging_and_unpacking_is_refused(
    redist_tree: RedistTree, root: Path
) -> None:
    """Its time of modification set back makes no difference."""
    path = redist_tree.archive_path("9.27.0", "cudnn", "windows-x86_64", "cuda13")
    good, times = path.read_bytes(), path.stat()
    top = path.name.removesuffix(".zip")
    evil = pack("zip", top, {"bin/x64/cudnn64_9.dll": File(b"evil" * 100)})

    def rewrite(_: object) -> None:
        with path.open("r+b") as file:
            file.write((evil + good)[: len(good)])
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    with pytest.raises(Exception, match=r"changed while it was read|unpack|verify"):
        get(redist_tree.path, root, platform="windows-x86_64", progress=rewrite)
    assert not (root / "cudnn/9.27.0").exists()


@pytest.mark.parametrize("choices", [{"cuda": 13}, {"cuda": ["12", "13"]}, {"platform": 5}], ids=str)
def test_words_of_the_wrong_kind_are_a_usage_error(
    choices: dict[str, Any], redist_tree: RedistTree, root: Path
) -> None:
    with pytest.raises(UsageError):
        get(redist_tree.path, root, **choices)


def test_the_main_component_of_another_product_is_found_again(tmp_path: Path, root: Path) -> None:
    tree = RedistTree(tmp_path / "tree", product="cutensor")
    tree.add_release("2.3.0", components=("libcutensor",))
    made = get(tree.path, root, "2.3.0", product="cutensor")
    again = fetch(
        "2.3.0",
        product="cutensor",
        platform="linux-x86_64",
        cuda="13",
        root=root,
        sources=["http://127.0.0.1:1/"],
    )
    assert again == made
