"""Unsafe members, alone and in pairs: refused by name, and nothing outside the stage is read, written or linked."""

from __future__ import annotations

import io
import itertools
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from prefix.ordinary import run_as_ordinary_user
from unpack.building import GOOD, NAME, file, link, tar, unpack_bytes
from unpack.corpus import FORMS, MEMBERS, packed
from unpack.corpus_members import CASE_FOLDING, IN_EVERY_KIND, IN_TAR, WINDOWS_RESERVED
from unpack.sentinel import STAGE, build_sentinel, untouched, without_events
from unpack.specimens import called, unpack_specimen

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import Kind
from cudnn_redist.unpack.members import Tree
from cudnn_redist.unpack.tar import read_tar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unpack.building import Entry
    from unpack.specimen import Specimen

EVERY_MEMBER = {"tar": IN_EVERY_KIND | IN_TAR, "zip": IN_EVERY_KIND}
PAIRS = [(form, name) for form, members in EVERY_MEMBER.items() for name in members]


@pytest.fixture
def around(tmp_path: Path) -> Path:
    """A directory with a sentinel tree in it, beside which the stage is made."""
    build_sentinel(tmp_path)
    return tmp_path


def read_into(tree: Tree, entries: Sequence[Entry]) -> None:
    read_tar(io.BytesIO(tar(entries)), tree, name=NAME)


@pytest.mark.parametrize("specimen", MEMBERS, ids=called)
def test_an_unsafe_member_is_refused_and_nothing_outside_is_touched(specimen: Specimen, around: Path) -> None:
    with untouched(around), pytest.raises(ArchiveError, match=specimen.reason) as caught:
        unpack_specimen(specimen, around / STAGE)
    assert caught.value.where == NAME
    assert caught.value.exit_code == 6
    assert caught.value.member is not None
    assert str(caught.value).isprintable()


def test_a_good_member_alone_passes_the_same_watch(around: Path) -> None:
    with untouched(around):
        unpacked = unpack_bytes(tar([GOOD]), around / STAGE)
    assert [member.path for member in unpacked.members] == ["good"]


@pytest.mark.parametrize(
    "touch",
    [
        "cat sentinel/file",
        "ls sentinel/d",
        "chmod 600 sentinel/file",
        "ln sentinel/file tree/x",
        "echo >> sentinel/d/below",
    ],
)
def test_the_watch_sees_every_touch(touch: str, around: Path) -> None:
    """Or the tests above would prove nothing."""
    (around / STAGE).mkdir()
    with pytest.raises(AssertionError, match="events on"), without_events(around):
        subprocess.run(["sh", "-c", touch], cwd=around, stdout=subprocess.DEVNULL, check=True)


@pytest.mark.parametrize(("form", "first"), PAIRS, ids=[": ".join(pair) for pair in PAIRS])
def test_one_unsafe_member_does_not_cover_for_another(form: str, first: str, around: Path) -> None:
    members, kind = EVERY_MEMBER[form], Kind(FORMS[form][0])
    with untouched(around):
        (around / STAGE).mkdir()
        for number, second in enumerate(members):
            data = packed(form, (*members[first].entries, *members[second].entries))
            with pytest.raises(ArchiveError) as caught:
                unpack_bytes(data, around / STAGE / str(number), kind)
            assert caught.value.exit_code == 6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "case", ["write through a link to outside", "chain that leaves", "links in a circle"]
)
def test_in_whatever_order_they_come(form: str, case: str, around: Path) -> None:
    kind, pack = FORMS[form]
    with untouched(around):
        (around / STAGE).mkdir()
        for number, entries in enumerate(itertools.permutations((*IN_EVERY_KIND[case].entries, GOOD))):
            with pytest.raises(ArchiveError):
                unpack_bytes(pack(entries), around / STAGE / str(number), Kind(kind))


@pytest.mark.parametrize("entries", CASE_FOLDING.values(), ids=CASE_FOLDING.keys())
def test_names_that_a_file_system_may_fold(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    """C56."""
    for name in ("told apart", "folded"):
        (tmp_path / name).mkdir()
    read_into(Tree(tmp_path / "told apart", name=NAME, folds_case=False), entries)
    folding = Tree(tmp_path / "folded", name=NAME, folds_case=True)
    with pytest.raises(ArchiveError, match="are one name on this file system, which folds case"):
        read_into(folding, entries)


@pytest.mark.parametrize("name", WINDOWS_RESERVED)
def test_names_that_only_windows_reserves(name: str, tmp_path: Path) -> None:
    for system in ("posix", "windows"):
        (tmp_path / system).mkdir()
    read_into(Tree(tmp_path / "posix", name=NAME, windows=False), [file(f"top/{name}")])
    with pytest.raises(ArchiveError, match=r"is a name that Windows reserves|begins with a drive letter"):
        read_into(Tree(tmp_path / "windows", name=NAME, windows=True), [file(f"top/{name}")])


AS_ORDINARY_USER = """
import sys
from pathlib import Path
from cudnn_redist.errors import ArchiveError
from unpack.corpus import MEMBERS
from unpack.specimens import unpack_specimen
stages = Path(sys.argv[1])
for number, specimen in enumerate(MEMBERS):
    try:
        unpack_specimen(specimen, stages / str(number))
    except ArchiveError:
        continue
    sys.exit(f"{specimen.name} was unpacked")
print(len(MEMBERS))
"""


def test_an_ordinary_user_is_never_stopped_by_what_lies_outside(
    around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neighbours that may be neither read nor entered: whoever so much as looked would meet another error."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (around / STAGE).mkdir()
    for path in (around / "sentinel/file", around / "sentinel"):
        path.chmod(0)
    around.chmod(0o555)
    done = run_as_ordinary_user("-c", AS_ORDINARY_USER, around / STAGE)
    around.chmod(0o755)
    assert (done.stdout, done.stderr) == (f"{len(MEMBERS)}\n", "")


@pytest.mark.parametrize("target", ["../../sentinel", "../../sentinel/file"])
def test_a_link_out_of_the_tree_is_refused_even_where_its_target_exists(target: str, around: Path) -> None:
    evil = [GOOD, link("top/l", target), file("top/l/x", b"evil")]
    with untouched(around), pytest.raises(ArchiveError, match="would be written through the link 'top/l'"):
        unpack_bytes(tar(evil), around / STAGE)


def test_the_error_names_the_member_and_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError) as caught:
        unpack_bytes(tar([file("top/../../evil")]), tmp_path / STAGE)
    assert str(caught.value) == f"unpack: {NAME}: 'top/../../evil' climbs with '..'"
    assert caught.value.member == "top/../../evil"
