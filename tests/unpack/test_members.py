from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from unpack.building import (
    MTIME,
    NAME,
    SAMPLE,
    TAR_KINDS,
    Entry,
    file,
    folder,
    hard_link,
    link,
    tar,
    tar_of,
    unpack_bytes,
    zip_of,
)

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack import Kind, Member, UnpackOptions
from cudnn_redist.unpack.members import Tree
from cudnn_redist.unpack.tar import read_tar

if TYPE_CHECKING:
    from pathlib import Path

EVERY_KIND = [*((kind, tar_of(kind, SAMPLE)) for kind in TAR_KINDS), (Kind.ZIP, zip_of(SAMPLE))]


def into(tree: Tree, *entries: Entry) -> Tree:
    read_tar(io.BytesIO(tar(entries)), tree, name=NAME)
    return tree


def member(path: str, data: bytes, *, executable: bool = False) -> Member:
    digest = hashlib.sha256(data).hexdigest()
    return Member(path=path, kind="file", size=len(data), executable=executable, sha256=digest)


@pytest.mark.parametrize(("kind", "data"), EVERY_KIND, ids=[kind.value for kind, _ in EVERY_KIND])
def test_every_kind_gives_the_same_tree(kind: Kind, data: bytes, tmp_path: Path) -> None:
    unpacked = unpack_bytes(data, tmp_path / "stage", kind)
    assert unpacked.root == tmp_path / "stage" / "top"
    assert unpacked.notes == ()
    assert unpacked.members == (
        member("LICENSE", b"as is"),
        member("empty", b""),
        Member(path="include", kind="directory"),
        member("include/x.h", SAMPLE[5].data),
        Member(path="lib", kind="directory"),
        Member(path="lib/libx.so", kind="link", target="libx.so.9"),
        Member(path="lib/libx.so.9", kind="link", target="libx.so.9.1"),
        member("lib/libx.so.9.1", SAMPLE[2].data, executable=True),
    )
    for entry in unpacked.members:
        path = unpacked.root / entry.path
        if entry.kind == "file":
            assert hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256
            assert bool(path.stat().st_mode & 0o111) == entry.executable
            assert path.stat().st_mtime == MTIME
        elif entry.kind == "link":
            assert str(path.readlink()) == entry.target
            assert path.lstat().st_mtime == MTIME
    assert (unpacked.root / "lib").stat().st_mtime == MTIME


@pytest.mark.parametrize("kind", [Kind.TAR, Kind.ZIP])
def test_the_list_does_not_depend_on_named_directories(kind: Kind, tmp_path: Path) -> None:
    pack = zip_of if kind is Kind.ZIP else tar
    bare = [entry for entry in SAMPLE if not entry.directory]
    late = [*bare, *(entry for entry in SAMPLE if entry.directory)]
    lists = [
        unpack_bytes(pack(entries), tmp_path / str(number), kind).members
        for number, entries in enumerate((SAMPLE, bare, late))
    ]
    assert lists[0] == lists[1] == lists[2]


@pytest.mark.parametrize(
    ("entries", "root", "paths"),
    [
        ([file("a/x"), file("b/y")], "", ["a", "a/x", "b", "b/y"]),
        ([file("a/x"), file("y")], "", ["a", "a/x", "y"]),
        ([file("x")], "", ["x"]),
        ([file("a/b/x")], "a", ["b", "b/x"]),
        ([folder("./"), file("./a/x"), folder("./a")], "a", ["x"]),
        ([file("a//x"), link("y", "a/./x")], "", ["a", "a/x", "y"]),
        ([link("l", "a"), file("a/x")], "", ["a", "a/x", "l"]),
    ],
    ids=["two tops", "a file beside", "one file", "one top", "dot", "a link beside", "a link as a top"],
)
def test_a_single_top_folder_is_dropped(
    entries: list[Entry], root: str, paths: list[str], tmp_path: Path
) -> None:
    unpacked = unpack_bytes(tar(entries), tmp_path / "stage")
    assert unpacked.root == tmp_path / "stage" / root
    assert [entry.path for entry in unpacked.members] == paths


def test_names_sort_as_text_and_survive_as_they_are(tmp_path: Path) -> None:
    names = ["top/Ä", "top/a b", "top/a.b", "top/a", "top/-x", "top/文", "top/..x"]
    unpacked = unpack_bytes(tar([file(name) for name in names]), tmp_path / "stage")
    assert [f"top/{entry.path}" for entry in unpacked.members] == sorted(names)
    assert {f"top/{path.name}" for path in unpacked.root.iterdir()} == set(names)


@pytest.mark.parametrize("entries", [[], [folder("top")]], ids=["nothing", "only a folder"])
def test_an_archive_without_a_file_is_refused(entries: list[Entry], tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="holds no file"):
        unpack_bytes(tar(entries), tmp_path / "stage")


def test_a_destination_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(OSError, match="not empty") as caught:
        Tree(tmp_path, name=NAME)
    assert caught.value.errno == errno.ENOTEMPTY
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# Links


def test_a_library_chain_stays_a_chain(tmp_path: Path) -> None:
    """C45: three names, one file."""
    root = unpack_bytes(tar(SAMPLE), tmp_path / "stage").root
    sizes = [path.lstat().st_size for path in (root / "lib").iterdir() if not path.is_symlink()]
    assert sizes == [len(SAMPLE[2].data)]
    root.rename(tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere/lib/libx.so").read_bytes() == SAMPLE[2].data


@pytest.mark.parametrize(
    ("entries", "place"),
    [
        ([link("top/other/l", "../dir/target"), file("top/dir/target")], "other/l"),
        ([link("top/l", "d/up/f"), link("top/d/up", ".."), file("top/f")], "l"),
        ([link("top/l", "./d//f"), file("top/d/f")], "l"),
        ([link("top/d/l", "../../top/f"), file("top/f"), file("beside")], "top/d/l"),
        ([*(link(f"top/{n}", f"{n + 1}") for n in range(40)), file("top/40")], "0"),
    ],
    ids=["before its target (C47)", "through a link", "dots and slashes", "no top folder", "forty links"],
)
def test_a_link_inside_the_tree_is_kept(entries: list[Entry], place: str, tmp_path: Path) -> None:
    root = unpack_bytes(tar(entries), tmp_path / "stage").root
    assert (root / place).is_symlink()
    assert (root / place).read_bytes() == b"content"


@pytest.mark.parametrize("target", ["lib", "./lib", "lib/", "."])
def test_a_link_to_a_directory_is_kept(target: str, tmp_path: Path) -> None:
    unpacked = unpack_bytes(tar([file("top/lib/x"), link("top/lib64", target)]), tmp_path / "stage")
    assert unpacked.members[-1] == Member(path="lib64", kind="link", target=target)
    assert (unpacked.root / "lib64").resolve() == (unpacked.root / target).resolve()


def test_too_long_a_chain_is_refused(tmp_path: Path) -> None:
    chain = [link(f"top/{n}", f"{n + 1}") for n in range(41)]
    with pytest.raises(ArchiveError, match="'top/0' is a link that passes more than 40 links"):
        unpack_bytes(tar([*chain, file("top/41")]), tmp_path / "stage")


def test_too_long_a_walk_is_refused(tmp_path: Path) -> None:
    """Each of 3,000 links like these took 3 ms; an archive may have a million."""
    detour = "d/../" * 190
    walk = [link(f"top/{n}", f"{detour}{n + 1}") for n in range(3)]
    with pytest.raises(ArchiveError, match="'top/0' is a link that takes more than 1000 steps"):
        unpack_bytes(tar([folder("top/d"), *walk, file("top/3")]), tmp_path / "stage")
    unpacked = unpack_bytes(tar([folder("top/d"), *walk[1:], file("top/3")]), tmp_path / "other")
    assert (unpacked.root / "1").read_bytes() == b"content"


def test_a_hard_link_is_an_ordinary_file(tmp_path: Path) -> None:
    entries = [
        file("top/a", b"shared", 0o755),
        hard_link("top/d/b", "./top/a"),
        hard_link("top/c", "top/d/b"),
    ]
    unpacked = unpack_bytes(tar(entries), tmp_path / "stage")
    assert unpacked.members == (
        member("a", b"shared", executable=True),
        member("c", b"shared", executable=True),
        Member(path="d", kind="directory"),
        member("d/b", b"shared", executable=True),
    )
    assert (unpacked.root / "a").stat().st_nlink == 3


def no_privilege(*_: object, **__: object) -> None:
    error = OSError(errno.EINVAL, "A required privilege is not held by the client")
    error.winerror = 1314  # type: ignore[attr-defined, unused-ignore]
    raise error


def test_without_the_right_to_make_links_no_name_is_missing(tmp_path: Path) -> None:
    """C57: each link becomes its file; the list stays the archive's; one note says so."""
    unpacked = into(Tree(tmp_path, name=NAME, make_link=no_privilege), *SAMPLE).finish()
    for name in ("libx.so", "libx.so.9"):
        assert not (unpacked.root / "lib" / name).is_symlink()
        assert (unpacked.root / "lib" / name).read_bytes() == SAMPLE[2].data
    assert len(unpacked.notes) == 1
    assert unpacked.notes[0].startswith("2 symbolic links became hard links or copies")
    assert Member(path="lib/libx.so", kind="link", target="libx.so.9") in unpacked.members


def test_without_the_right_to_make_links_a_link_to_a_directory_fails(tmp_path: Path) -> None:
    tree = into(
        Tree(tmp_path, name=NAME, make_link=no_privilege), file("top/lib/x"), link("top/lib64", "lib")
    )
    with pytest.raises(OSError, match="privilege"):
        tree.finish()


def test_copies_instead_of_links_count_as_content(tmp_path: Path) -> None:
    options = UnpackOptions(max_bytes=len(b"content") + 3)
    tree = Tree(tmp_path, name=NAME, make_link=no_privilege, options=options)
    with pytest.raises(ArchiveError, match="'top/l' brings the content to 14 bytes"):
        into(tree, file("top/f"), link("top/l", "f")).finish()


# Case


COLLISIONS = {
    "files": ("top/README", "top/readme"),
    "directories": ("top/Lib/a", "top/lib/b"),
    "a file and a directory": ("top/lib", "top/LIB/b"),
    "normal forms": ("top/\u00e9", "top/e\u0301"),
    "sharp s": ("top/stra\u00dfe", "top/STRASSE"),
}


@pytest.mark.parametrize("names", COLLISIONS.values(), ids=COLLISIONS.keys())
def test_names_that_the_file_system_takes_for_one_are_refused_in_time(
    names: tuple[str, str], tmp_path: Path
) -> None:
    """C56: the second is refused before it is written."""
    tree = Tree(tmp_path, name=NAME, folds_case=True)
    with pytest.raises(ArchiveError, match="are one name on this file system"):
        into(tree, *(file(name) for name in names))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written == [tmp_path / names[0]]


@pytest.mark.parametrize("names", COLLISIONS.values(), ids=COLLISIONS.keys())
def test_names_that_differ_only_in_case_are_two_where_case_counts(
    names: tuple[str, str], tmp_path: Path
) -> None:
    unpacked = into(Tree(tmp_path, name=NAME, folds_case=False), *(file(name) for name in names)).finish()
    assert sum(entry.kind == "file" for entry in unpacked.members) == 2


def test_the_file_system_is_asked_whether_case_counts(tmp_path: Path) -> None:
    (tmp_path / "probe").touch()
    folds = (tmp_path / "PROBE").exists()
    stage = tmp_path / "stage"
    stage.mkdir()
    tree = Tree(stage, name=NAME)
    assert list(stage.iterdir()) == []
    if folds:
        with pytest.raises(ArchiveError):
            into(tree, file("a"), file("A"))
    else:
        assert len(into(tree, file("a"), file("A")).finish().members) == 2


# Windows' names


@pytest.mark.parametrize(
    "name", ["NUL", "con.txt", "lib/COM1", "Lpt9.h", "a:b", "x?", "trailing.", "blank ", "a./b"]
)
def test_names_that_windows_reserves_are_refused_there_only(name: str, tmp_path: Path) -> None:
    for windows in (False, True):
        (tmp_path / str(windows)).mkdir()
    into(Tree(tmp_path / "False", name=NAME, windows=False), file(f"top/{name}")).finish()
    with pytest.raises(ArchiveError, match="Windows reserves"):
        into(Tree(tmp_path / "True", name=NAME, windows=True), file(f"top/{name}"))


@pytest.mark.parametrize("name", ["console.h", "nulls", "lib/.hidden", "COM10", "a.con"])
def test_names_that_only_look_reserved_pass_on_windows(name: str, tmp_path: Path) -> None:
    assert into(Tree(tmp_path, name=NAME, windows=True), file(f"top/{name}")).finish().members


# Bounds


@pytest.mark.parametrize("kind", [Kind.TAR, Kind.ZIP])
def test_content_is_bounded(kind: Kind, tmp_path: Path) -> None:
    pack = zip_of if kind is Kind.ZIP else tar
    data = pack([file("top/a", bytes(600)), file("top/b", bytes(600))])
    unpack_bytes(data, tmp_path / "enough", kind, UnpackOptions(max_bytes=1200))
    with pytest.raises(ArchiveError, match="'top/b' brings the content to 1200 bytes: at most 1199"):
        unpack_bytes(data, tmp_path / "short", kind, UnpackOptions(max_bytes=1199))


def test_hard_links_count_as_content(tmp_path: Path) -> None:
    data = tar([file("top/a", bytes(600)), hard_link("top/b", "top/a")])
    with pytest.raises(ArchiveError, match="'top/b' brings the content to 1200 bytes"):
        unpack_bytes(data, tmp_path / "stage", options=UnpackOptions(max_bytes=1199))


def test_members_are_bounded_and_implied_directories_count(tmp_path: Path) -> None:
    data = tar([file("top/a/b/c")])
    unpack_bytes(data, tmp_path / "enough", options=UnpackOptions(max_members=4))
    with pytest.raises(ArchiveError, match="one member too many: at most 3"):
        unpack_bytes(data, tmp_path / "short", options=UnpackOptions(max_members=3))


# Permissions, owner and times


IN_A_CHILD = """
import os, sys, pathlib
from cudnn_redist.unpack import Kind, unpack
umask, user = int(sys.argv[1], 8), int(sys.argv[2])
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
stages = [pathlib.Path(archive + ".d") for archive in sys.argv[3:]]
for stage in stages:
    stage.mkdir()
os.umask(umask)
for archive, stage in zip(sys.argv[3:], stages):
    with open(archive, "rb") as raw:
        unpack(raw, stage, name=archive, kind=Kind.TAR)
"""


def unpack_in_a_child(directory: Path, *archives: str, umask: int = 0o022, user: int = 0) -> None:
    """Unpack files named relative to ``directory`` in a process with another umask, or user."""
    arguments = [sys.executable, "-c", IN_A_CHILD, oct(umask), str(user), *archives]
    subprocess.run(arguments, cwd=directory, check=True)


def modes(root: Path) -> dict[str, int]:
    return {
        str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode)
        for path in (root, *root.rglob("*"))
        if not path.is_symlink()
    }


ODD_MODES = (
    folder("top", 0o555),
    folder("top/sticky", 0o7777),
    file("top/plain", mode=0o444),
    file("top/none", mode=0),
    file("top/tool", mode=0o555),
    file("top/only-others-run", mode=0o401),
    file("top/setuid", mode=0o6755),
    file("top/wide", mode=0o666),
)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o777], ids=oct)
def test_permissions_follow_the_umask_and_the_owner_may_write(umask: int, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(tar(ODD_MODES))
    unpack_in_a_child(tmp_path, "a.tar", umask=umask)
    plain, tool = (0o666 & ~umask) | 0o600, (0o777 & ~umask) | 0o600
    directory = (0o777 & ~umask) | 0o700
    assert modes(tmp_path / "a.tar.d" / "top") == {
        ".": directory,
        "sticky": directory,
        "plain": plain,
        "none": plain,
        "tool": tool,
        "only-others-run": tool,
        "setuid": tool,
        "wide": plain,
    }


@pytest.mark.skipif(os.name == "nt", reason="owners are a matter of POSIX")
def test_read_only_files_can_be_replaced_and_removed_by_an_ordinary_user(tmp_path: Path) -> None:
    """C43, as nobody where the suite runs as root: two archives share a licence that nobody may write."""
    nobody = 65_534 if os.geteuid() == 0 else 0
    for name in ("a.tar", "b.tar"):
        (tmp_path / name).write_bytes(tar([folder("top", 0o555), *SAMPLE[1:]]))
    if nobody:
        os.chown(tmp_path, nobody, nobody)
    unpack_in_a_child(tmp_path, "a.tar", "b.tar", user=nobody)
    replace_and_remove = """
import os, shutil, sys
if user := int(sys.argv[1]):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
with open("a.tar.d/top/LICENSE", "a") as licence:
    licence.write("amended")
os.replace("b.tar.d/top/lib/libx.so.9.1", "a.tar.d/top/lib/libx.so.9.1")
shutil.rmtree("a.tar.d")
shutil.rmtree("b.tar.d")
"""
    subprocess.run([sys.executable, "-c", replace_and_remove, str(nobody)], cwd=tmp_path, check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"a.tar", "b.tar"}


def test_the_owner_of_the_archive_is_never_restored(tmp_path: Path) -> None:
    root = unpack_bytes(tar(SAMPLE), tmp_path / "stage").root
    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in (root, *root.rglob("*"))}
    assert {uid for uid, _ in owners} == {tmp_path.stat().st_uid}
    assert 31_999 not in {gid for _, gid in owners}


@pytest.mark.parametrize(
    ("mtime", "restored"),
    [(0.0, 0), (1.5, 1.5), (-1.0, 0), (1e18, 1 << 33), (float("nan"), 0), (float("-inf"), 0)],
    ids=str,
)
def test_a_time_that_no_file_has_stops_nothing(mtime: float, restored: float, tmp_path: Path) -> None:
    tree = Tree(tmp_path, name=NAME)
    tree.add_directory("d", mtime=mtime)
    with tree.add_file("d/f", mode=0o644, mtime=mtime, size=0):
        pass
    root = tree.finish().root
    assert (root / "f").stat().st_mtime == root.stat().st_mtime == pytest.approx(restored, abs=1e-6)
