"""Which file a name leads to, and why: the order of ld.so(8), file by file."""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor.fakes import library
from doctor.machines import DEBIAN, Machine
from redist.libraries import elf_library

from cudnn_redist.doctor.copies import Shelf
from cudnn_redist.doctor.loader import Loader
from cudnn_redist.doctor.system import System

NAME = "libcudnn_graph.so.9"


def loader_of(machine: Machine) -> tuple[Loader, Shelf]:
    shelf = Shelf()
    return Loader(System(root=machine.root, environ=machine.environ, machine="x86_64"), shelf), shelf


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A graph library in every kind of place."""
    machine = Machine(tmp_path, environ={"LD_LIBRARY_PATH": "/empty:/listed"})
    for directory in ("/origin", "/listed", "/searched", "/cached", DEBIAN):
        machine.write(f"{directory}/{NAME}", elf_library(soname=NAME))
    machine.loader_cache(f"/cached/{NAME}")
    return machine


@pytest.mark.parametrize(
    ("search", "directory", "way"),
    [
        ({"rpath": "$ORIGIN"}, "origin", "RPATH of libcudnn.so.9"),
        ({"rpath": "/searched"}, "searched", "RPATH of libcudnn.so.9"),
        ({"rpath": "/nowhere:${ORIGIN}/../searched"}, "searched", "RPATH of libcudnn.so.9"),
        ({"runpath": "$ORIGIN"}, "listed", "LD_LIBRARY_PATH"),
        ({"rpath": "/searched", "runpath": "$ORIGIN"}, "listed", "LD_LIBRARY_PATH"),
        ({}, "listed", "LD_LIBRARY_PATH"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_rpath_comes_before_the_library_path_and_runpath_after_it(
    machine: Machine, search: dict[str, str], directory: str, way: str
) -> None:
    main = machine.write("/origin/libcudnn.so.9", elf_library(**search))
    loader, shelf = loader_of(machine)
    found = loader.find(NAME, (shelf.library(main),))
    assert found is not None
    assert (found.library.path.resolve(), found.way) == (machine.root / directory / NAME, way)


@pytest.mark.parametrize(
    ("gone", "directory", "way"),
    [
        (("listed",), "origin", "RUNPATH of libcudnn.so.9"),
        (("listed", "origin"), "cached", "loader cache"),
        (("listed", "origin", "cached"), DEBIAN.lstrip("/"), "default directory"),
    ],
    ids=["RUNPATH", "cache", "default"],
)
def test_what_comes_after_the_library_path(
    machine: Machine, gone: tuple[str, ...], directory: str, way: str
) -> None:
    main = machine.write("/origin/libcudnn.so.9", elf_library(runpath="$ORIGIN"))
    for each in gone:
        (machine.root / each / NAME).unlink()
    loader, shelf = loader_of(machine)
    found = loader.find(NAME, (shelf.library(main),))
    assert found is not None
    assert (found.library.path, found.way) == (machine.root / directory / NAME, way)


@pytest.mark.parametrize(
    ("variable", "file", "way"),
    [
        ("/opt/libcudnn_graph.so.9.16.0", "", "LD_PRELOAD"),
        (f"libnone.so:{NAME}", "", "LD_PRELOAD"),
        ("", "/gone.so\n/opt/libcudnn_graph.so.9.16.0\n", "/etc/ld.so.preload"),
        ("/opt/libwants.so", "", "LD_PRELOAD"),
        ("/opt/libtext.so", "", "LD_LIBRARY_PATH"),
        ("/opt/libarm.so", "", "LD_LIBRARY_PATH"),
    ],
    ids=["path", "name", "file", "what it needs", "no library", "another machine"],
)
def test_what_is_preloaded_comes_first(machine: Machine, variable: str, file: str, way: str) -> None:
    machine.write("/opt/libcudnn_graph.so.9.16.0", elf_library(soname=NAME, needed=["libcudnn_round.so"]))
    machine.write("/opt/libcudnn_round.so", elf_library(soname="other", needed=["libcudnn_round.so"]))
    machine.write("/opt/libwants.so", elf_library(needed=["libcudnn_graph.so.9"], rpath="/searched"))
    machine.write("/opt/libtext.so", "text")
    machine.write("/opt/libarm.so", elf_library("linux-sbsa", soname=NAME))
    machine.write("/etc/ld.so.preload", file)
    machine.environ["LD_PRELOAD"] = variable
    loader, _ = loader_of(machine)
    found = loader.find(NAME)
    assert found is not None
    assert found.way == way


FLAGS = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"


@pytest.mark.parametrize(
    ("flags", "folder"),
    [(FLAGS, "x86-64-v3"), (f"{FLAGS} avx512f", "x86-64-v3"), ("cx16", ""), (None, "")],
    ids=["third level", "not yet the fourth", "none", "unknown"],
)
def test_in_each_directory_a_folder_for_the_cpu_comes_first(
    machine: Machine, flags: str | None, folder: str
) -> None:
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        for directory in ("/listed", "/cached"):
            machine.write(f"{directory}/glibc-hwcaps/{level}/{NAME}", elf_library(soname=NAME))
    levels = [f"/cached/glibc-hwcaps/x86-64-{each}/{NAME}" for each in ("v4", "v2", "v3")]
    machine.loader_cache(*levels, f"/cached/{NAME}")
    if flags is not None:
        machine.write("/proc/cpuinfo", f"processor\t: 0\nflags\t\t: fpu {flags}\n\nprocessor\t: 1\n")
    inside = Path("glibc-hwcaps", folder) if folder else Path()
    for directory in ("listed", "cached"):
        loader, _ = loader_of(machine)
        found = loader.find(NAME)
        assert found is not None
        assert found.library.path == machine.root / directory / inside / NAME
        machine.environ.clear()


def test_the_rpath_of_whoever_loaded_the_asking_library_counts_too(machine: Machine) -> None:
    program = machine.write("/searched/program.so", elf_library(rpath="$ORIGIN"))
    plain = machine.write("/elsewhere/libcudnn.so.9", elf_library())
    with_runpath = machine.write("/elsewhere/b/libcudnn.so.9", elf_library(runpath="/nowhere"))
    with_both = machine.write("/searched/newer.so", elf_library(rpath="$ORIGIN", runpath="/nowhere"))
    loader, shelf = loader_of(machine)
    chains = ((plain, program), (with_runpath, program), (plain, with_both))
    ways = [found.way for chain in chains if (found := loader.find(NAME, [*map(shelf.library, chain)]))]
    assert ways == ["RPATH of program.so", "LD_LIBRARY_PATH", "LD_LIBRARY_PATH"]


def test_libraries_for_other_machines_are_passed_over_and_files_that_are_none_are_not(
    machine: Machine,
) -> None:
    machine.write(f"/listed/{NAME}", elf_library("linux-sbsa", soname=NAME))
    assert (found := loader_of(machine)[0].find(NAME)) is not None
    assert found.way == "loader cache"
    machine.write(f"/listed/{NAME}", "a text")
    assert (found := loader_of(machine)[0].find(NAME)) is not None
    assert found.way == "LD_LIBRARY_PATH"
    assert found.library.problem == "neither ELF nor PE: it begins with b'a te'"


def test_without_a_cache_its_configuration_is_read(machine: Machine) -> None:
    (machine.root / "etc/ld.so.cache").unlink()
    machine.environ.clear()
    machine.write("/etc/ld.so.conf", "# first\ninclude /etc/ld.so.conf.d/*.conf\nhwcap 1 nosegneg\n")
    machine.write("/etc/ld.so.conf.d/a.conf", "/cached # here\ninclude ld.so.conf\n")
    found = loader_of(machine)[0].find(NAME)
    assert found is not None
    assert (found.library.path.parent.name, found.way) == ("cached", "loader cache")


@pytest.mark.parametrize("cache", [b"", b"ld.so-1.7.0\0", b"glibc-ld.so.cache1.1" + b"\xff" * 60])
def test_a_damaged_cache_is_no_cache(machine: Machine, cache: bytes) -> None:
    machine.write("/etc/ld.so.cache", cache)
    machine.environ.clear()
    found = loader_of(machine)[0].find(NAME)
    assert found is not None
    assert found.way == "default directory"


def test_a_part_that_wants_symbols_which_the_loaded_release_lacks_is_refused(tmp_path: Path) -> None:
    """So is engines_tensor_ir of 9.27 beside 9.20, which works; that of 9.23 is taken, and the end is status 1002."""
    machine = Machine(tmp_path / "root", environ={"LD_LIBRARY_PATH": "/other"})
    engines, opens = "libcudnn_engines.so.9", 'const char opens[] = "libcudnn_engines.so";\n'
    old = library(
        tmp_path / "of_old", f"{opens}int old(void) {{ return 1; }}\n", NAME, "-Wl,--default-symver"
    )
    both = "int old(void) { return 1; } int new(void) { return 1; }\n"
    library(tmp_path / "of_new", both, NAME, "-Wl,--default-symver")
    main = machine.write("/own/libcudnn.so.9", elf_library(named=["libcudnn_graph.so"], runpath="$ORIGIN"))
    machine.write(f"/own/{NAME}", old)
    taken = {}
    for name in ("old", "new"):
        source = f"int {name}(void);\nint engines(void) {{ return {name}(); }}\n"
        part = library(tmp_path / "engines", source, engines, str(tmp_path / "of_new" / NAME))
        machine.write(f"/other/{engines}", part)
        loader, _ = loader_of(machine)
        loading = loader.load(loader.at(main, "its path"))
        taken[name] = (engines in loading.found, engines in loading.refused)
    assert taken == {"old": (True, False), "new": (False, True)}


def test_parts_are_opened_by_their_full_versions_first(tmp_path: Path) -> None:
    machine = Machine(tmp_path, environ={"LD_LIBRARY_PATH": "/other"})
    machine.cudnn("/own", "9.14.0", named_files=True)
    machine.cudnn("/other", "9.12.0")
    loader, _ = loader_of(machine)
    found = loader.load(loader.at(machine.root / "own/libcudnn.so.9", "its path")).found
    assert {each.library.path.parent.name for name, each in found.items() if "cudnn" in name} == {"own"}
    assert found[NAME].library.path.name == "libcudnn_graph.so.9.14.0"

    for path in (machine.root / "own").glob("libcudnn_graph.so*"):
        path.unlink()
    machine.write("/own/libcudnn_graph.so.9.14", elf_library(soname=NAME))
    loader, _ = loader_of(machine)
    found = loader.load(loader.at(machine.root / "own/libcudnn.so.9", "its path")).found
    assert found[NAME].library.path.name == "libcudnn_graph.so.9.14"
