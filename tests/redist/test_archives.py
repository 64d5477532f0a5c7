from __future__ import annotations

import gzip
import io
import lzma
import shutil
import stat
import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from redist.archives import KINDS, pack, xz
from redist.content import Entry, File, Folder, Link, default_content

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIBRARY = b"\x7fELF" + bytes(300_000)
ENTRIES: dict[str, Entry] = {
    "LICENSE": File(b"terms\n", 0o444),
    "lib/libx.so": Link("libx.so.1"),
    "lib/libx.so.1": File(LIBRARY, 0o755),
    "empty": Folder(0o700),
}
DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.decompress,
    "tar.xz": lzma.decompress,
    "tar.zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
NEEDS_TAR = pytest.mark.skipif(shutil.which("tar") is None, reason="no tar program here")


@pytest.mark.parametrize("kind", DECOMPRESS)
def test_a_tar_holds_what_was_asked_for(kind: str) -> None:
    plain = DECOMPRESS[kind](pack(kind, "top", ENTRIES))
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        members = {member.name: member for member in tar}
        library = tar.extractfile("top/lib/libx.so.1")
        assert library is not None
        assert library.read() == LIBRARY
    assert list(members) == [
        "top",
        "top/LICENSE",
        "top/lib",
        "top/lib/libx.so",
        "top/lib/libx.so.1",
        "top/empty",
    ]
    assert members["top/LICENSE"].mode == 0o444
    assert members["top/lib/libx.so"].linkname == "libx.so.1"
    assert members["top/empty"].mode == 0o700


def test_a_zip_keeps_modes_and_links() -> None:
    with zipfile.ZipFile(io.BytesIO(pack("zip", "top", ENTRIES))) as archive:
        assert archive.testzip() is None
        modes = {member.filename: member.external_attr >> 16 for member in archive.infolist()}
        assert archive.read("top/lib/libx.so") == b"libx.so.1"
    assert modes["top/LICENSE"] == stat.S_IFREG | 0o444
    assert stat.S_ISLNK(modes["top/lib/libx.so"])
    assert modes["top/empty/"] == stat.S_IFDIR | 0o700


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_request_gives_the_same_bytes(kind: str) -> None:
    first = pack(kind, "top", ENTRIES)
    pack.__globals__["_pack"].cache_clear()
    assert pack(kind, "top", ENTRIES) == first


@pytest.mark.skipif(shutil.which("xz") is None, reason="no xz program here")
def test_xz_has_several_blocks(tmp_path: Path) -> None:
    archive = tmp_path / "a.xz"
    archive.write_bytes(xz(bytes(200_000)))
    listing = subprocess.run(["xz", "--robot", "--list", archive], capture_output=True, text=True, check=True)
    streams, blocks = listing.stdout.splitlines()[1].split("\t")[1:3]
    assert (streams, blocks) == ("1", "4")


@NEEDS_TAR
def test_the_tar_program_unpacks_it(tmp_path: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(
        pack("tar.gz", "top", default_content("cudnn", "linux-x86_64", "9.27.0.42", "cuda13"))
    )
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path, "--no-same-owner"], check=True)
    library = tmp_path / "top" / "lib" / "libcudnn.so"
    assert library.resolve().name == "libcudnn.so.9.27.0"
    assert "#define CUDNN_MINOR 27" in (tmp_path / "top" / "include" / "cudnn_version.h").read_text()


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux-x86_64", "lib/libcudnn_ops.so.9.27.0"),
        ("linux-sbsa", "lib/libcudnn_graph.so.9"),
        ("windows-x86_64", "bin/x64/cudnn64_9.dll"),
        ("windows-arm64", "lib/arm64/cudnn_ops.lib"),
        ("source", "src/cudnn_samples/conv_sample/main.cpp"),
    ],
)
def test_content_is_arranged_as_the_platform_has_it(platform: str, expected: str) -> None:
    assert expected in default_content("cudnn", platform, "9.27.0.42", "cuda13")


@pytest.mark.parametrize(("platform", "machine"), [("linux-x86_64", 62), ("linux-sbsa", 183)])
def test_a_linux_library_begins_as_elf_for_its_machine(platform: str, machine: int) -> None:
    library = default_content("cudnn", platform, "9.27.0.42")["lib/libcudnn.so.9.27.0"]
    assert isinstance(library, File)
    assert library.data[:4] == b"\x7fELF"
    assert int.from_bytes(library.data[18:20], "little") == machine
