"""Two real releases mixed in every way that happens: what the doctor says, and what a process then really maps."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from real import wheel
from real.unpacked import unpack

from cudnn_redist.doctor import load_work
from cudnn_redist.doctor.child import run_apart
from cudnn_redist.doctor.copies import Shelf
from cudnn_redist.doctor.diagnosing import diagnose
from cudnn_redist.doctor.hardware import Hardware
from cudnn_redist.doctor.loader import Loader
from cudnn_redist.doctor.system import System

if TYPE_CHECKING:
    from collections.abc import Sequence

    from real.wheel import WheelFile

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="libraries for x86-64 Linux"),
]

ENGINES = "libcudnn_engines_precompiled.so.9"


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory, real_wheel: WheelFile) -> dict[str, Path]:
    """The directories of the libraries of 9.20 (for CUDA 13), 9.23 (for CUDA 12) and the JIT library of 9.27."""
    place, cache = tmp_path_factory.mktemp("unpacked"), wheel.cache_directory()
    known = {
        "9.20": wheel.download(wheel.CUDNN_9_20, cache),
        "9.23": wheel.download(wheel.CUDNN_9_23, cache),
        "jit": real_wheel,
    }
    return {name: unpack(file, place / name, as_wheel=True).lib_dir for name, file in known.items()}


def mixture(place: Path, base: Path, **others: Path) -> Path:
    """Make a set of ``base`` with single parts, by the middle of their names, from ``others``."""
    (place / "lib").mkdir()
    for library in base.iterdir():
        part = library.name.removeprefix("libcudnn_").partition(".so")[0]
        (place / "lib" / library.name).hardlink_to(others.get(part, base) / library.name)
    return place / "lib"


def diagnosed(*library_path: Path) -> set[str]:
    """Return the codes of what is found where these directories are on LD_LIBRARY_PATH."""
    system = System(environ={"LD_LIBRARY_PATH": os.pathsep.join(map(str, library_path))})
    return {finding.code for finding in diagnose(system, hardware=Hardware()).findings}


@pytest.mark.parametrize(
    ("order", "codes"),
    [
        (("9.20",), set()),
        (("9.23",), set()),
        (("jit",), set()),
        (("9.20", "9.23"), {"gap-filled", "set-mixed", "several-copies"}),
        (("9.23", "9.20"), {"set-mixed", "several-copies"}),
        (("jit", "9.20"), {"gap-open", "set-mixed", "several-copies"}),
        (("9.20", "jit"), {"gap-open", "set-mixed", "several-copies"}),
    ],
    ids=lambda value: " before ".join(value) if isinstance(value, tuple) else "",
)
def test_sets_after_each_other_on_the_library_path(
    order: Sequence[str], codes: set[str], releases: dict[str, Path]
) -> None:
    assert diagnosed(*(releases[name] for name in order)) == codes


@pytest.mark.parametrize("part", ["ops", "graph", "adv", "engines_precompiled", "engines_runtime_compiled"])
def test_one_part_of_a_directory_is_of_another_release(
    part: str, releases: dict[str, Path], tmp_path: Path
) -> None:
    mixed = mixture(tmp_path, releases["9.20"], **{part: releases["9.23"]})
    assert diagnosed(mixed) >= {"version-differs"}


def test_headers_of_one_release_beside_libraries_of_another(
    releases: dict[str, Path], tmp_path: Path
) -> None:
    mixed = mixture(tmp_path, releases["9.20"])
    (tmp_path / "include").symlink_to(releases["9.23"].parent / "include")
    assert diagnosed(mixed) == {"header-differs"}


@pytest.mark.parametrize(
    ("start", "order"),
    [
        ("9.20", ()),
        ("9.23", ()),
        ("9.20", ("9.23",)),
        ("9.20", ("9.20", "9.23")),
        ("9.23", ("9.20",)),
        ("9.20", ("jit",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value) or "nothing",
)
def test_what_is_foretold_is_what_a_process_maps(
    start: str, order: Sequence[str], releases: dict[str, Path]
) -> None:
    """Foretold is all that a program may call for; an empty descriptor brings the graph library and its engines."""
    environ = {"LD_LIBRARY_PATH": os.pathsep.join(str(releases[name]) for name in order)} if order else {}
    main = releases[start] / "libcudnn.so.9"
    told = run_apart(Path(load_work.__file__), str(main), environment=environ, timeout=60)
    mapped = {path for path in told.facts["mapped"] if "cudnn" in Path(path).name}
    assert len(mapped) > 1
    loader = Loader(System(environ=environ), Shelf())
    foretold = loader.load(loader.at(main, "its path")).found.values()
    assert mapped <= {str(found.library.path.resolve()) for found in foretold}
