"""Every other archive of the corpus: what is good gives its tree, what is not is refused with a reason."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from prefix.ordinary import NOBODY
from unpack.building import NAME
from unpack.corpus import BOMBS, FORMS_OF_TAR, FORMS_OF_ZIP, SPECIMENS, STREAMS
from unpack.corpus_damage import CUTS, XZ_FLIPS
from unpack.sentinel import STAGE, build_sentinel, untouched
from unpack.specimens import called, unpack_specimen

from cudnn_redist.errors import ArchiveError

if TYPE_CHECKING:
    from pathlib import Path

    from unpack.specimen import Specimen

GOOD = [specimen for specimen in SPECIMENS if specimen.verdict == "good"]
BAD = [
    specimen
    for specimen in (*FORMS_OF_TAR, *FORMS_OF_ZIP, *BOMBS, *STREAMS, *CUTS)
    if specimen.verdict != "good"
]
FLIPS = {
    part: list(specimens) for part, specimens in groupby(XZ_FLIPS, lambda each: each.name.rpartition(",")[0])
}


def test_the_corpus_names_each_archive_once() -> None:
    names = [called(specimen) for specimen in SPECIMENS]
    assert sorted(set(names)) == sorted(names)
    assert {specimen.verdict for specimen in SPECIMENS} == {"good", "unsafe", "damaged"}
    assert all(specimen.reason for specimen in SPECIMENS if specimen.verdict != "good")


@pytest.mark.parametrize("specimen", GOOD, ids=called)
def test_what_is_good_gives_its_tree_and_touches_nothing_else(specimen: Specimen, tmp_path: Path) -> None:
    build_sentinel(tmp_path)
    with untouched(tmp_path):
        unpacked = unpack_specimen(specimen, tmp_path / STAGE)
    assert [member.path for member in unpacked.members] == sorted(specimen.paths)
    for path in (unpacked.root, *unpacked.root.rglob("*")):
        found = path.lstat()
        assert found.st_uid == os.geteuid()
        if not path.is_symlink():
            assert stat.S_IMODE(found.st_mode) in (0o755, 0o644)


@pytest.mark.parametrize("specimen", BAD, ids=called)
def test_what_is_bad_is_refused_with_a_reason(specimen: Specimen, tmp_path: Path) -> None:
    build_sentinel(tmp_path)
    (tmp_path / STAGE).mkdir()
    with untouched(tmp_path), pytest.raises(ArchiveError, match=specimen.reason) as caught:
        unpack_specimen(specimen, tmp_path / STAGE / "stage")
    assert caught.value.where == NAME
    assert caught.value.exit_code == 6
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("specimens", FLIPS.values(), ids=FLIPS.keys())
def test_every_flipped_byte_of_an_xz_is_noticed(specimens: list[Specimen], tmp_path: Path) -> None:
    """C51."""
    for number, specimen in enumerate(specimens):
        with pytest.raises(ArchiveError, match=specimen.reason):
            unpack_specimen(specimen, tmp_path / str(number))


AS_ANOTHER_USER = """
import os, sys
from pathlib import Path
import unpack.sentinel  # what is imported late, while the interpreter can still be read
from unpack.corpus import SPECIMENS
from unpack.specimens import unpack_specimen
if user := int(sys.argv[2]):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
for number, specimen in enumerate(SPECIMENS):
    if specimen.verdict == "good":
        root = unpack_specimen(specimen, Path(str(number))).root
        owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in (root, *root.rglob("*"))}
        assert owners == {(os.geteuid(), os.getegid())}, (specimen.name, owners)
print("all are mine")
"""


def test_a_foreign_owner_becomes_whoever_unpacks(tmp_path: Path) -> None:
    """Every member here belongs to user 31999; as an ordinary user where the suite runs as root, else as oneself."""
    user = NOBODY if os.geteuid() == 0 else 0
    if user:
        os.chown(tmp_path, user, user)
    words = [sys.executable, "-c", AS_ANOTHER_USER, str(tmp_path), str(user)]
    paths = os.pathsep.join(path for path in sys.path if path)
    # Another user may not write where a measured run keeps its coverage.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env={**kept, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("all are mine\n", "")
