"""NVIDIA's own bytes, from a real nginx, by the program a stranger installs, into a prefix that loads."""

from __future__ import annotations

import filecmp
import os
import platform
import shutil
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from real import program, repack
from real.nginx import serving

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from real.nginx import Request
    from real.program import Finished, Program
    from real.repack import Tree
    from real.wheel import WheelFile

pytestmark = pytest.mark.real

CHOICE = ("9.27.0", "--component", "cudnn_jit", "--cuda", "13", "--platform", "linux-x86_64")
PREFIX = "cudnn/9.27.0/cudnn_jit/linux-x86_64/cuda13"
RECORD = ".cudnn-redist.json"
GENERATED = ("lib/cmake", "lib/pkgconfig")
X86_64 = 62  # e_machine of ELF, System V ABI for AMD64
GET_VERSION = """
import ctypes, sys
get_version = ctypes.CDLL(sys.argv[1]).cudnnGetVersion
get_version.restype = ctypes.c_size_t
print(get_version())
"""


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """One run of fetch and the requests that nginx logged meanwhile."""

    root: Path
    finished: Finished
    requests: Sequence[Request]

    @property
    def prefix(self) -> Path:
        return self.root / PREFIX


def fetch(
    installed: Program, tree: Tree, scratch: Path, *, root: Path, options: Sequence[str] = ()
) -> Fetched:
    with serving(tree.path, scratch) as server:
        finished = installed("fetch", *CHOICE, "--source", server.url, "--root", root, *options)
    return Fetched(root=root, finished=finished, requests=server.requests())


@pytest.fixture(scope="module")
def fetched(installed: Program, real_tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Fetched:
    home = tmp_path_factory.mktemp("fetched")
    result = fetch(installed, real_tree, home / "nginx", root=home / "root")
    assert result.finished.exit_code == 0, result.finished.stderr
    return result


def test_archive_is_of_several_blocks_as_nvidia_packs_it(real_tree: Tree) -> None:
    assert repack.xz_blocks(real_tree.archive) > 2


def test_fetch_prints_the_prefix_path_alone(fetched: Fetched) -> None:
    assert fetched.finished.stdout == f"{fetched.prefix}\n"


def test_fetch_reads_the_manifest_once_and_the_archive_once(fetched: Fetched, real_tree: Tree) -> None:
    whole = [
        (f"/{file.relative_to(real_tree.path)}", file.stat().st_size)
        for file in (real_tree.manifest, real_tree.archive)
    ]

    assert [(asked.path, asked.sent) for asked in fetched.requests if asked.status == 200] == whole


def test_fetch_asks_besides_only_whether_the_source_itself_holds_the_manifest(fetched: Fetched) -> None:
    besides = [(asked.path, asked.status) for asked in fetched.requests if asked.status != 200]

    assert besides == [("/redistrib_9.27.0.json", 404)]


def test_every_file_of_the_wheel_is_in_the_prefix(
    fetched: Fetched, real_wheel: WheelFile, tmp_path: Path
) -> None:
    with real_wheel.open() as archive:
        archive.extractall(tmp_path)
    pairs = {name: info.filename for name, info in real_wheel.files.items()}
    pairs["LICENSE"] = real_wheel.license.filename

    same = [
        name
        for name, original in pairs.items()
        if filecmp.cmp(fetched.prefix / name, tmp_path / original, shallow=False)
    ]

    assert same == list(pairs)
    assert {"include/cudnn.h", "lib/libcudnn.so.9", "lib/libcudnn_graph.so.9", "LICENSE"} <= set(same)


def test_nothing_else_is_in_the_prefix_but_links_record_and_generated_files(
    fetched: Fetched, real_wheel: WheelFile
) -> None:
    expected: dict[str, str | None] = {"LICENSE": None, RECORD: None, "lib64": "lib"}
    for name in real_wheel.files:
        folder, _, file = name.partition("/")
        if folder == "include":
            expected[name] = None
        else:
            expected[f"lib/{repack.real_name(file, '9.27.0')}"] = None
            expected |= {f"lib/{link}": target for link, target in repack.links(file, "9.27.0").items()}

    assert contents(fetched.prefix) == expected


def test_verify_finds_nothing_wrong(fetched: Fetched, installed: Program) -> None:
    assert installed("verify", fetched.prefix).exit_code == 0


def test_verify_finds_one_changed_byte(fetched: Fetched, installed: Program, tmp_path: Path) -> None:
    damaged = shutil.copytree(fetched.prefix, tmp_path / "damaged", symlinks=True)
    with (damaged / "lib" / "libcudnn_graph.so.9").open("r+b") as library:
        library.seek(100_000_000)
        (byte,) = library.read(1)
        library.seek(-1, os.SEEK_CUR)
        library.write(bytes([byte ^ 1]))

    finished = installed("verify", damaged)

    assert finished.exit_code == 9
    assert "lib/libcudnn_graph.so.9.27.0" in finished.stdout + finished.stderr


def test_second_fetch_asks_the_server_nothing(
    fetched: Fetched, installed: Program, real_tree: Tree, tmp_path: Path
) -> None:
    again = fetch(installed, real_tree, tmp_path / "nginx", root=fetched.root)

    assert (again.finished.exit_code, again.finished.stdout) == (0, f"{fetched.prefix}\n")
    assert again.requests == []


def test_the_library_loads_and_tells_its_version(fetched: Fetched, installed: Program) -> None:
    library = fetched.prefix / "lib" / "libcudnn.so.9"
    if platform.machine() != "x86_64":
        assert struct.unpack_from("<H", library.read_bytes(), 18) == (X86_64,)
        return

    loaded = program.phase("load", [installed.python, "-c", GET_VERSION, library], installed.home)

    assert (loaded.exit_code, loaded.stdout) == (0, "92700\n")


def test_a_directory_is_as_good_a_source_as_a_server(
    fetched: Fetched, installed: Program, real_tree: Tree, tmp_path: Path
) -> None:
    finished = installed("fetch", *CHOICE, "--source", real_tree.path, "--root", tmp_path)

    assert (finished.exit_code, finished.stdout) == (0, f"{tmp_path / PREFIX}\n")
    assert (tmp_path / PREFIX / RECORD).read_bytes() == (fetched.prefix / RECORD).read_bytes()
    assert contents(tmp_path / PREFIX) == contents(fetched.prefix)


def test_an_archive_store_saves_the_second_download(
    fetched: Fetched, installed: Program, real_tree: Tree, tmp_path: Path
) -> None:
    store = ("--archives", str(tmp_path / "store"))
    first = fetch(installed, real_tree, tmp_path / "nginx1", root=tmp_path / "root1", options=store)
    second = fetch(installed, real_tree, tmp_path / "nginx2", root=tmp_path / "root2", options=store)

    assert [first.finished.exit_code, second.finished.exit_code] == [0, 0]
    archive = f"/{real_tree.archive.relative_to(real_tree.path)}"
    assert archive in [asked.path for asked in first.requests]
    assert archive not in [asked.path for asked in second.requests]
    assert (second.prefix / RECORD).read_bytes() == (fetched.prefix / RECORD).read_bytes()


def contents(prefix: Path) -> dict[str, str | None]:
    """Return every file (None) and link (its target) that is not generated, by its path in the prefix."""
    paths = [path for path in prefix.rglob("*") if path.is_symlink() or path.is_file()]
    generated = [path for path in paths if any(path.is_relative_to(prefix / folder) for folder in GENERATED)]
    return {
        path.relative_to(prefix).as_posix(): str(path.readlink()) if path.is_symlink() else None
        for path in paths
        if path not in generated
    }
