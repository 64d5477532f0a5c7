from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from prefix.made import entries as entries_of
from prefix.made import fill, record
from redist.libraries import elf_library, pe_library

from cudnn_redist.prefix.libraries import examine

if TYPE_CHECKING:
    from pathlib import Path

MAIN, GRAPH = "lib/libcudnn.so.9.27.0", "lib/libcudnn_graph.so.9.27.0"
LINKS = {"lib/libcudnn.so.9": "libcudnn.so.9.27.0", "lib/libcudnn_graph.so.9": "libcudnn_graph.so.9.27.0"}


def main(**facts: object) -> bytes:
    return elf_library(soname="libcudnn.so.9", **facts)  # type: ignore[arg-type]


def graph(**facts: object) -> bytes:
    return elf_library(soname="libcudnn_graph.so.9", **facts)  # type: ignore[arg-type]


def built_as(*release: int) -> bytes:
    """Return what 9 prints where its parts do not fit together, which is among its constants."""
    return b"cudnn_version != (%d * 10000 + %d * 100 + %d)\0" % release


def told(root: Path, files: dict[str, bytes], **choice: object) -> list[str]:
    platform, glibc = choice.get("platform", "linux-x86_64"), choice.get("glibc")
    links = LINKS if MAIN in files else {}
    kept = record(entries=entries_of(files, links), platform=platform)
    found = examine(fill(root, files, links), kept, glibc=glibc)  # type: ignore[arg-type]
    return [str(finding) for finding in found]


HEALTHY = {
    "elf": {MAIN: main(named=("libcudnn_graph.so",)), GRAPH: graph(needed=("libc.so.6",))},
    "named with its number": {MAIN: main(named=("libcudnn_graph.so.9",)), GRAPH: graph()},
    "needed": {MAIN: main(needed=("libcudnn_graph.so.9", "libcublas.so.13")), GRAPH: graph()},
    "of the release in the record": {
        "lib/libcudnn_ops.so.9": elf_library(soname="libcudnn_ops.so.9", payload=built_as(9, 27, 0))
    },
    # By its name, of which the comparison of versions tells.
    "of another release by its name": {"lib/libcudnn_ops.so.9.26.0": elf_library(payload=built_as(9, 26, 0))},
    "another product": {"lib/plugin.so": elf_library("linux-sbsa", soname="libplugin.so.1")},
    "no library": {"lib/libcudnn_static_v9.a": b"!<arch>\n", "lib/libcudnn.so.txt": b"text"},
}


@pytest.mark.parametrize("files", HEALTHY.values(), ids=HEALTHY)
def test_of_a_whole_set_there_is_nothing_to_say(files: dict[str, bytes], tmp_path: Path) -> None:
    assert told(tmp_path, files) == []


def test_of_dlls_there_is_nothing_to_say(tmp_path: Path) -> None:
    files = {"bin/x64/cudnn64_9.dll": pe_library(named=("cudnn_ops64_9.dll",))}
    missing = "named-not-shipped: bin/x64/cudnn64_9.dll: names cudnn_ops64_9.dll"
    assert told(tmp_path / "a", files, platform="windows-x86_64") == [missing]
    files["bin/x64/cudnn_ops64_9.dll"] = pe_library(imports=("cudnn64_9.dll",))
    assert told(tmp_path / "b", files, platform="windows-x86_64") == []


def test_a_dll_of_another_release_is_told(tmp_path: Path) -> None:
    files = {"bin/x64/cudnn64_9.dll": pe_library(payload=built_as(9, 26, 1))}
    found = "version-differs: bin/x64/cudnn64_9.dll: was built as 9.26.1, recorded as 9.27.0.42"
    assert told(tmp_path, files, platform="windows-x86_64") == [found]


UNFIT = {
    "a text": ({MAIN: b"404 page", GRAPH: graph()}, f"library-damaged: {MAIN}: neither ELF nor PE"),
    "cut short": (
        {MAIN: main()[:40], GRAPH: graph()},
        f"library-damaged: {MAIN}: an ELF file that ends early",
    ),
    "empty": ({MAIN: b"", GRAPH: graph()}, f"library-damaged: {MAIN}: an empty file"),
    "another machine": (
        {MAIN: main(), GRAPH: elf_library("linux-sbsa", soname="libcudnn_graph.so.9")},
        f"machine-differs: {GRAPH}: made for aarch64, not for linux-x86_64",
    ),
    "another system": (
        {MAIN: pe_library("windows-arm64"), GRAPH: graph()},
        f"machine-differs: {MAIN}: made for aarch64, not for linux-x86_64",
    ),
    "no name to be found by": (
        {MAIN: elf_library(soname="libcudnn.so.10"), GRAPH: graph()},
        f"soname-missing: {MAIN}: calls itself libcudnn.so.10",
    ),
    "another release under a wheel's name": (
        {"lib/libcudnn_ops.so.9": elf_library(soname="libcudnn_ops.so.9", payload=built_as(9, 26, 1))},
        "version-differs: lib/libcudnn_ops.so.9: was built as 9.26.1, recorded as 9.27.0.42",
    ),
    "one not shipped": (
        {MAIN: main(), GRAPH: graph(named=("libcudnn_engines_tensor_ir.so",))},
        f"named-not-shipped: {GRAPH}: names libcudnn_engines_tensor_ir.so",
    ),
    "several not shipped, once each": (
        {
            MAIN: main(named=("libcudnn_ops.so", "libcudnn_adv.so.9")),
            GRAPH: graph(needed=("libcudnn_ops.so",)),
        },
        f"named-not-shipped: {MAIN}: names libcudnn_adv.so.9, libcudnn_ops.so",
    ),
}


@pytest.mark.parametrize(("files", "found"), UNFIT.values(), ids=UNFIT)
def test_what_does_not_fit_is_told(files: dict[str, bytes], found: str, tmp_path: Path) -> None:
    (finding,) = told(tmp_path, files)
    assert finding.startswith(found)


def test_a_c_library_that_is_too_old_is_told(tmp_path: Path) -> None:
    files = {MAIN: main(glibc=("GLIBC_2.9", "GLIBC_2.27", "GLIBC_PRIVATE")), GRAPH: graph()}
    assert told(tmp_path / "a", files, glibc=(2, 27)) == []
    assert told(tmp_path / "b", files, glibc=None) == []
    assert told(tmp_path / "c", files, glibc=(2, 17)) == [
        f"glibc-too-old: {MAIN}: needs glibc 2.27, this machine has 2.17"
    ]


@pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")
def test_what_is_no_file_any_more_is_passed_over(tmp_path: Path) -> None:
    """A pipe would be waited for; the comparison with the record tells of all of them."""
    files = {MAIN: main(), GRAPH: graph(), "lib/libcudnn_ops.so.9.27.0": elf_library()}
    kept = record(entries=entries_of(files, LINKS))
    fill(tmp_path, files, LINKS)
    for path in files:
        (tmp_path / path).unlink()
    os.mkfifo(tmp_path / MAIN)
    (tmp_path / GRAPH).symlink_to("/dev/zero")
    assert list(examine(tmp_path, kept)) == []
