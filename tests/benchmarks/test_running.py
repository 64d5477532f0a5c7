"""Ways run in turn on a small archive made as the large ones are, and a wrong result is never counted."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks import archives
from benchmarks.archives import Recipe
from benchmarks.experiments import Experiment
from benchmarks.running import Bench, BenchmarkFailed
from benchmarks.ways import CURL_ALONE, FETCH, Way, bare, ours
from real.wheel import Wheel, sha256_of

if TYPE_CHECKING:
    from real.packing import Kind

KINDS: dict[str, Kind] = {"xz": "tar.xz", "zst": "tar.zst", "zip": "zip"}
SHELL = FETCH[1]
# Each is a result that differs from the archive in one way.
DAMAGE = {
    "changed": 'printf X >>"$TOP/include/cudnn.h"',
    "missing": 'rm "$TOP/LICENSE"',
    "extra": 'touch "$TOP/lib/extra"',
    "other link": 'ln -sf libcudnn.so.9.27.0 "$TOP/lib/libcudnn.so"',
    "no link": 'rm "$TOP/lib/libcudnn.so"; cp "$TOP/lib/libcudnn.so.9" "$TOP/lib/libcudnn.so"',
    "all": 'rm -r "$TOP"',
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def small_wheel(cache: Path) -> Wheel:
    """A wheel as NVIDIA builds them, of one header and one library."""
    wheel = Wheel(
        distribution="nvidia-cudnn-jit-cu13", version="9.27.0.42", tag="manylinux_2_27_x86_64", sha256=""
    )
    info = f"nvidia_cudnn_jit_cu13-{wheel.version}.dist-info"
    files = {
        "nvidia/cudnn_jit/include/cudnn.h": b"#pragma once\n" * 1000,
        "nvidia/cudnn_jit/lib/libcudnn.so.9": bytes(range(256)) * 4000,
        f"{info}/licenses/License.txt": b"LICENSE AGREEMENT\n",
        f"{info}/METADATA": b"Metadata-Version: 2.1\nSummary: cuDNN\n",
    }
    with zipfile.ZipFile(cache / wheel.file_name, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        record = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,\n"]))
    return replace(wheel, sha256=sha256_of(cache / wheel.file_name))


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


@pytest.fixture
def bench(cache: Path, small_wheel: Wheel, tmp_path: Path) -> Bench:
    recipes = {name: Recipe(wheel=small_wheel, kind=kind) for name, kind in KINDS.items()}
    return Bench(
        archives={name: archives.have(recipe, cache) for name, recipe in recipes.items()},
        served=f"{cache.as_uri()}/",
        environment={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
        },
        scratch=tmp_path / "scratch",
        settle=lambda: None,
    )


def experiment(*ways: Way, setup: str = "") -> Experiment:
    return Experiment(name="test", title="Test", ways=ways, setup=setup)


def test_an_archive_once_made_needs_its_wheel_no_more(
    small_wheel: Wheel, cache: Path, tmp_path: Path
) -> None:
    shutil.copy(cache / small_wheel.file_name, tmp_path)
    recipe = Recipe(wheel=small_wheel, kind="tar.xz")
    made = archives.have(recipe, tmp_path)
    (tmp_path / small_wheel.file_name).unlink()

    assert archives.have(recipe, tmp_path) == made


def test_every_way_runs_once_a_round_in_turn(bench: Bench, tmp_path: Path) -> None:
    tell = f'echo "$NAME" >>{tmp_path}/order'
    first, second = (bare(name, tell.replace("$NAME", name)) for name in ("first", "second"))

    costs = bench.run(experiment(first, second), rounds=2)

    assert {name: len(each) for name, each in costs.items()} == {"first": 2, "second": 2}
    assert (tmp_path / "order").read_text(encoding="utf-8").split() == ["first", "second", "first", "second"]


def test_shell_lines_give_what_is_expected_of_them(bench: Bench) -> None:
    costs = bench.run(experiment(SHELL, CURL_ALONE), rounds=1)

    assert [cost.exit_code for each in costs.values() for cost in each] == [0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_ours_gives_what_the_wheel_records(bench: Bench, kind: str) -> None:
    (costs,) = bench.run(experiment(ours(archive=kind, source="$REDIST")), rounds=1).values()

    assert [cost.exit_code for cost in costs] == [0]


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_wrong_result_fails_the_benchmark(bench: Bench, damage: str) -> None:
    wrong = replace(SHELL, line=f"{SHELL.line}; {damage}")

    with pytest.raises(BenchmarkFailed, match=r"its result is wrong\n  .*expected"):
        bench.run(experiment(wrong), rounds=1)


def test_a_failing_way_fails_the_benchmark_and_is_quoted(bench: Bench) -> None:
    with pytest.raises(BenchmarkFailed, match=r"exit 3\n.*\nno luck"):
        bench.run(experiment(bare("unlucky", "echo no luck; exit 3")), rounds=1)


def test_setup_runs_once_and_its_directory_is_shared(bench: Bench) -> None:
    prepared = bare("prepared", 'test "$(cat "$SHARED/made")" = once')

    costs = bench.run(experiment(prepared, setup='echo once >>"$SHARED/made"'), rounds=3)

    assert len(costs["prepared"]) == 3


def test_nothing_is_left_behind(bench: Bench) -> None:
    bench.run(experiment(SHELL), rounds=1)

    assert [path.name for path in bench.scratch.iterdir()] == ["log"]
