"""The files that a prefix gets beside those of its archive: what build systems look for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from installing import everything, options, planned
from redist import File, RedistTree
from redist.content import default_content

from cudnn_redist import Prefix, install
from cudnn_redist.prefix.record import tree_digest

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "lib/cmake/cudnn/cudnn-config.cmake"
FILES = {
    CONFIG,
    "lib/cmake/cudnn/cudnn-config-version.cmake",
    "lib/pkgconfig/cudnn.pc",
    "lib/pkgconfig/cuDNN.pc",
}
FOLDERS = {"lib/cmake", "lib/cmake/cudnn", "lib/pkgconfig"}


def generated(prefix: Prefix) -> set[str]:
    return {entry.path for entry in prefix.record.generated}


@pytest.mark.parametrize(
    ("platform", "more"), [("linux-x86_64", {"lib64"}), ("linux-sbsa", {"lib64"}), ("windows-x86_64", set())]
)
def test_they_are_listed_apart_and_are_no_part_of_the_trees_digest(
    redist_tree: RedistTree, root: Path, platform: str, more: set[str]
) -> None:
    (prefix,) = install(planned(redist_tree.path, root, platform=platform))
    assert generated(prefix) == FILES | FOLDERS | more
    of_the_archive = {entry.path for entry in prefix.record.entries}
    assert generated(prefix) & of_the_archive == set()
    assert generated(prefix) | of_the_archive | {".cudnn-redist.json"} == set(everything(prefix.path))
    assert prefix.record.tree == tree_digest(prefix.record.entries)
    assert prefix.verify() == ()


@pytest.mark.parametrize("path", sorted(FILES))
def test_verify_and_the_next_install_look_at_them_too(redist_tree: RedistTree, root: Path, path: str) -> None:
    plan = planned(redist_tree.path, root)
    (prefix,) = install(plan)
    data = (prefix.path / path).read_bytes()
    (prefix.path / path).write_bytes(bytes(reversed(data)))
    (finding,) = prefix.verify()
    assert (finding.where, finding.code) == (path, "file-changed")
    (prefix.path / path).unlink()
    (mended,) = install(plan)
    assert (mended.path / path).read_bytes() == data
    assert mended.verify() == ()


def test_a_vendors_file_of_that_name_stays(redist_tree: RedistTree, root: Path) -> None:
    vendors = {CONFIG: File(b"# NVIDIA's own\n"), "lib/pkgconfig/CUDNN.pc": File(b"Name: theirs\n")}
    redist_tree.add_release("9.27.0", content=lambda *facts: {**default_content(*facts), **vendors})
    (prefix,) = install(planned(redist_tree.path, root))
    assert generated(prefix) == {"lib/cmake/cudnn/cudnn-config-version.cmake", "lib64"}
    assert {path: File((prefix.path / path).read_bytes()) for path in vendors} == vendors
    assert prefix.verify() == ()


@pytest.mark.parametrize("component", ["cudnn_samples", "libcutensor"])
def test_what_is_not_cudnn_gets_none(tmp_path: Path, root: Path, component: str) -> None:
    product = "cudnn" if component == "cudnn_samples" else "cutensor"
    RedistTree(tmp_path / "tree", product=product).add_release("9.27.0", components=(component,))
    (prefix,) = install(planned(tmp_path / "tree", root, product=product, component=component))
    assert generated(prefix) <= {"lib64"}
    assert prefix.verify() == ()


def test_installing_again_gives_the_same_bytes(redist_tree: RedistTree, root: Path) -> None:
    plan = planned(redist_tree.path, root)
    (prefix,) = install(plan)
    before = everything(prefix.path)
    install(plan, options=options(force=True))
    assert everything(prefix.path) == before
