from __future__ import annotations

import contextlib
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redist.libraries import elf_library, pe_library

from cudnn_redist.binaries import Binary, NotABinary, read_binary

if TYPE_CHECKING:
    from pathlib import Path

LIBC = "libc.so.6"
ELF = elf_library(
    soname="libcudnn.so.9",
    needed=(LIBC, "libm.so.6"),
    named=("libcudnn_ops.so.9", "libcudnn_engines_tensor_ir.so", "libcudnn.so.8.9", "libcublas.so.12"),
    rpath="$ORIGIN",
    glibc=("GLIBC_2.17", "GLIBC_2.27"),
)
PE = pe_library(imports=("KERNEL32.dll", "zlibwapi.dll"), named=("cudnn_ops64_9.dll", "cudnn64_9.dll"))


def read(path: Path, data: bytes) -> Binary:
    path.write_bytes(data)
    return read_binary(path)


def test_elf(tmp_path: Path) -> None:
    """A name that goes on after its number is another file's; only cuDNN's names are told."""
    assert read(tmp_path / "a", ELF) == Binary(
        format="elf",
        machine="x86_64",
        soname="libcudnn.so.9",
        needed=(LIBC, "libm.so.6"),
        named=("libcudnn_engines_tensor_ir.so", "libcudnn_ops.so.9"),
        rpath="$ORIGIN",
        symbol_versions=((LIBC, "GLIBC_2.17"), (LIBC, "GLIBC_2.27")),
    )


def test_pe(tmp_path: Path) -> None:
    assert read(tmp_path / "a", PE) == Binary(
        format="pe",
        machine="x86_64",
        needed=("KERNEL32.dll", "zlibwapi.dll"),
        named=("cudnn64_9.dll", "cudnn_ops64_9.dll"),
    )


@pytest.mark.parametrize(
    ("data", "machine"),
    [
        pytest.param(elf_library("linux-sbsa"), "aarch64", id="sbsa"),
        pytest.param(elf_library("linux-ppc64le"), "ppc64le", id="ppc64le"),
        pytest.param(pe_library("windows-arm64"), "aarch64", id="windows-arm64"),
    ],
)
def test_one_spelling_of_a_machine_for_both_formats(data: bytes, machine: str, tmp_path: Path) -> None:
    assert read(tmp_path / "a", data).machine == machine


def test_rpath_and_runpath_are_told_apart(tmp_path: Path) -> None:
    found = read(tmp_path / "a", elf_library(rpath="/first", runpath="/later"))
    assert (found.rpath, found.runpath) == ("/first", "/later")


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        pytest.param(b"", "an empty file", id="empty"),
        pytest.param(b"#!/bin/sh\n", "neither ELF nor PE", id="text"),
        pytest.param(b"\x7fELF\x01\x01" + bytes(100), "not 64-bit little-endian", id="32-bit"),
        pytest.param(ELF[:40], "ends early", id="header-cut"),
        pytest.param(ELF[:200], "ELF file", id="cut"),
        pytest.param(ELF[:16] + b"\x02" + ELF[17:], "no shared library", id="program"),
        pytest.param(b"MZ" + bytes(200), "a DOS program", id="dos"),
        pytest.param(PE[:80], "ends early", id="pe-cut"),
    ],
)
def test_what_is_no_library_is_said_to_be_none(data: bytes, cause: str, tmp_path: Path) -> None:
    with pytest.raises(NotABinary, match=cause):
        read(tmp_path / "a", data)


@settings(deadline=None)
@given(
    whole=st.sampled_from((ELF, PE)),
    places=st.dictionaries(st.integers(0, 500), st.integers(0, 255), max_size=8),
)
def test_a_damaged_library_is_read_or_refused(
    whole: bytes, places: dict[int, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(whole)
    for place, value in places.items():
        data[place % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "damaged"
    with contextlib.suppress(NotABinary):
        assert read(path, bytes(data)).format in ("elf", "pe")


def test_readelf_says_the_same_of_a_library_of_this_machine(tmp_path: Path) -> None:
    source, library = tmp_path / "a.c", tmp_path / "liba.so"
    source.write_text('#include <stdio.h>\nint a(void) { return puts("libcudnn_cnn.so.9"); }\n')
    flags = ("-shared", "-fPIC", "-Wl,-soname,liba.so.1", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/b", "-lm")
    subprocess.run(["gcc", *flags, "-Wl,--no-as-needed", "-o", library, source], check=True)
    told = subprocess.run(["readelf", "-dV", library], capture_output=True, text=True, check=True).stdout
    found = read_binary(library)
    assert list(found.needed) == re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    assert (found.soname, found.runpath) == ("liba.so.1", "$ORIGIN/b")
    assert [version for _, version in found.symbol_versions] == re.findall(r"Name: (GLIBC\S+)", told)
    assert found.named == ("libcudnn_cnn.so.9",)
