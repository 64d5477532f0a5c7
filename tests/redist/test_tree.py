from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from redist import File, RedistTree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HYBRID = {"hybrid": {"linux-sbsa": "cuda13.4"}}
TWO_BUILDS = {"variant_versions": {"cuda13": "9.15.0.58"}}
SAMPLES = {"components": ("cudnn", "cudnn_samples")}


@pytest.fixture
def tree(tmp_path: Path) -> RedistTree:
    return RedistTree(tmp_path)


def entries(node: object) -> Iterator[dict[str, str]]:
    if isinstance(node, dict):
        if "relative_path" in node:
            yield node
        for below in node.values():
            yield from entries(below)


def test_every_promise_of_a_manifest_is_true(tree: RedistTree) -> None:
    tree.add_release(components=("cudnn", "cudnn_jit", "cudnn_samples"), hybrid={"linux-sbsa": "cuda13.4"})
    found = list(entries(tree.manifest("9.27.0")))
    assert len(found) == 2 * 3 * 2 + 2 + 1
    for entry in found:
        data = (tree.redist / entry["relative_path"]).read_bytes()
        assert entry["size"] == str(len(data))
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert entry["md5"] == hashlib.md5(data).hexdigest()


def test_a_manifest_is_written_as_nvidia_writes_it(tree: RedistTree) -> None:
    text = tree.add_release().read_text()
    manifest = json.loads(text)
    assert text == json.dumps(manifest, indent=4)
    assert list(manifest) == ["release_date", "release_label", "release_product", "cudnn"]
    assert manifest["cudnn"]["cuda_variant"] == ["12", "13"]
    assert list(manifest["cudnn"])[3:6] == ["version", "linux-x86_64", "cuda_variant"]
    assert manifest["cudnn"]["linux-x86_64"]["cuda13"]["relative_path"] == (
        "cudnn/linux-x86_64/cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
    )


def test_an_archive_unpacks_into_a_folder_named_like_it(tree: RedistTree) -> None:
    tree.add_release()
    path = tree.archive_path("9.27.0")
    with tarfile.open(path) as tar:
        assert {name.split("/")[0] for name in tar.getnames()} == {path.name.removesuffix(".tar.xz")}
    path = tree.archive_path("9.27.0", platform="windows-x86_64")
    with zipfile.ZipFile(path) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {path.name.removesuffix(".zip")}


@pytest.mark.parametrize(
    ("label", "options", "asked", "expected"),
    [
        ("9.27.0", {}, ("cudnn", "linux-sbsa", "cuda12"), "9.27.0.42_cuda12-archive.tar.xz"),
        ("8.9.7.29", {}, ("cudnn", "linux-sbsa", None), "8.9.7.29_cuda13-archive.tar.xz"),
        ("8.9.7.29", {}, ("cudnn", "linux-sbsa", "cuda13"), "8.9.7.29_cuda13-archive.tar.xz"),
        ("25.1", {"variants": ()}, ("cudnn", "linux-sbsa", None), "25.1.42-archive.tar.xz"),
        ("9.27.0", HYBRID, ("cudnn", "linux-sbsa", "cuda13.4"), "9.27.0.42_cuda13.4-archive.tar.xz"),
        ("9.15.0", TWO_BUILDS, ("cudnn", "linux-sbsa", "cuda13"), "9.15.0.58_cuda13-archive.tar.xz"),
        ("9.27.0", SAMPLES, ("cudnn_samples", "source", None), "9.27.0.42-archive.tar.xz"),
        ("7.1.1", {"layout": "oldest"}, ("cudnn", "linux-sbsa", None), "7.1.1.42.tar.gz"),
        (
            "9.27.0",
            {"kind": "tar.zst"},
            ("cudnn", "linux-sbsa", "cuda13"),
            "9.27.0.42_cuda13-archive.tar.zst",
        ),
    ],
    ids=["nested", "flat", "flat-named", "no-variant", "hybrid", "two-builds", "source", "oldest", "zst"],
)
def test_archives_are_found_in_every_layout(
    tree: RedistTree, label: str, options: dict[str, Any], asked: tuple[str, str, str | None], expected: str
) -> None:
    tree.add_release(label, **options)
    path = tree.archive_path(label, *asked)
    assert path.name == f"{asked[0]}-{asked[1]}-{expected}"
    assert path.is_file()


def test_a_hybrid_platform_holds_both_forms_side_by_side(tree: RedistTree) -> None:
    tree.add_release(hybrid={"windows-x86_64": "cuda13.4"})
    manifest = tree.manifest("9.27.0")
    node = manifest["cudnn"]["windows-x86_64"]
    assert list(node) == ["cuda12", "cuda13", "relative_path", "sha256", "md5", "size"]
    assert manifest["cudnn"]["cuda_variant"] == ["12", "13"]


def test_the_oldest_form_has_paths_and_no_digests(tree: RedistTree) -> None:
    text = tree.add_release("7.1.1", layout="oldest", platforms=("linux-x86_64",)).read_text()
    assert text.startswith('{\n   "cudnn" : {\n      "7.1.1.42" : {\n')
    assert json.loads(text)["cudnn"]["7.1.1.42"] == {
        "linux-x86_64": "cudnn/linux-x86_64/cudnn-linux-x86_64-7.1.1.42.tar.gz",
        "release_date": "2026-09-29",
    }


def test_a_manifest_can_be_edited(tree: RedistTree) -> None:
    tree.add_release()
    tree.edit_manifest("9.27.0", lambda manifest: manifest["cudnn"].pop("linux-sbsa"))
    assert "linux-sbsa" not in tree.manifest("9.27.0")["cudnn"]


@pytest.mark.parametrize("update", [False, True])
def test_an_archive_can_be_replaced(tree: RedistTree, *, update: bool) -> None:
    tree.add_release()
    old = tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]
    path = tree.replace_archive(b"other", "9.27.0", update_manifest=update)
    new = tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]
    assert path.read_bytes() == b"other"
    assert new["size"] == ("5" if update else old["size"])
    assert (new["sha256"] == hashlib.sha256(b"other").hexdigest()) is update


def test_several_products_share_a_tree(tmp_path: Path) -> None:
    RedistTree(tmp_path).add_release()
    RedistTree(tmp_path, "cutensor").add_release("2.3.0", components=("libcutensor",))
    assert (tmp_path / "cudnn" / "redist" / "redistrib_9.27.0.json").is_file()
    assert (tmp_path / "cutensor" / "redist" / "redistrib_2.3.0.json").is_file()


def test_content_may_be_ones_own(tree: RedistTree) -> None:
    tree.add_release(content=lambda *_: {"hello": File(b"world")}, platforms=("linux-x86_64",))
    with tarfile.open(fileobj=io.BytesIO(tree.archive_path("9.27.0").read_bytes())) as tar:
        assert [name.rpartition("/")[2] for name in tar.getnames()][1:] == ["hello"]


def test_two_builds_of_a_tree_are_the_same(tmp_path: Path) -> None:
    texts = [RedistTree(tmp_path / name).add_release().read_bytes() for name in ("a", "b")]
    assert texts[0] == texts[1]
