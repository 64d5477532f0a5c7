from __future__ import annotations

import json
import os
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest
from doctor.fakes import GRAPH, LIBRARY
from installing import CHOSEN, IMPATIENT, everything, leftovers, options, planned
from redist.archives import pack
from redist.content import File, Link, default_content, version_header
from redist.libraries import elf_library, pe_library

from cudnn_redist import Prefix, adopt, errors, fetch, install
from cudnn_redist.layout import Layout
from cudnn_redist.locking.installed import lock_installed
from cudnn_redist.prefix.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist import RedistServer, RedistTree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="libraries of ELF, and links")

NAME = "cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
WHEEL = "nvidia_cudnn_cu13-9.27.0.42-py3-none-manylinux_2_27_x86_64.whl"
OPS, HEADER = "lib/libcudnn_ops.so.9", "include/cudnn_version.h"
FILES = {
    HEADER: version_header("9.27.0.42"),
    "include/cudnn.h": b"#pragma once\n",
    **{
        path: elf_library(soname=path.removeprefix("lib/"), runpath="$ORIGIN")
        for path in (LIBRARY, GRAPH, OPS)
    },
}
LINKS = {f"lib/{part}.so": f"{part}.so.9" for part in ("libcudnn", "libcudnn_graph", "libcudnn_ops")}


def directory(path: Path, files: Mapping[str, bytes] = FILES) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def wheel(
    path: Path, files: Mapping[str, bytes] = FILES, name: str = WHEEL, home: str = "nvidia/cudnn"
) -> Path:
    """Make a wheel as NVIDIA's are: no links, and an empty module in each folder."""
    path.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path / name, "w") as made:
        for folder in ("", "include/", "lib/"):
            made.writestr(f"{home}/{folder}__init__.py", b"")
        for inside, data in files.items():
            made.writestr(f"{home}/{inside}", data)
        information = f"{name.partition('-py3')[0]}.dist-info"
        made.writestr(f"{information}/licenses/License.txt", b"terms\n")
        made.writestr(f"{information}/RECORD", b"")
    return path / name


def archive(path: Path, files: Mapping[str, bytes] = FILES, name: str = NAME) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    held = {inside: File(data) for inside, data in files.items()} | {
        link: Link(target) for link, target in LINKS.items()
    }
    (path / name).write_bytes(pack("tar.xz", name.removesuffix(".tar.xz"), held))
    return path / name


def links_of(prefix: Prefix) -> dict[str, str]:
    return {path: target for path, (kind, target) in everything(prefix.path).items() if kind == "link"}


def codes(prefix: Prefix) -> list[str]:
    return [finding.code for finding in prefix.verify()]


# An archive that a manifest names.


def test_an_archive_of_a_release_becomes_what_a_fetch_of_it_is(
    redist_tree: RedistTree, tmp_path: Path
) -> None:
    path = redist_tree.archive_path("9.27.0", "cudnn", "linux-x86_64", "cuda13")
    adopted = adopt(path, sources=[str(redist_tree.path)], root=tmp_path / "adopted")
    fetched = fetch("9.27.0", **CHOSEN, sources=[str(redist_tree.path)], root=tmp_path / "fetched")
    assert adopted.record.unproven == ()
    assert everything(adopted.path) == everything(fetched.path)
    assert adopted.path == tmp_path / "adopted/cudnn/9.27.0/cudnn/linux-x86_64/cuda13"


def test_a_kept_manifest_proves_it_without_any_request(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    install(planned(redist_server.url, tmp_path / "root", cuda="12"))
    before = len(redist_server.log)
    damaged = Layout(tmp_path / "root").kept_manifests("cudnn") / "0" / "redistrib_9.27.0.json"
    damaged.parent.mkdir()
    damaged.write_text("{")
    path = redist_tree.archive_path("9.27.0", "cudnn", "linux-x86_64", "cuda13")
    prefix = adopt(path, root=tmp_path / "root")
    assert (prefix.record.unproven, prefix.record.variant) == ((), "cuda13")
    assert len(redist_server.log) == before


def test_a_file_of_another_content_is_refused(redist_tree: RedistTree, tmp_path: Path) -> None:
    right = redist_tree.archive_path("9.27.0", "cudnn", "linux-x86_64", "cuda13")
    wrong = archive(tmp_path / "here", name=right.name)
    with pytest.raises(errors.DigestMismatch) as caught:
        adopt(wrong, sources=[str(redist_tree.path)], root=tmp_path / "root")
    assert (caught.value.where, caught.value.expected != caught.value.actual) == (str(wrong), True)
    assert not (tmp_path / "root").exists()


def test_a_source_that_cannot_be_asked_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(errors.TransferError):
        adopt(
            archive(tmp_path),
            sources=["http://127.0.0.1:9/redist/"],
            root=tmp_path / "root",
            transfer=IMPATIENT,
        )


# What no manifest names.


def test_an_archive_that_nobody_names_says_so_in_its_record(tmp_path: Path) -> None:
    prefix = adopt(archive(tmp_path / "here"), root=tmp_path / "root")
    (sentence,) = prefix.record.unproven
    assert sentence == f"no manifest at hand names an archive with sha256 {prefix.record.archive_sha256}"
    assert prefix.record.levels == ("cudnn", "9.27.0", "cudnn", "linux-x86_64", "cuda13")
    assert (prefix.record.version, prefix.record.archive_path) == ("9.27.0.42", NAME)
    assert codes(prefix) == ["unproven"]
    assert leftovers(tmp_path) == []


def test_a_wheel_is_laid_out_as_an_archive_is(tmp_path: Path) -> None:
    prefix = adopt(wheel(tmp_path / "here"), root=tmp_path / "root")
    assert prefix.record.levels == ("cudnn", "9.27.0", "cudnn", "linux-x86_64", "cuda13")
    assert {path for path in everything(prefix.path) if path.endswith((".py", "RECORD"))} == set()
    assert (prefix.path / "LICENSE").read_bytes() == b"terms\n"
    assert links_of(prefix) == LINKS | {"lib64": "lib"}
    assert (prefix.path / "lib/cmake/cudnn/cudnn-config.cmake").is_file()
    assert codes(prefix) == ["unproven"]


def test_a_wheel_of_the_jit_library_is_told_by_what_it_has(tmp_path: Path) -> None:
    files = {path: data for path, data in FILES.items() if path != OPS}
    name = WHEEL.replace("cudnn_cu13", "cudnn_jit_cu13")
    prefix = adopt(wheel(tmp_path / "here", files, name, "nvidia/cudnn_jit"), root=tmp_path / "root")
    assert (prefix.record.component, prefix.record.is_main) == ("cudnn_jit", False)


def test_of_a_directory_only_what_is_of_cudnn_is_taken(tmp_path: Path) -> None:
    toolkit = directory(
        tmp_path / "cuda",
        FILES | {"bin/nvcc": b"#!/bin/sh\n", "lib/libcublas.so.13": b"", "LICENSE": b"terms\n"},
    )
    prefix = adopt(toolkit, cuda="13", root=tmp_path / "root")
    held = {path for path, (kind, _) in everything(prefix.path).items() if kind.startswith("file")}
    assert {path for path in held if "cmake" not in path and "pkgconfig" not in path} == {
        *FILES,
        "LICENSE",
        ".cudnn-redist.json",
    }
    assert links_of(prefix) == LINKS | {"lib64": "lib"}
    assert prefix.record.unproven == (
        "a directory has no digest that a manifest could name",
        "that it is for cuda13 is only what was said",
    )
    assert codes(prefix) == ["unproven", "unproven"]


def test_the_name_of_an_unpacked_archive_tells_its_version_and_cuda(tmp_path: Path) -> None:
    prefix = adopt(directory(tmp_path / NAME.removesuffix(".tar.xz")), root=tmp_path / "root")
    assert (prefix.record.version, prefix.record.variant) == ("9.27.0.42", "cuda13")
    assert prefix.record.unproven == ("a directory has no digest that a manifest could name",)


def test_a_directory_stays_as_it_was(tmp_path: Path) -> None:
    before = everything(directory(tmp_path / "here"))
    adopt(tmp_path / "here", cuda="13", root=tmp_path / "root")
    assert everything(tmp_path / "here") == before


def test_a_release_before_9_has_a_label_of_four_numbers(tmp_path: Path) -> None:
    files = {
        HEADER: version_header("8.9.7.29"),
        "lib/libcudnn.so.8": elf_library(soname="libcudnn.so.8"),
    }
    prefix = adopt(directory(tmp_path / "here", files), label="8.9.7.29", cuda="12", root=tmp_path / "root")
    assert (prefix.record.label, prefix.record.version) == ("8.9.7.29", "8.9.7.29")


def test_an_unpacked_archive_with_all_its_links_is_taken_as_it_is(tmp_path: Path) -> None:
    for name, entry in default_content("cudnn", "linux-x86_64", "9.27.0.42", "cuda13").items():
        path = tmp_path / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, Link):
            path.symlink_to(entry.target)
        elif isinstance(entry, File):
            path.write_bytes(entry.data)
    prefix = adopt(tmp_path / "here", cuda="13", root=tmp_path / "root")
    assert [entry.path for entry in prefix.record.generated if entry.kind == "link"] == ["lib64"]
    assert set(codes(prefix)) == {"unproven"}


# What stands there already, and what comes after.


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    first = adopt(wheel(tmp_path / "here"), root=tmp_path / "root")
    before = first.path.stat().st_ino
    assert adopt(wheel(tmp_path / "here"), root=tmp_path / "root") == first
    assert first.path.stat().st_ino == before


def test_another_one_is_replaced_only_by_force(tmp_path: Path) -> None:
    first = adopt(wheel(tmp_path / "here"), root=tmp_path / "root")
    other = directory(tmp_path / "other", FILES | {"include/cudnn_ops.h": b""})
    with pytest.raises(errors.PrefixError, match="--force"):
        adopt(other, cuda="13", root=tmp_path / "root")
    assert Prefix.open(first.path) == first
    prefix = adopt(other, cuda="13", root=tmp_path / "root", force=True)
    assert (prefix.path, (prefix.path / "include/cudnn_ops.h").exists()) == (first.path, True)
    assert leftovers(tmp_path) == []


def test_a_fetch_by_force_puts_the_proven_one_in_its_place(redist_tree: RedistTree, tmp_path: Path) -> None:
    adopted = adopt(wheel(tmp_path / "here"), root=tmp_path / "root")
    plan = planned(redist_tree.path, tmp_path / "root")
    (prefix,) = install(plan, options=options(force=True))
    assert (prefix.path, prefix.record.unproven) == (adopted.path, ())


def test_no_lock_is_made_of_what_nobody_vouches_for(tmp_path: Path) -> None:
    adopt(wheel(tmp_path / "here"), root=tmp_path / "root")
    with pytest.raises(errors.NotInstalled):
        lock_installed(Layout(tmp_path / "root"))


def test_a_record_of_what_was_fetched_has_no_word_of_it(redist_tree: RedistTree, tmp_path: Path) -> None:
    prefix = fetch("9.27.0", **CHOSEN, sources=[str(redist_tree.path)], root=tmp_path / "root")
    data = (prefix.path / ".cudnn-redist.json").read_bytes()
    assert "unproven" not in json.loads(data)
    assert Record.parse(data, origin="here").unproven == ()


# What is refused.


def without(*paths: str) -> dict[str, bytes]:
    return {path: data for path, data in FILES.items() if path not in paths}


ARM = {path: elf_library("linux-sbsa", soname=path.removeprefix("lib/")) for path in (LIBRARY, GRAPH, OPS)}


def of_release(version: str, path: str) -> dict[str, bytes]:
    """Return a part that has its release among its constants, as NVIDIA's have."""
    major, minor, patch = version.split(".")
    check = f"cudnn_version != ({major} * 10000 + {minor} * 100 + {patch})"
    return {path: elf_library(soname=path.removeprefix("lib/"), runpath="$ORIGIN", named=[check])}


REFUSED: dict[str, tuple[dict[str, bytes], dict[str, str], type[errors.RedistError], str]] = {
    "no CUDA": (FILES, {}, errors.UsageError, "say it with --cuda"),
    "no version": (without(HEADER), {"cuda": "13"}, errors.UsageError, "say it with --as"),
    "no platform": (FILES | ARM, {"cuda": "13"}, errors.UsageError, "say it with --platform"),
    "two platforms": (FILES | {OPS: ARM[OPS]}, {"cuda": "13"}, errors.ArchiveError, "its libraries are for"),
    "two formats": (
        FILES | {"bin/cudnn64_9.dll": pe_library()},
        {"cuda": "13"},
        errors.ArchiveError,
        "its libraries are for",
    ),
    "another platform said": (
        FILES,
        {"cuda": "13", "platform": "linux-sbsa"},
        errors.UsageError,
        "is for linux-x86_64, not for linux-sbsa",
    ),
    "another component said": (
        FILES,
        {"cuda": "13", "component": "cudnn_jit"},
        errors.UsageError,
        "its component is cudnn, and not cudnn_jit",
    ),
    "another version said": (
        FILES,
        {"cuda": "13", "label": "9.26.0"},
        errors.UsageError,
        "its version is 9.27.0, and not 9.26.0",
    ),
    "libraries of two releases": (
        FILES | of_release("9.27.0", OPS) | of_release("9.20.0", GRAPH),
        {"cuda": "13"},
        errors.ArchiveError,
        "its libraries are of 9.20.0 and 9.27.0, which do not work together",
    ),
    "headers of another release": (
        FILES | of_release("9.20.0", OPS),
        {"cuda": "13"},
        errors.ArchiveError,
        "its headers say 9.27.0, and its libraries are of 9.20.0",
    ),
    "another version said than the libraries have": (
        without(HEADER) | of_release("9.20.0", GRAPH),
        {"cuda": "13", "label": "9.27.0"},
        errors.UsageError,
        "its version is 9.20.0, and not 9.27.0",
    ),
    "half a version said": (FILES, {"cuda": "13", "label": "9.27"}, errors.UsageError, "no full version"),
    "no CUDA at all said": (FILES, {"cuda": "thirteen"}, errors.UsageError, "not a CUDA version"),
    "headers alone": (
        {HEADER: FILES[HEADER]},
        {"cuda": "13"},
        errors.ArchiveError,
        "holds no library of cuDNN",
    ),
    "nothing of cuDNN": ({"bin/nvcc": b""}, {"cuda": "13"}, errors.ArchiveError, "has nothing of cuDNN"),
    "a text for a library": (
        FILES | {LIBRARY: b"404 page not found\n" * 9},
        {"cuda": "13"},
        errors.ArchiveError,
        "is no library",
    ),
}


@pytest.mark.parametrize(("files", "said", "kind", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_in_doubt_is_refused_and_nothing_left(
    tmp_path: Path, files: dict[str, bytes], said: dict[str, str], kind: type[errors.RedistError], words: str
) -> None:
    here = directory(tmp_path / "here", files)
    with pytest.raises(kind) as caught:
        adopt(here, root=tmp_path / "root", **said)
    assert words in caught.value.cause
    assert everything(tmp_path / "root") == {}


NAMES = {
    "another version": (
        NAME.replace("9.27.0.42", "9.26.0.1"),
        "is named as 9.26.0.1, and what it holds is 9.27.0",
    ),
    "another platform": (NAME.replace("x86_64", "sbsa"), "is named for linux-sbsa"),
    "another component": (NAME.replace("cudnn-", "cudnn_jit-"), "is named as cudnn_jit, and holds cudnn"),
}


@pytest.mark.parametrize(("name", "words"), NAMES.values(), ids=NAMES)
def test_an_archive_that_is_not_what_its_name_says_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(errors.ArchiveError) as caught:
        adopt(archive(tmp_path / "here", name=name), root=tmp_path / "root")
    assert words in caught.value.cause


def test_what_cannot_even_be_looked_for_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(errors.PrefixError) as caught:
        adopt(tmp_path / ("a" * 5000), root=tmp_path / "root")
    assert caught.value.phase == "adopt"


def test_without_headers_the_libraries_tell_the_version(tmp_path: Path) -> None:
    here = directory(tmp_path / "here", without(HEADER) | of_release("9.27.0", GRAPH))
    prefix = adopt(here, cuda="13", root=tmp_path / "root")
    assert prefix.record.version == "9.27.0"
    assert [each for each in prefix.record.unproven if "version" in each] == []


def test_a_damaged_archive_is_refused_and_nothing_left(tmp_path: Path) -> None:
    path = archive(tmp_path / "here")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(errors.ArchiveError):
        adopt(path, root=tmp_path / "root")
    assert everything(tmp_path / "root") == {}


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    here = directory(tmp_path / "here", without(OPS))
    (tmp_path / "elsewhere").write_bytes(FILES[OPS])
    (here / OPS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.ArchiveError, match="leads"):
        adopt(here, cuda="13", root=tmp_path / "root")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    here = directory(tmp_path / "here")
    os.mkfifo(here / "lib/libcudnn_cnn.so.9")
    with pytest.raises(errors.ArchiveError, match="neither a file nor a link"):
        adopt(here, cuda="13", root=tmp_path / "root")


def test_a_prefix_is_one_already(tmp_path: Path) -> None:
    prefix = adopt(wheel(tmp_path / "here"), root=tmp_path / "root")
    shutil.copytree(prefix.path, tmp_path / "copy", symlinks=True)
    for path in (prefix.path, tmp_path / "copy"):
        with pytest.raises(errors.UsageError, match="already"):
            adopt(path, root=tmp_path / "other")


def test_nothing_of_the_name_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError, match="nothing of this name"):
        adopt(tmp_path / "none", root=tmp_path / "root")
