from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest
from unpack.corpus import (
    GOOD,
    NAME,
    UNSAFE_IN_EVERY_KIND,
    UNSAFE_IN_TAR,
    Entry,
    tar,
    tar_of,
    unpack_bytes,
    zip_of,
)
from unpack.watch import picture, touching_only

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import Kind

if TYPE_CHECKING:
    from pathlib import Path

UNSAFE_ARCHIVES = {
    **{
        f"tar: {case}": (Kind.TAR, tar([GOOD, *entries]))
        for case, entries in (UNSAFE_IN_EVERY_KIND | UNSAFE_IN_TAR).items()
    },
    **{
        f"pax: {case}": (Kind.TAR, tar([GOOD, *entries], tarfile.PAX_FORMAT))
        for case, entries in UNSAFE_IN_EVERY_KIND.items()
    },
    **{
        f"zip: {case}": (Kind.ZIP, zip_of([GOOD, *entries])) for case, entries in UNSAFE_IN_EVERY_KIND.items()
    },
}


@pytest.fixture
def sentinel(tmp_path: Path) -> Path:
    """A neighbour of the destination, which every unsafe member could reach."""
    neighbour = tmp_path / "sentinel"
    neighbour.mkdir()
    (neighbour / "file").write_text("untouched")
    (neighbour / "file").chmod(0o400)
    return neighbour


@pytest.mark.parametrize(("kind", "data"), UNSAFE_ARCHIVES.values(), ids=UNSAFE_ARCHIVES.keys())
def test_an_unsafe_member_is_refused_and_nothing_outside_is_touched(
    kind: Kind, data: bytes, tmp_path: Path, sentinel: Path
) -> None:
    before = picture(sentinel)
    with pytest.raises(ArchiveError) as caught, touching_only(tmp_path / "tree"):
        unpack_bytes(data, tmp_path / "tree", kind)
    assert picture(sentinel) == before
    assert {path.name for path in tmp_path.iterdir()} == {"tree", "sentinel"}
    assert caught.value.where == NAME
    assert caught.value.exit_code == 6
    assert caught.value.member is not None
    assert str(caught.value).isprintable()


def test_a_good_member_alone_passes_the_same_watch(tmp_path: Path, sentinel: Path) -> None:
    before = picture(sentinel)
    with touching_only(tmp_path / "tree"):
        unpacked = unpack_bytes(tar_of(Kind.GZ, [GOOD]), tmp_path / "tree", Kind.GZ)
    assert picture(sentinel) == before
    assert [member.path for member in unpacked.members] == ["good"]


@pytest.mark.parametrize("target", ["../../sentinel", "../../sentinel/file"])
def test_a_link_out_of_the_tree_is_refused_even_where_its_target_exists(
    target: str, tmp_path: Path, sentinel: Path
) -> None:
    before = picture(sentinel)
    evil = [GOOD, Entry(name="top/l", target=target), Entry(name="top/l/x", data=b"evil")]
    with pytest.raises(ArchiveError, match="would be written through the link 'top/l'"):
        unpack_bytes(tar(evil), tmp_path / "tree")
    assert picture(sentinel) == before


def test_the_error_names_the_member_and_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError) as caught:
        unpack_bytes(tar([Entry(name="top/../../evil")]), tmp_path / "tree")
    assert str(caught.value) == f"unpack: {NAME}: 'top/../../evil' climbs with '..'"
    assert caught.value.member == "top/../../evil"
