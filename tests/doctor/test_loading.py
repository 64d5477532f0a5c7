from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from doctor.fakes import DRIVER, LIBRARY, PART, cudnn_files, fake_prefix, library
from redist.libraries import elf_library

from cudnn_redist.doctor.loading import load
from cudnn_redist.host import driver_cuda

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cudnn_redist import Finding, Prefix

pytestmark = pytest.mark.skipif(os.name == "nt", reason="libraries of ELF")

NO_LIBRARY = "libshipped_by_nobody.so.1"


def fake(folder: Path, **facts: Any) -> Prefix:  # noqa: ANN401 - those of cudnn_files
    return fake_prefix(folder / "prefix", cudnn_files(folder / "work", **facts))


def codes(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in findings]


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"rpath": True},
        {"on_load": 'for (int i = 0; i < 1000000; i++) printf("%d\\n", i), fprintf(stderr, "%d\\n", i)'},
    ],
    ids=["RUNPATH", "RPATH", "talkative"],
)
def test_of_a_whole_set_there_is_nothing_to_say(facts: dict[str, Any], tmp_path: Path) -> None:
    assert load(fake(tmp_path, **facts), os.environ) == ()


@pytest.mark.parametrize("name", ["a\nb", "a\rb"], ids=["newline", "return"])
def test_a_prefix_may_have_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    assert load(fake(tmp_path / name), os.environ) == ()


TROUBLES: dict[str, tuple[dict[str, Any], str, str]] = {
    "crash on load": ({"on_load": "raise(SIGSEGV)"}, "load-crashed", "SIGSEGV while loading it"),
    "crash when asked": ({"on_version": "abort()"}, "load-crashed", "SIGABRT while asking for its version"),
    "end of the program": ({"on_load": "_exit(3)"}, "load-crashed", "exit code 3 while loading it"),
    "another version": (
        {"version": 92302},
        "version-loaded-differs",
        "reports 9.23.2, recorded as 9.27.0.42",
    ),
    "a version of eight": (
        {"version": 8907},
        "version-loaded-differs",
        "reports 8.9.7, recorded as 9.27.0.42",
    ),
    "another CUDA": ({"cudart": 12090}, "cuda-loaded-differs", "reports CUDA 12.9, recorded as cuda13"),
    "mixed": ({"status": 1002}, "set-mixed", "status 1002: SUBLIBRARY_VERSION_MISMATCH"),
    "mixed, as cuDNN 8 says it": ({"status": 14}, "set-mixed", "status 14: ANOTHER"),
    "a part that cuDNN does not find": ({"status": 1008}, "load-failed", "status 1008: ANOTHER"),
}


@pytest.mark.parametrize(("facts", "code", "detail"), TROUBLES.values(), ids=TROUBLES)
def test_trouble_of_the_library_is_told_once(
    facts: dict[str, Any], code: str, detail: str, tmp_path: Path
) -> None:
    (finding,) = load(fake(tmp_path, **facts), os.environ)
    assert (finding.code, finding.where, finding.detail) == (code, LIBRARY, detail)


def test_a_library_that_hangs_is_given_up(tmp_path: Path) -> None:
    (finding,) = load(fake(tmp_path, on_load="for (;;) pause()"), os.environ, timeout=5)
    assert (finding.code, finding.where) == ("load-timed-out", LIBRARY)
    assert finding.detail.startswith("no answer within 5 s while ")


NO_CUDNN = {
    "a text": (b"404 page not found\n" * 100, "invalid ELF header"),
    "cut short": (elf_library()[:100], ""),
    "for another machine": (elf_library("linux-ppc64le"), "cannot open shared object file"),
}


@pytest.mark.parametrize(("data", "words"), NO_CUDNN.values(), ids=NO_CUDNN)
def test_what_the_loader_refuses_is_told_in_its_words(data: bytes, words: str, tmp_path: Path) -> None:
    (finding,) = load(fake_prefix(tmp_path / "prefix", {LIBRARY: data}), os.environ)
    assert (finding.code, finding.where) == ("load-failed", LIBRARY)
    assert words in finding.detail


def test_a_library_of_something_else_is_no_cudnn(tmp_path: Path) -> None:
    data = library(tmp_path / "work", "int other;\n", "libcudnn.so.9")
    (finding,) = load(fake_prefix(tmp_path / "prefix", {LIBRARY: data}), os.environ)
    assert (finding.code, finding.detail) == ("load-failed", "has no cudnnGetVersion")


def test_without_a_driver_a_part_is_not_loaded_and_the_prefix_is_not_blamed(tmp_path: Path) -> None:
    found = load(fake(tmp_path, part_needs=[DRIVER]), os.environ)
    assert codes(found) == ([] if driver_cuda() else [("driver-missing", PART)])
    assert [finding.severity for finding in found if finding.severity != "note"] == []


def test_a_library_that_a_part_needs_may_come_from_the_environment(tmp_path: Path) -> None:
    prefix = fake(tmp_path, part_needs=[NO_LIBRARY])
    (finding,) = load(prefix, os.environ)
    assert (finding.code, finding.where, NO_LIBRARY in finding.detail) == ("load-failed", PART, True)
    (finding,) = load(prefix, {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "work/needed")})
    assert (finding.code, finding.where) == ("environment-needed", PART)


def test_so_may_the_driver(tmp_path: Path) -> None:
    """In some containers nothing but LD_LIBRARY_PATH leads to it."""
    found = load(
        fake(tmp_path, part_needs=[DRIVER]), {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "work/needed")}
    )
    assert codes(found) == ([] if driver_cuda() else [("environment-needed", PART)])


@pytest.fixture
def decoy(tmp_path: Path) -> dict[str, str]:
    """An environment in which LD_LIBRARY_PATH leads to the whole set of another release."""
    other = fake_prefix(
        tmp_path / "decoy", cudnn_files(tmp_path / "other", version=92302, cudart=12090), version="9.23.2.1"
    )
    return {**os.environ, "LD_LIBRARY_PATH": str(other.lib_dir)}


def test_runpath_lets_the_environment_mix_two_releases(tmp_path: Path, decoy: dict[str, str]) -> None:
    found = load(fake(tmp_path), decoy)
    assert codes(found) == [
        ("version-loaded-differs", LIBRARY),
        ("cuda-loaded-differs", LIBRARY),
        ("set-mixed", LIBRARY),
        ("shadowed", LIBRARY),
    ]
    assert all(finding.detail.startswith("in this environment, ") for finding in found)
    assert found[-1].detail.endswith(f"libcudnn_graph.so.9 comes from {decoy['LD_LIBRARY_PATH']}")


def test_rpath_does_not_for_the_libraries_that_it_is_in(tmp_path: Path, decoy: dict[str, str]) -> None:
    assert load(fake(tmp_path, rpath=True), decoy) == ()


def test_trouble_of_the_environment_is_not_the_prefix_s(tmp_path: Path) -> None:
    """Calls between libraries go to what was loaded before them."""
    library(tmp_path, "void abort(void);\nvoid cudnnGetVersion(void) { abort(); }\n", "crash.so")
    (finding,) = load(fake(tmp_path), {**os.environ, "LD_PRELOAD": str(tmp_path / "crash.so")})
    assert (finding.code, finding.detail) == (
        "load-crashed",
        "in this environment, SIGABRT while making an empty descriptor",
    )


@pytest.mark.parametrize(
    ("files", "platform", "detail"),
    [
        pytest.param({"include/cudnn.h": b""}, None, "it has no libcudnn to load", id="no-library"),
        pytest.param({LIBRARY: b""}, "windows-arm64", "made for windows-arm64, and this is ", id="elsewhere"),
    ],
)
def test_what_cannot_be_tried_is_said(
    files: dict[str, bytes], platform: str | None, detail: str, tmp_path: Path
) -> None:
    (finding,) = load(fake_prefix(tmp_path / "prefix", files, platform=platform), os.environ)
    assert (finding.code, finding.severity) == ("load-untried", "note")
    assert finding.detail.startswith(detail)
