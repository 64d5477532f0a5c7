"""One archive becomes a ``.tar.zst`` with the same tree, and always the same bytes."""

from __future__ import annotations

import hashlib
import random
import tarfile
from typing import TYPE_CHECKING

import pytest
import zstandard
from installing import everything
from redist import File, Folder, Link
from redist.archives import compress, pack, unpack_tar

from cudnn_redist.errors import ArchiveError
from cudnn_redist.mirroring.repack import repacked
from cudnn_redist.unpack import Kind, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist.content import Entry

    from cudnn_redist.mirroring.repack import Repacked

CONTENT: Mapping[str, Entry] = {
    "LICENSE": File(b"be good\n", 0o444),
    "bin/tool": File(b"#!/bin/sh\n", 0o755),
    "lib/libcudnn.so.9": File(random.Random(1).randbytes(50_000), 0o755),
    "lib/libcudnn.so": Link("libcudnn.so.9"),
    "share/empty": Folder(),
    f"include/{'long_' * 30}name.h": File(b"/* more than a hundred letters */\n"),
}


def repack_bytes(data: bytes, folder: Path, *, level: int = 3, threads: int = 2) -> tuple[Repacked, bytes]:
    """Repack an archive in a directory of its own, which must hold the result and nothing else afterwards."""
    folder.mkdir()
    source, target = folder / "archive", folder / "archive.tar.zst"
    source.write_bytes(data)
    found = repacked(source, target, level=level, threads=threads)
    assert sorted(path.name for path in folder.iterdir()) == ["archive", "archive.tar.zst"]
    return found, target.read_bytes()


def tar_of(packed: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(packed)


@pytest.mark.parametrize("kind", ["tar.xz", "tar.gz", "tar.zst", "tar"])
def test_the_tar_inside_is_kept_to_the_last_byte(kind: str, tmp_path: Path) -> None:
    tar = pack("tar", "top", CONTENT)

    _, packed = repack_bytes(compress(kind, tar), tmp_path / "there")

    assert tar_of(packed) == tar


def test_every_kind_of_archive_of_one_tree_has_one_tree_digest(tmp_path: Path) -> None:
    kinds = ("tar.xz", "tar.gz", "tar", "zip")

    trees = {kind: repack_bytes(pack(kind, "top", CONTENT), tmp_path / kind)[0].tree for kind in kinds}

    assert len(set(trees.values())) == 1, trees


@pytest.mark.parametrize("top", ["top", ""], ids=["one top folder", "none"])
def test_a_zip_becomes_a_tar_of_the_same_tree_and_times(top: str, tmp_path: Path) -> None:
    _, packed = repack_bytes(pack("zip", top, CONTENT), tmp_path / "zip")
    trees = {}
    for kind, data in (("tar", tar_of(packed)), ("gz", pack("tar.gz", top, CONTENT))):
        (tmp_path / kind).write_bytes(data)
        unpack_tar(tmp_path / kind, tmp_path / f"{kind}.tree")
        trees[kind] = everything(tmp_path / f"{kind}.tree")

    assert trees["tar"] == trees["gz"]
    with tarfile.open(tmp_path / "tar") as archive:
        members = archive.getmembers()
    assert {member.mtime for member in members} == {1_790_000_000}
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}


def test_the_result_does_not_depend_on_the_threads(tmp_path: Path) -> None:
    # Several jobs of zstd: at level 1 one has 2 MiB.
    noise = random.Random(2).randbytes(3_000_000)
    data = pack("tar", "top", {"lib/large": File((noise + bytes(2_000_000)) * 2)})

    results = [
        repack_bytes(data, tmp_path / str(number), level=1, threads=threads)
        for number, threads in enumerate((1, 2, 3, 1))
    ]

    assert len({packed for _, packed in results}) == 1
    found, packed = results[0]
    assert (found.sha256, found.size) == (hashlib.sha256(packed).hexdigest(), len(packed))


def test_a_higher_level_is_smaller(tmp_path: Path) -> None:
    text = " ".join(str(number * number) for number in range(60_000)).encode()
    data = pack("tar", "top", {"text": File(text)})

    sizes = [repack_bytes(data, tmp_path / str(level), level=level)[0].size for level in (1, 19)]

    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1]


def test_what_is_written_can_be_unpacked_within_the_usual_limits(tmp_path: Path) -> None:
    found, _ = repack_bytes(pack("tar.xz", "top", CONTENT), tmp_path / "there", level=19)

    (tmp_path / "tree").mkdir()
    with (tmp_path / "there/archive.tar.zst").open("rb") as file:
        unpacked = unpack(file, tmp_path / "tree", name="archive", kind=Kind.ZST)

    assert found.size
    assert {member.path for member in unpacked.members} >= set(CONTENT)


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (pack("tar.xz", "top", CONTENT)[:-40], "too early"),
        (pack("tar.gz", "top", {"../../out": File(b"x")}), "climbs"),
        (b"<html>not here</html>", "HTML"),
        (b"", "empty"),
    ],
    ids=["cut", "climbing", "page", "empty"],
)
def test_what_could_not_be_installed_is_not_repacked(data: bytes, cause: str, tmp_path: Path) -> None:
    source = tmp_path / "archive"
    source.write_bytes(data)

    with pytest.raises(ArchiveError, match=cause) as caught:
        repacked(source, tmp_path / "archive.tar.zst")

    assert caught.value.where == "archive"
    assert not (tmp_path / "archive.tar.zst.tree").exists()
    assert not (tmp_path / "out").exists()
