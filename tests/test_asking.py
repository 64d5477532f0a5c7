from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cudnn_redist.asking import ask, parse_label, plain_product
from cudnn_redist.errors import UsageError
from cudnn_redist.host import Machine
from cudnn_redist.manifest import CudaVariant, ReleaseLabel

if TYPE_CHECKING:
    from pathlib import Path

CHOSEN = {"platform": "linux-x86_64", "cuda": "13"}


def test_what_is_given_needs_no_host() -> None:
    asked = ask("9.27.0", component="cudnn_jit", platform="windows-arm64", cuda="13.4")
    assert (asked.product, asked.label) == ("cudnn", ReleaseLabel.parse("9.27.0"))
    (query,) = asked.queries
    assert (query.component, query.platforms, query.platform_reason) == (
        "cudnn_jit",
        ("windows-arm64",),
        "given",
    )
    assert (query.cuda, query.cuda_reason, query.runnable) == (CudaVariant(13, 4), "given", None)
    assert query.version is None


def test_several_of_each_are_every_combination() -> None:
    asked = ask(
        "9.27.0",
        component=["cudnn", "cudnn_jit"],
        platform=("linux-x86_64", "linux-sbsa"),
        cuda=["12", "13"],
    )
    combinations = [(query.component, query.platforms, query.cuda) for query in asked.queries]
    assert len(combinations) == len(set(combinations)) == 8
    assert combinations[0] == ("cudnn", ("linux-x86_64",), CudaVariant(12))


def test_a_component_that_is_not_given_is_the_manifests_main_one() -> None:
    assert ask("9.27.0", **CHOSEN).queries[0].component is None
    assert ask("9.27.0", component=[], **CHOSEN).queries[0].component is None


def test_a_spelling_with_two_meanings_stays_one_query() -> None:
    (query,) = ask("9.27.0", platform="linux/arm64", cuda="12").queries
    assert query.platforms == ("linux-sbsa", "linux-aarch64")


def test_a_version_from_inside_a_manifest_must_be_found_there() -> None:
    (query,) = ask("9.27.0.42", **CHOSEN).queries
    assert query.version == ReleaseLabel.parse("9.27.0.42")


def test_the_latest_has_no_label_yet() -> None:
    assert ask("latest", **CHOSEN).label is None
    assert parse_label("latest") is None
    assert parse_label("9.27") == ReleaseLabel.parse("9.27")


@pytest.mark.parametrize(
    "words",
    [
        {"label": "v9"},
        {"label": ""},
        {"label": "9.27.0/../x"},
        {"product": "../etc"},
        {"product": ""},
        {"product": "CUDNN"},
        {"component": ""},
        {"component": "a/b"},
        {"component": ["cudnn", "a**b"]},
        {"component": ".."},
        {"platform": "Linux x86"},
        {"platform": ""},
        {"cuda": ""},
        {"cuda": "newest"},
        {"cuda": "1280"},
    ],
    ids=str,
)
def test_words_that_make_no_sense(words: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        ask(**{"label": "9.27.0", **CHOSEN, **words})


@pytest.mark.parametrize("name", ["cudnn", "cuda", "nvidia-driver", "cudnn_jit", "nvpl"])
def test_products_by_their_plain_names(name: str) -> None:
    assert plain_product(name) == name


def test_the_toolkit_of_this_machine_decides_its_major(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "version.txt").write_text("CUDA Version 12.8.1")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    (query,) = ask("9.27.0", platform="linux-x86_64").queries
    assert query.cuda == CudaVariant(12)
    assert query.cuda_reason == f"the toolkit of CUDA_PATH {tmp_path} (12.8)"
    (given,) = ask("9.27.0", platform="linux-x86_64", cuda="13").queries
    assert (given.cuda, given.cuda_reason) == (CudaVariant(13), "given")


def machine(root: Path, driver: CudaVariant | None = None, system: str = "Linux") -> Machine:
    """A machine without any CUDA but, perhaps, a driver."""
    return Machine(system=system, machine="x86_64", root=root, environ={}, driver=lambda: driver)


def test_without_a_toolkit_the_driver_limits_the_choice(tmp_path: Path) -> None:
    (query,) = ask("9.27.0", machine=machine(tmp_path, CudaVariant(12, 8))).queries
    assert (query.cuda, query.runnable) == (None, CudaVariant(12, 8))
    assert query.cuda_reason == "no toolkit found, the driver runs cuda12.8"


def test_without_toolkit_and_driver_the_newest_is_told_as_such(tmp_path: Path) -> None:
    (query,) = ask("9.27.0", machine=machine(tmp_path)).queries
    assert (query.cuda, query.runnable) == (None, None)
    assert query.cuda_reason == "no toolkit and no driver found"


def test_a_platform_that_is_not_given_is_the_machines(tmp_path: Path) -> None:
    (query,) = ask("9.27.0", cuda="13", machine=machine(tmp_path)).queries
    assert query.platforms == ("linux-x86_64",)
    assert query.platform_reason == "this machine (Linux x86_64)"
    with pytest.raises(UsageError, match="--platform"):
        ask("9.27.0", cuda="13", machine=machine(tmp_path, system="Darwin"))
