"""The corpus through the product: archives that are just what the manifest promises, and must not be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from installing import everything, options, planned
from redist import RedistServer, RedistTree
from redist.command import run_command
from unpack.corpus import BOMBS, FORMS_OF_TAR, FORMS_OF_ZIP, MEMBERS, SPECIMENS, STREAMS
from unpack.corpus_damage import CUTS
from unpack.specimens import called, limits

from cudnn_redist import install
from cudnn_redist.errors import ArchiveError

if TYPE_CHECKING:
    from pathlib import Path

    from unpack.specimen import Specimen

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
REFUSED = [
    specimen
    for specimen in (*MEMBERS, *FORMS_OF_TAR, *FORMS_OF_ZIP, *BOMBS, *STREAMS, *CUTS)
    if specimen.verdict != "good"
]
THROUGH_THE_COMMAND = [
    "tar: tar: climbing inside",
    "tar: pax: absolute link",
    "tar: tar: write through a link to outside",
    "tar: tar: hard link outside",
    "tar: tar: fifo",
    "zip: zip: backslash",
    "zip: zip: climbing link",
    "zip: socket",
    "zip: wrong CRC",
    "zip: cut at 50 %",
    "tar: sparse, pax 1.0",
    "tar.xz: cut at 95 %",
    "tar.xz: padding of 3",
    "tar.gz: cut at 5 %",
    "tar.zst: wrong checksum",
    "tar.xz: an HTML page",
]
BY_NAME = {called(specimen): specimen for specimen in SPECIMENS}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> RedistTree:
    """A release whose one archive is replaced, and promised by its manifest, by each test."""
    tree = RedistTree(tmp_path_factory.mktemp("tree"))
    tree.add_release("9.27.0", platforms=("linux-x86_64",), variants=("cuda13",))
    return tree


@pytest.mark.parametrize("specimen", REFUSED, ids=called)
def test_it_is_not_installed(specimen: Specimen, tree: RedistTree, tmp_path: Path) -> None:
    tree.replace_archive(specimen.build(), "9.27.0", update_manifest=True)
    made = planned(tree.path, tmp_path / "root")
    with pytest.raises(ArchiveError, match=specimen.reason) as caught:
        install(made, options=options(unpacking=limits(specimen)))
    assert caught.value.exit_code == 6
    assert caught.value.where == made.archives[0].urls[0]
    assert everything(tmp_path) in ({}, {"root": ("directory", "")})


@pytest.mark.parametrize(("number", "name"), [*enumerate(THROUGH_THE_COMMAND)], ids=THROUGH_THE_COMMAND)
def test_the_command_ends_with_6_and_leaves_nothing(
    number: int, name: str, tree: RedistTree, tmp_path: Path
) -> None:
    """Every other one over HTTP."""
    tree.replace_archive(BY_NAME[name].build(), "9.27.0", update_manifest=True)
    with RedistServer(tree.path) as server:
        source = server.url if number % 2 else str(tree.path)
        done = run_command("fetch", "9.27.0", *CHOICE, "--root", tmp_path / "root", "--source", source)
    assert (done.code, done.out) == (6, ""), done.err
    reason = done.err.splitlines()[-1]
    assert reason.startswith("cudnn-redist: unpack: ")
    assert source.rstrip("/") in reason
    assert reason.isascii()
    assert [what for what in everything(tmp_path / "root").values() if what[0] != "directory"] == []
    assert not (tmp_path / "root/cudnn").exists()
