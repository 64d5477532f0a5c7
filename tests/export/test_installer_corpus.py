"""The corpus of unsafe and damaged archives through the one-file installer: the policy is the library's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from export.installer import Driven, interpreters
from installing import everything
from locking.ground import locked
from redist import RedistTree
from unpack.corpus import BOMBS, FORMS_OF_TAR, FORMS_OF_ZIP, MEMBERS, SPECIMENS, STREAMS
from unpack.corpus_damage import CUTS
from unpack.specimens import called

from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unpack.specimen import Specimen

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
PREFIX = "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
# The installer has the library's own limits, which no small archive reaches.
WITHOUT_LIMITS = [each for each in SPECIMENS if each.most_bytes is None and each.most_members is None]
REFUSED = [
    each
    for each in (*MEMBERS, *FORMS_OF_TAR, *FORMS_OF_ZIP, *BOMBS, *STREAMS, *CUTS)
    if each.verdict != "good" and each in WITHOUT_LIMITS
]
GOOD = [each for each in WITHOUT_LIMITS if each.verdict == "good" and each.kind != "tar.zst"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> RedistTree:
    """A release whose one archive is replaced, and promised by its manifest, by each test."""
    tree = RedistTree(tmp_path_factory.mktemp("tree"))
    tree.add_release("9.27.0", platforms=("linux-x86_64",), variants=("cuda13",))
    return tree


@pytest.fixture(scope="module", params=interpreters(), ids=lambda python: python.rpartition("/")[2])
def installer(
    request: pytest.FixtureRequest, tree: RedistTree, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driven]:
    folder = tmp_path_factory.mktemp("installer")
    file = folder / "install.py"
    file.write_text(text_of("python", locked(tree.path, folder / "root")), encoding="utf-8")
    with Driven(request.param, file) as driven:
        yield driven


@pytest.mark.parametrize("specimen", REFUSED, ids=called)
def test_what_is_bad_is_refused_and_leaves_nothing(
    specimen: Specimen, tree: RedistTree, installer: Driven, tmp_path: Path
) -> None:
    tree.replace_archive(specimen.build(), "9.27.0", update_manifest=True)
    made = locked(tree.path, tmp_path / "root")
    done = installer.run(made, "--root", tmp_path / "root", *CHOICE)
    assert (done.code, done.out) == (6, ""), done.err
    reason = done.err.splitlines()[-1]
    zstd = specimen.kind == "tar.zst" and "is zstd, which this installer does not read" in reason
    assert zstd or re.search(specimen.reason, reason)
    assert reason.isprintable()
    assert everything(tmp_path) == {}


@pytest.mark.parametrize("specimen", GOOD, ids=called)
def test_what_is_good_is_installed(
    specimen: Specimen, tree: RedistTree, installer: Driven, tmp_path: Path
) -> None:
    tree.replace_archive(specimen.build(), "9.27.0", update_manifest=True)
    done = installer.run(locked(tree.path, tmp_path / "root"), "--root", tmp_path / "root", *CHOICE)
    assert done.code == 0, done.err
    prefix = tmp_path / "root" / PREFIX
    assert done.out == f"{prefix}\n"
    assert set(everything(prefix)) >= set(specimen.paths)
