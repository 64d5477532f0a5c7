"""Cases of the kind "archive": what archives hold, and what of it may be written where."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL
from cases.hosts import host_that
from cli.ground import CHOICE, PREFIX, leftovers, partials
from installing import everything
from prefix.ordinary import run_as_ordinary_user
from redist import File, Link
from redist.command import Completed
from redist.libraries import elf_library
from unpack import building

from cudnn_redist import Prefix

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cases.ground import Fetch
    from redist import RedistTree
    from redist.content import Entry

WINDOWS = ("--platform", "windows-x86_64")
HEADER = {"include/cudnn.h": File(b"#pragma once\n")}
LIBRARY = elf_library()


def hold(tree: RedistTree, *entries: building.Entry) -> None:
    """Let the archive that is asked for hold these members, and the manifest promise it."""
    members = (building.file("top/include/cudnn.h"), *entries)
    tree.replace_archive(
        building.compressed(building.Kind.XZ, building.tar(members)), LABEL, update_manifest=True
    )


def hold_zip(tree: RedistTree, data: bytes) -> None:
    tree.replace_archive(data, LABEL, platform="windows-x86_64", update_manifest=True)


def read_only_content(
    component: str, platform: str, version: str, variant: str | None
) -> Mapping[str, Entry]:
    """Two archives of it share LICENSE, and nobody may write what is in them."""
    library = f"lib/libcudnn.so.{version.rpartition('.')[0]}"
    body = elf_library(payload=f"{component} {platform} {variant}".encode())
    return {"LICENSE": File(b"as is", 0o444), library: File(body, 0o555), **HEADER}


def as_ordinary_user(*words: str | Path) -> Completed:
    done = run_as_ordinary_user("-m", "cudnn_redist", *words)
    return Completed(code=done.returncode, out=done.stdout, err=done.stderr, seconds=0)


def test_C43_read_only_files_are_replaced_upgraded_and_removed_by_an_ordinary_user(
    redist_tree: RedistTree, root: Path, tmp_path: Path
) -> None:
    redist_tree.add_release("9.26.0", content=read_only_content)
    redist_tree.add_release("9.27.0", content=read_only_content)
    dest = tmp_path / "cudnn"
    words = (*CHOICE, "--root", root, "--source", redist_tree.path)
    into_dest = (("9.26.0",), ("9.27.0",), ("9.27.0", "--force"))
    for label, *force in into_dest:
        done = as_ordinary_user("fetch", label, *words, "--dest", dest, *force)
        assert (done.code, done.out) == (0, f"{dest}\n"), done.err
        assert Prefix.open(dest).record.label == label
        assert Prefix.open(dest).verify() == ()
    modes = {path.name: path.stat().st_mode for path in dest.rglob("*") if path.is_file()}
    assert {name: bool(mode & stat.S_IWUSR) for name, mode in modes.items()} == dict.fromkeys(modes, True)
    assert modes["LICENSE"] & 0o111 == 0
    assert modes["libcudnn.so.9.27.0"] & 0o111 != 0

    done = as_ordinary_user("remove", dest, "--root", root)
    assert (done.code, done.out, dest.exists()) == (0, f"{dest}\n", False), done.err
    assert leftovers(tmp_path) == []


def test_C45_a_librarys_names_are_links_and_take_the_room_of_one(
    fetch: Fetch, redist_tree: RedistTree, tmp_path: Path
) -> None:
    chain = {
        "lib/libcudnn.so": Link("libcudnn.so.9"),
        "lib/libcudnn.so.9": Link("libcudnn.so.9.27.0"),
        "lib/libcudnn.so.9.27.0": File(LIBRARY, 0o755),
    }
    redist_tree.add_release(LABEL, content=lambda *_: {**HEADER, **chain})
    for words in ((), ("--force",), ("--dest", tmp_path / "dest")):
        prefix = fetch.installed(LABEL, *words)
        names = list((prefix.path / "lib").glob("libcudnn*"))
        assert {path.name: str(path.readlink()) for path in names if path.is_symlink()} == {
            "libcudnn.so": "libcudnn.so.9",
            "libcudnn.so.9": "libcudnn.so.9.27.0",
        }
        assert sum(path.lstat().st_size for path in names if not path.is_symlink()) == len(LIBRARY)
        assert {path.read_bytes() for path in names} == {LIBRARY}


@pytest.mark.parametrize("kind", ["tar.xz", "zip"])
def test_C47_links_inside_the_tree_are_kept_wherever_their_target_stands(
    fetch_local: Fetch, redist_tree: RedistTree, kind: str
) -> None:
    content = {
        "other/l": Link("../dir/target"),
        "other/through": Link("../other/l"),
        "other/up": Link("./../other/../dir"),
        **HEADER,
        "dir/target": File(b"found"),
    }
    redist_tree.add_release(LABEL, content=lambda *_: content, kind=kind)
    prefix = fetch_local.installed(env={"PYTHONWARNINGS": "error"})
    # Path.readlink would tidy them up.
    found = {name: os.readlink(prefix.path / "other" / name) for name in ("l", "through", "up")}  # noqa: PTH115
    assert found == {"l": "../dir/target", "through": "../other/l", "up": "./../other/../dir"}
    assert (prefix.path / "other/through").read_bytes() == b"found"
    assert (prefix.path / "other/up/target").read_bytes() == b"found"


@pytest.mark.parametrize("standing", [False, True], ids=["nothing there", "over a prefix"])
@pytest.mark.parametrize("target", ["/usr/lib/x", "/"], ids=["file", "root"])
def test_C48_an_absolute_link_is_refused_by_our_own_policy(
    fetch: Fetch, redist_tree: RedistTree, target: str, *, standing: bool
) -> None:
    before = fetch.installed().record if standing else None
    hold(redist_tree, building.link("top/l", target), building.file("top/lib/x"))
    told = fetch.refused(6, LABEL, *["--force"] * standing, env={"PYTHONWARNINGS": "error"})
    assert told.startswith("unpack: ")
    assert f"'top/l' is a link to '{target}', which is absolute" in told
    assert (Prefix.open(fetch.root / PREFIX).record if standing else None) == before


def windows_zip(*more: building.Entry) -> bytes:
    """A tool that is executable, a link, and whatever a test adds."""
    return building.zip_of(
        (
            building.file("top/bin/tool", b"#!/bin/sh\n", 0o755),
            building.file("top/LICENSE", b"as is", 0o444),
            building.link("top/bin/link", "tool"),
            *more,
        )
    )


def test_C54_a_zip_keeps_its_execute_bits_and_its_links(fetch: Fetch, redist_tree: RedistTree) -> None:
    hold_zip(redist_tree, windows_zip())
    prefix = fetch.installed(LABEL, *WINDOWS)
    assert os.access(prefix.path / "bin/tool", os.X_OK)
    assert (prefix.path / "LICENSE").stat().st_mode & 0o333 == 0o200
    assert str((prefix.path / "bin/link").readlink()) == "tool"


def test_C54_a_zip_made_on_windows_gets_sane_modes(fetch: Fetch, redist_tree: RedistTree) -> None:
    """There its members have no mode at all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        member = zipfile.ZipInfo("top/bin/x.dll")
        member.create_system, member.external_attr = 0, 0x20
        archive.writestr(member, b"MZ")
    hold_zip(redist_tree, buffer.getvalue())
    prefix = fetch.installed(LABEL, *WINDOWS)
    assert stat.S_IMODE((prefix.path / "bin/x.dll").stat().st_mode) & 0o700 == 0o600


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("top\\bin\\x.dll", "holds a backslash"),
        ("../evil", "climbs with '..'"),
        ("top/../../evil", "climbs with '..'"),
        ("C:/x", "begins with a drive letter"),
        ("c:x", "begins with a drive letter"),
        ("/evil", "is absolute"),
    ],
)
def test_C54_a_zip_name_that_leaves_the_tree_or_means_two_things_is_refused(
    fetch: Fetch, redist_tree: RedistTree, tmp_path: Path, name: str, fault: str
) -> None:
    hold_zip(redist_tree, windows_zip(building.file(name)))
    outside = everything(tmp_path)
    told = fetch.refused(6, LABEL, *WINDOWS)
    assert f": {name!r} {fault}; nothing of it is kept" in told
    assert {
        path: what for path, what in everything(tmp_path).items() if not path.startswith("root")
    } == outside


# Windows and macOS find a file by any spelling of its name.
FOLDS_CASE = """
import os
real = os.stat
def stat(path, *words, **options):
    try:
        return real(path, *words, **options)
    except FileNotFoundError:
        folder, name = os.path.split(os.fspath(path))
        for each in os.listdir(folder or "."):
            if each.casefold() == name.casefold():
                return real(os.path.join(folder, each), *words, **options)
        raise
os.stat = stat
"""

COLLISIONS = pytest.mark.parametrize(
    "names",
    [("README", "readme"), ("Lib/a", "lib/b"), ("caf\u00e9", "cafe\u0301")],
    ids=["files", "directories", "normal forms"],
)


@COLLISIONS
def test_C56_names_that_a_case_folding_disk_takes_for_one_are_refused(
    fetch: Fetch, redist_tree: RedistTree, tmp_path: Path, names: tuple[str, str]
) -> None:
    hold(redist_tree, *(building.file(f"top/{name}") for name in names))
    told = fetch.refused(6, env=host_that(tmp_path / "host", FOLDS_CASE))
    assert "are one name on this file system, which folds case" in told


@COLLISIONS
def test_C56_a_disk_that_tells_them_apart_gets_both(
    fetch: Fetch, redist_tree: RedistTree, names: tuple[str, str]
) -> None:
    first, second = names
    hold(redist_tree, building.file(f"top/{first}", b"first"), building.file(f"top/{second}", b"second"))
    prefix = fetch.installed()
    assert [(prefix.path / name).read_bytes() for name in names] == [b"first", b"second"]


# What Windows says to an account that lacks SeCreateSymbolicLinkPrivilege.
NO_SYMLINKS = """
import os
def symlink(source, target, target_is_directory=False, *, dir_fd=None):
    error = OSError(22, "A required privilege is not held by the client", os.fspath(target))
    error.winerror = 1314
    raise error
os.symlink = symlink
"""


def test_C57_without_the_right_to_make_links_every_name_is_there_and_one_line_says_how(
    fetch: Fetch, redist_tree: RedistTree, tmp_path: Path
) -> None:
    chain = (
        building.link("top/lib/libcudnn.so", "libcudnn.so.9"),
        building.link("top/lib/libcudnn.so.9", "libcudnn.so.9.27"),
        building.link("top/lib/libcudnn.so.9.27", "libcudnn.so.9.27.0"),
        building.file("top/lib/libcudnn.so.9.27.0", LIBRARY, 0o755),
    )
    hold(redist_tree, *chain)
    done = fetch(env=host_that(tmp_path / "host", NO_SYMLINKS))
    assert done.code == 0, done.err
    prefix = Prefix.open(fetch.root / PREFIX)
    found = {path.name: path.read_bytes() for path in (prefix.path / "lib").glob("libcudnn*")}
    assert found == dict.fromkeys(
        ("libcudnn.so", "libcudnn.so.9", "libcudnn.so.9.27", "libcudnn.so.9.27.0"), LIBRARY
    )
    told = [line for line in done.err.splitlines() if "link" in line]
    assert told == [
        f"{prefix.path}: 3 symbolic links became hard links or copies: this account may not make links"
    ]
    assert (leftovers(fetch.root), partials(fetch.root)) == ([], [])


def test_C57_a_link_that_no_copy_can_stand_for_is_refused(
    fetch: Fetch, redist_tree: RedistTree, tmp_path: Path
) -> None:
    hold(redist_tree, building.file("top/lib/x"), building.link("top/lib/here", "../lib"))
    told = fetch.refused(7, env=host_that(tmp_path / "host", NO_SYMLINKS))
    assert "privilege" in told
