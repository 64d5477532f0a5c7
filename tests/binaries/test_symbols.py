"""What libraries say of their release, and of what they give and want."""

from __future__ import annotations

import contextlib
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest
from redist.libraries import elf_library, pe_library

from cudnn_redist.binaries import NotABinary, Symbols, read_binary, read_symbols

if TYPE_CHECKING:
    from pathlib import Path

CHECK = "cudnn_version != (9 * 10000 + 27 * 100 + 1)"


def compiled(path: Path, source: str, *flags: str | Path) -> Path:
    code = path.with_suffix(".c")
    code.write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, code, *flags], check=True, capture_output=True)
    return path


@pytest.mark.parametrize(
    ("library", "release"),
    [
        (elf_library(named=[CHECK]), "9.27.1"),
        (pe_library(named=[CHECK]), "9.27.1"),
        (elf_library(named=["cudnn_version != (0)"]), None),
        (elf_library(), None),
    ],
    ids=["ELF", "PE", "another check", "none"],
)
def test_the_release_is_told_by_a_check_among_the_constants(
    library: bytes, release: str | None, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(library)
    assert read_binary(tmp_path / "a").release == release


@pytest.mark.parametrize(
    "name", ["cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_adv_train_version"]
)
def test_the_release_is_told_by_the_number_that_the_parts_compare(name: str, tmp_path: Path) -> None:
    library = compiled(tmp_path / "a.so", f"const unsigned {name} = 0x091b02;\n")
    assert read_binary(library).release == "9.27.2"


def test_a_number_that_is_wanted_or_of_another_size_tells_nothing(tmp_path: Path) -> None:
    source = "extern const unsigned cudnn_ops_version;\nunsigned f(void) { return cudnn_ops_version; }\n"
    assert read_binary(compiled(tmp_path / "a.so", source)).release is None
    assert read_binary(compiled(tmp_path / "b.so", "const char cudnn_ops_version = 1;\n")).release is None


def test_symbols_are_told_with_the_library_that_they_are_wanted_of(tmp_path: Path) -> None:
    soname = ("-Wl,-soname,libgiver.so.1", "-Wl,--default-symver")
    giver = compiled(
        tmp_path / "giver.so", "int given(void) { return 1; }\nint more(void) { return 1; }\n", *soname
    )
    source = "int given(void);\nint weak(void) __attribute__((weak));\nint taker(void) { return given() + !!weak; }\n"
    taker = compiled(tmp_path / "taker.so", source, giver)
    assert {"given", "more"} <= read_symbols(giver).defined
    assert read_symbols(taker).wanted.get("libgiver.so.1") == {"given"}
    assert "taker" in read_symbols(taker).defined


def test_a_library_without_symbols_has_none(tmp_path: Path) -> None:
    for name, data in {"a": elf_library(), "b": pe_library(), "c": b""}.items():
        (tmp_path / name).write_bytes(data)
        assert read_symbols(tmp_path / name) == Symbols()


def test_a_library_cut_anywhere_is_damaged_or_has_fewer_symbols(tmp_path: Path) -> None:
    whole = compiled(tmp_path / "a.so", "int given(void) { return 1; }\n").read_bytes()
    cut = tmp_path / "cut"
    found = set()
    for size in range(0, len(whole), 97):
        cut.write_bytes(whole[:size])
        with contextlib.suppress(NotABinary):
            found |= read_symbols(cut).defined
    assert found <= {"given", ""}


def test_a_table_of_impossible_size_is_not_read(tmp_path: Path) -> None:
    library = compiled(tmp_path / "a.so", "const unsigned cudnn_ops_version = 0x091b02;\n")
    data = bytearray(library.read_bytes())
    (sections,) = struct.unpack_from("<Q", data, 0x28)
    (count,) = struct.unpack_from("<H", data, 0x3C)
    for header in range(sections, sections + count * 64, 64):
        struct.pack_into("<Q", data, header + 32, 1 << 33)
    library.write_bytes(data)
    with library.open("r+b") as file:
        file.truncate(1 << 33)
    for read in (read_binary, read_symbols):
        with pytest.raises(NotABinary, match="a table of 8589934592 bytes"):
            read(library)
