"""A tree of which not everything is wanted: what is written, what is passed over, and that both are judged."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from unpack.building import NAME, Entry, file, folder, hard_link, link, tar

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack.members import Tree
from cudnn_redist.unpack.tar import read_tar

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist.unpack import Unpacked


def only_headers(path: str, *, link: bool) -> bool:  # noqa: ARG001 - what every answer is asked
    return "include" in path


def unpacked(place: Path, *entries: Entry) -> Unpacked:
    tree = Tree(place, name=NAME, wanted=only_headers)
    read_tar(io.BytesIO(tar(entries)), tree, name=NAME)
    return tree.finish()


def names(place: Path) -> list[str]:
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*"))


def test_what_is_not_wanted_is_listed_with_its_digest_and_not_written(tmp_path: Path) -> None:
    found = unpacked(tmp_path, file("top/include/x.h", b"x"), file("top/lib/x.so.1", b"library"))
    assert names(found.root) == ["include", "include/x.h"]
    assert [member.path for member in found.members] == ["include", "include/x.h"]
    assert [(member.path, member.size) for member in found.passed_over] == [("lib", 0), ("lib/x.so.1", 7)]
    assert all(member.sha256 for member in found.passed_over if member.kind == "file")


def test_a_directory_goes_only_where_something_was_left_out_of_it(tmp_path: Path) -> None:
    found = unpacked(tmp_path, file("top/include/x.h", b"x"), folder("top/empty"), file("top/a/b/c", b"c"))
    assert names(found.root) == ["empty", "include", "include/x.h"]


def test_a_link_to_a_directory_comes_along_with_it_and_with_links_to_itself(tmp_path: Path) -> None:
    found = unpacked(
        tmp_path,
        file("top/include/x.h", b"x"),
        file("top/lib/x.so.1", b"library"),
        link("top/again/headers", "../headers"),
        link("top/headers", "include"),
        link("top/libraries", "lib"),
        link("top/itself", "."),
    )
    assert names(found.root) == ["again", "again/headers", "headers", "include", "include/x.h", "itself"]
    assert (found.root / "again/headers/x.h").read_bytes() == b"x"


def test_a_wanted_link_that_would_lead_nowhere_is_left_out_and_told(tmp_path: Path) -> None:
    found = unpacked(
        tmp_path,
        file("top/include/x.h", b"x"),
        file("top/src/y.h", b"y"),
        link("top/include/y.h", "../src/y.h"),
    )
    assert "include/y.h" in [member.path for member in found.passed_over]
    assert found.notes == ("links left out, since what they lead to is in no chosen part: 'include/y.h'",)


def test_a_second_name_needs_a_first_that_is_written(tmp_path: Path) -> None:
    with pytest.raises(
        ArchiveError, match=r"is a hard link to 'top/src/x\.h', which is in no part that is chosen"
    ):
        unpacked(tmp_path, file("top/src/x.h", b"x"), hard_link("top/include/x.h", "top/src/x.h"))


def test_a_second_name_that_is_not_wanted_is_passed_over(tmp_path: Path) -> None:
    found = unpacked(tmp_path, file("top/include/x.h", b"x"), hard_link("top/src/x.h", "top/include/x.h"))
    assert names(found.root) == ["include", "include/x.h"]
    assert [member.path for member in found.passed_over] == ["src", "src/x.h"]


@pytest.mark.parametrize(
    "entry",
    [
        file("top/include", b""),
        file("../lib/x", b""),
        link("top/lib/x", "../../.."),
        file("top/include/x.h", b""),
    ],
    ids=["in the place of a directory", "outside", "a link outside", "twice"],
)
def test_what_is_not_wanted_is_judged_all_the_same(tmp_path: Path, entry: Entry) -> None:
    with pytest.raises(ArchiveError):
        unpacked(tmp_path, file("top/include/x.h", b"x"), entry)
