from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory  # noqa: TID251 - the ban is for what the product writes
from typing import TYPE_CHECKING

from fuzz import tars, zips
from fuzz.damage import ANYWHERE, Damage
from fuzz.strategies import ENTRIES, TAR_FORMATS, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from unpack.building import GOOD, TAR_KINDS, compressed, tar, unpack_bytes, zip_of

from cudnn_redist.unpack import Kind

if TYPE_CHECKING:
    from unpack.building import Entry

    from cudnn_redist.unpack import Member


def members(data: bytes, kind: Kind) -> tuple[Member, ...]:
    with TemporaryDirectory() as folder:
        return unpack_bytes(data, Path(folder, "tree"), kind).members


@settings(deadline=None, max_examples=40)
@given(entries=trees(), tar_format=TAR_FORMATS)
def test_a_tree_is_the_same_whatever_it_was_packed_with(entries: tuple[Entry, ...], tar_format: int) -> None:
    packed = tar(entries, tar_format)
    found = members(packed, Kind.TAR)
    links = {entry.name.removeprefix("top/"): entry.target for entry in entries if entry.target}
    assert {member.path: member.target for member in found if member.kind == "link"} == links
    assert [members(compressed(kind, packed), kind) for kind in TAR_KINDS] == [found] * len(TAR_KINDS)
    assert members(zip_of(entries), Kind.ZIP) == found


@settings(deadline=None, max_examples=100)
@given(entries=ENTRIES, tar_format=TAR_FORMATS)
def test_any_members_of_a_tar_are_unpacked_as_told_or_refused(entries: list[Entry], tar_format: int) -> None:
    tars.check(tar([GOOD, *entries], tar_format))


@settings(deadline=None, max_examples=100)
@given(ENTRIES)
def test_any_members_of_a_zip_are_unpacked_as_told_or_refused(entries: list[Entry]) -> None:
    spelled = [entry for entry in entries if not entry.hard and "\udcff" not in f"{entry.name}{entry.target}"]
    zips.check(zip_of([GOOD, *spelled]))


DAMAGES = st.lists(ANYWHERE, min_size=1, max_size=3)


@settings(deadline=None, max_examples=100)
@given(entries=trees(), tar_format=TAR_FORMATS, damages=DAMAGES)
def test_a_damaged_tar_is_unpacked_as_told_or_refused(
    entries: tuple[Entry, ...], tar_format: int, damages: list[Damage]
) -> None:
    data = tar(entries, tar_format)
    for damage in damages:
        data = damage.to(data) or b"\0"
    tars.check(tars.mended(data))


@settings(deadline=None, max_examples=100)
@given(entries=trees(), damages=DAMAGES)
def test_a_damaged_zip_is_unpacked_as_told_or_refused(
    entries: tuple[Entry, ...], damages: list[Damage]
) -> None:
    data = zip_of(entries)
    for damage in damages:
        data = damage.to(data) or b"\0"
    zips.check(data)
    zips.check(zips.mended(data))
