from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from doctor.fakes import DRIVER, LIBRARY, PART, cudnn_files, fake_prefix, library

from cudnn_redist import errors, preload
from cudnn_redist.host import driver_cuda

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="libraries of ELF")

GRAPH = "lib/libcudnn_graph.so.9"

PROGRAM = """
import ctypes, json, sys
from cudnn_redist import preload
prefix, global_symbols, earlier, between = json.loads(sys.argv[1])
if earlier:
    ctypes.CDLL(earlier)
told = preload(prefix, global_symbols=global_symbols)
if between:
    exec(between)
library = ctypes.CDLL("libcudnn.so.9")
library.cudnnGetVersion.restype = ctypes.c_size_t
print(json.dumps({
    "promised": told.promised,
    "loaded": list(map(str, told.loaded)),
    "elsewhere": list(map(str, told.elsewhere)),
    "findings": [[finding.code, finding.where, finding.detail] for finding in told.findings],
    "version": library.cudnnGetVersion(),
    "global": hasattr(ctypes.CDLL(None), "cudnnGetVersion"),
}))
"""


def preloaded(
    prefix: Path,
    *,
    decoy: Path | None = None,
    global_symbols: bool = False,
    earlier: Path | None = None,
    between: str = "",
) -> dict[str, Any]:
    """Preload in a child, where the libraries of ``decoy`` come first, and tell what a program then gets by name."""
    words = json.dumps([str(prefix), global_symbols, str(earlier) if earlier else None, between])
    environment = {**os.environ, "LD_LIBRARY_PATH": str(decoy / "lib") if decoy else ""}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def whole_set(work: Path, *, version: int = 92700) -> dict[str, bytes]:
    """Return a set of which one part needs another, as in the real ones."""
    files = cudnn_files(work, version=version)
    needed = ("-Wl,--no-as-needed", str(work / "libcudnn_graph.so.9"), "-Wl,-rpath,$ORIGIN")
    part = library(work, "int part;\n", "libcudnn_engines_runtime_compiled.so.9", *needed)
    return {**files, PART: part}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two whole cuDNNs, 9.27.0 (``ours``) and 9.23.2 (``decoy``)."""
    folder = tmp_path_factory.mktemp("sets")
    fake_prefix(folder / "ours", whole_set(folder / "work"))
    fake_prefix(folder / "decoy", whole_set(folder / "other", version=92302), version="9.23.2.1")
    return folder


def test_the_whole_set_wins_over_what_the_environment_has_first(sets: Path) -> None:
    told = preloaded(sets / "ours", decoy=sets / "decoy")
    assert (told["promised"], told["findings"], told["elsewhere"]) == (True, [], [])
    assert told["version"] == 92700
    assert told["loaded"] == [str(sets / "ours" / path) for path in (LIBRARY, GRAPH, PART)]


def test_without_it_the_environment_decides(sets: Path) -> None:
    """What the test above is worth: the same program, where our own graph library was never loaded."""
    found = library_of(sets / "ours", decoy=sets / "decoy")
    assert found == 92302


def library_of(prefix: Path, *, decoy: Path) -> int:
    program = f"import ctypes; print(ctypes.CDLL({str(prefix / LIBRARY)!r}).cudnnGetVersion())"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(decoy / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=True, timeout=60
    )
    return int(done.stdout)


@pytest.mark.parametrize("asked", [False, True], ids=["by default", "asked for"])
def test_symbols_are_global_only_where_asked_for(sets: Path, *, asked: bool) -> None:
    assert preloaded(sets / "ours", global_symbols=asked)["global"] is asked


def test_a_second_time_changes_nothing(sets: Path) -> None:
    again = "assert preload(prefix) == told"
    assert preloaded(sets / "ours", decoy=sets / "decoy", between=again)["promised"] is True


def test_a_link_to_the_prefix_is_the_prefix(sets: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(sets / "ours")
    again = f"assert preload({str(sets / 'ours')!r}) == told"
    assert preloaded(tmp_path / "current", between=again)["promised"] is True


def test_beside_another_cudnn_nothing_is_loaded(sets: Path) -> None:
    other = sets / "decoy" / GRAPH
    told = preloaded(sets / "ours", earlier=other, decoy=sets / "decoy")
    assert (told["promised"], told["loaded"], told["elsewhere"]) == (False, [], [str(other)])
    assert told["findings"] == [["loaded-before", str(other), "this process had it before"]]


def test_a_prefix_that_was_replaced_meanwhile_is_another_cudnn(sets: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    shutil.copytree(sets / "ours", prefix, symlinks=True)
    replaced = f"import shutil; shutil.rmtree(prefix); shutil.copytree({str(sets / 'ours')!r}, prefix, symlinks=True)"
    told = preloaded(prefix, decoy=sets / "ours", between=f"{replaced}; told = preload(prefix)")
    assert {code for code, _, _ in told["findings"]} == {"loaded-before"}


def test_a_library_that_is_named_and_not_shipped_leaves_no_promise(tmp_path: Path, sets: Path) -> None:
    files = {path: data for path, data in cudnn_files(tmp_path / "work").items() if path != GRAPH}
    told = preloaded(fake_prefix(tmp_path / "prefix", files).path, decoy=sets / "decoy")
    assert told["promised"] is False
    assert told["findings"] == [["named-not-shipped", LIBRARY, "names libcudnn_graph.so.9"]]
    assert told["version"] == 92302


def test_a_part_that_comes_along_from_elsewhere_is_told(tmp_path: Path, sets: Path) -> None:
    files = whole_set(tmp_path / "work")
    del files[GRAPH]
    told = preloaded(fake_prefix(tmp_path / "prefix", files).path, decoy=sets / "decoy")
    assert (told["promised"], told["elsewhere"]) == (False, [str(sets / "decoy" / GRAPH)])
    assert [code for code, _, _ in told["findings"]] == ["named-not-shipped", "shadowed"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param(
            DRIVER,
            "driver-missing",
            id="driver",
            marks=pytest.mark.skipif(driver_cuda() is not None, reason="this machine has a driver"),
        ),
        pytest.param("libshipped_by_nobody.so.1", "load-failed", id="library"),
    ],
)
def test_a_part_that_cannot_be_loaded_leaves_no_promise(tmp_path: Path, name: str, code: str) -> None:
    prefix = fake_prefix(tmp_path / "prefix", cudnn_files(tmp_path / "work", part_needs=[name]))
    told = preloaded(prefix.path)
    ((found, where, detail),) = told["findings"]
    assert (found, where, name in detail, told["promised"]) == (code, str(prefix.path / PART), True, False)
    assert told["loaded"] == [str(prefix.path / path) for path in (LIBRARY, GRAPH)]


@pytest.mark.parametrize("data", [b"404 page not found\n" * 100, b""], ids=["a text", "empty"])
def test_a_damaged_part_leaves_no_promise(tmp_path: Path, data: bytes) -> None:
    prefix = fake_prefix(tmp_path / "prefix", cudnn_files(tmp_path / "work"))
    (prefix.path / PART).write_bytes(data)
    told = preloaded(prefix.path)
    assert [(code, where) for code, where, _ in told["findings"]] == [("load-failed", PART)]


def test_libraries_that_need_each_other_are_loaded_too(tmp_path: Path) -> None:
    files = cudnn_files(tmp_path / "work")
    for one, other in (("a", "b"), ("b", "a")):
        library(tmp_path / "round", "int one;\n", f"libcudnn_{other}.so.9")
        needed = str(tmp_path / "round" / f"libcudnn_{other}.so.9")
        made = library(tmp_path / one, "int one;\n", f"libcudnn_{one}.so.9", "-Wl,--no-as-needed", needed)
        files[f"lib/libcudnn_{one}.so.9"] = made
    prefix = fake_prefix(tmp_path / "prefix", files)
    told = preloaded(prefix.path, decoy=prefix.path)
    assert (told["promised"], len(told["loaded"])) == (True, 5)


@pytest.mark.parametrize(
    ("files", "platform", "cause"),
    [
        pytest.param({"include/cudnn.h": b""}, None, "it has no library of cuDNN", id="no-library"),
        pytest.param({LIBRARY: b""}, "windows-arm64", "made for windows-arm64", id="elsewhere"),
    ],
)
def test_what_cannot_be_loaded_here_is_refused(
    tmp_path: Path, files: dict[str, bytes], platform: str | None, cause: str
) -> None:
    prefix = fake_prefix(tmp_path / "prefix", files, platform=platform)
    with pytest.raises(errors.NotAvailableError, match=cause):
        preload(prefix)


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\f\u2028b"], ids=["newline", "return", "others"])
def test_a_prefix_may_have_any_name(sets: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(sets / "ours", tmp_path / name, symlinks=True)
    told = preloaded(tmp_path / name, decoy=sets / "decoy")
    assert (told["promised"], told["findings"]) == (True, [])


def test_a_directory_without_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.NotInstalled):
        preload(tmp_path)
