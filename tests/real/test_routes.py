"""One lock, three platforms, four routes: server, directory, bundle and repacked mirror lead to the same real bits."""

from __future__ import annotations

import hashlib
import json
import platform
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from real import program, repack, wheel
from real.nginx import serving
from real.release import put_together
from real.test_real_bits import GET_VERSION, X86_64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from real.program import Program
    from real.wheel import WheelFile

pytestmark = pytest.mark.real

LINUX = ("--component", "cudnn_jit", "--platform", "linux-x86_64", "--platform", "linux-sbsa")
WINDOWS = ("--component", "cudnn", "--platform", "windows-x86_64")
ROUTES = ("nginx", "directory", "bundle", "repacked")


@dataclass(frozen=True, kw_only=True)
class Release:
    """The release on this machine: the wheels it is made of, the tree, and the lock of it."""

    wheels: Sequence[WheelFile]
    tree: Path
    lock: Path


@pytest.fixture(scope="module")
def release(installed: Program, tmp_path_factory: pytest.TempPathFactory) -> Release:
    cache, home = wheel.cache_directory(), tmp_path_factory.mktemp("release")
    pinned = (wheel.CUDNN_JIT, wheel.CUDNN_JIT_SBSA, wheel.CUDNN_WINDOWS)
    wheels = [wheel.download(each, cache) for each in pinned]
    trees = [
        repack.repack(each, cache, "zip" if each.wheel.platform.startswith("windows") else "tar.xz")
        for each in wheels
    ]
    tree = put_together(trees, home / "tree")
    lock = locked(installed, tree, home / "cudnn-redist.lock")
    return Release(wheels=wheels, tree=tree, lock=lock)


def locked(installed: Program, source: Path, lock: Path) -> Path:
    done = installed("lock", "9.27.0", "--source", source, "-o", lock)
    assert done.exit_code == 0, done.stderr
    return lock


Installed = dict[str, dict[str, Any]]
"""The prefixes of a route by platform, as ``fetch --json`` tells them."""


@pytest.fixture(scope="module")
def fetched(
    installed: Program, release: Release, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Installed]:
    """What a route has installed; it is taken once."""
    taken: dict[str, Installed] = {}

    def take(route: str) -> Installed:
        if route not in taken:
            taken[route] = _taken(route, installed, release, tmp_path_factory.mktemp(route))
        return taken[route]

    return take


def _taken(route: str, installed: Program, release: Release, home: Path) -> Installed:
    if route == "nginx":
        with serving(release.tree, home / "nginx") as server:
            return installed_from(installed, release.lock, server.url, home)
    if route == "directory":
        return installed_from(installed, release.lock, release.tree, home, "--offline")
    if route == "bundle":
        bundle = home / "cudnn.bundle"
        made = installed("bundle", bundle, "--lock", release.lock, "--source", release.tree, "--offline")
        assert made.exit_code == 0, made.stderr
        return installed_from(installed, release.lock, bundle, home, "--offline")
    mirror = home / "mirror"
    made = installed(
        "mirror", mirror, "9.27.0", "--source", release.tree, "--repack", "zst", "--level", "3", "--offline"
    )
    assert made.exit_code == 0, made.stderr
    return installed_from(installed, locked(installed, mirror, home / "lock"), mirror, home, "--offline")


def installed_from(installed: Program, lock: Path, source: str | Path, home: Path, *words: str) -> Installed:
    found: Installed = {}
    for choice in (LINUX, WINDOWS):
        done = installed(
            "fetch",
            *("--lock", lock, "--source", source, "--root", home / "root", "--cuda", "13"),
            *(*choice, "--json", "--no-progress", *words),
        )
        assert done.exit_code == 0, done.stderr
        found |= {each["platform"]: each for each in json.loads(done.stdout)["prefixes"]}
    return found


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_gives_the_same_trees(route: str, fetched: Callable[[str], Installed]) -> None:
    trees = {name: prefix["tree"] for name, prefix in fetched(route).items()}
    program.say(f"\n--- trees by {route}\n" + "\n".join(f"{name}: {tree}" for name, tree in trees.items()))

    assert sorted(trees) == ["linux-sbsa", "linux-x86_64", "windows-x86_64"]
    assert trees == {name: prefix["tree"] for name, prefix in fetched("directory").items()}


@pytest.mark.parametrize("route", ROUTES)
def test_every_file_of_the_wheels_is_there(
    route: str, fetched: Callable[[str], Installed], release: Release
) -> None:
    for each in release.wheels:
        prefix = Path(fetched(route)[each.wheel.platform]["path"])
        with each.open() as archive:
            for name, info in each.files.items():
                with archive.open(info) as original, (prefix / name).open("rb") as ours:
                    assert _digest(ours) == _digest(original), name


@pytest.mark.parametrize("route", ROUTES)
def test_every_prefix_is_as_recorded(
    route: str, fetched: Callable[[str], Installed], installed: Program
) -> None:
    assert [installed("verify", each["path"]).exit_code for each in fetched(route).values()] == [0, 0, 0]


@pytest.mark.parametrize("route", ROUTES)
def test_the_library_loads_and_tells_its_version(
    route: str, fetched: Callable[[str], Installed], installed: Program
) -> None:
    library = Path(fetched(route)["linux-x86_64"]["path"]) / "lib" / "libcudnn.so.9"
    if platform.machine() != "x86_64":
        assert struct.unpack_from("<H", library.read_bytes(), 18) == (X86_64,)
        return

    loaded = program.phase("load", [installed.python, "-c", GET_VERSION, library], installed.home)

    assert (loaded.exit_code, loaded.stdout) == (0, "92700\n")


def _digest(file: Any) -> str:  # noqa: ANN401 - anything that reads
    digest = hashlib.sha256()
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()
