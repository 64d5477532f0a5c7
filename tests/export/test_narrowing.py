"""What of a lock is exported: by label, component, platform and CUDA, as a fetch by it would understand them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from locking.ground import locked, places
from redist import RedistTree

from cudnn_redist import Lock, errors
from cudnn_redist.export.narrowing import narrowed
from cudnn_redist.locking.making import choice

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Lock:
    """Two releases of cuDNN, one with a minor of CUDA, samples and no variants for them, and one of cuTENSOR."""
    folder = tmp_path_factory.mktemp("tree")
    tree = RedistTree(folder)
    tree.add_release("9.26.0", platforms=("linux-x86_64",))
    tree.add_release(
        "9.27.0",
        components=("cudnn", "cudnn_jit", "cudnn_samples"),
        platforms=("linux-x86_64", "linux-sbsa", "windows-arm64"),
        variants=("cuda12", "cuda13"),
        hybrid={"windows-arm64": "cuda13.4"},
    )
    RedistTree(folder, product="cutensor").add_release("2.3.0", components=("libcutensor",))
    root = folder / "root"
    two = locked(folder, root, "9.26.0", "9.27")
    return two.with_releases(locked(folder, root, "2.3.0", product="cutensor").releases)


def narrow(lock: Lock, *labels: str, product: str | None = None, **choices: Any) -> Lock:  # noqa: ANN401
    return narrowed(lock, labels, choice(**choices), product=product, origin="FILE")


def test_without_a_choice_the_main_component_of_every_release(lock: Lock) -> None:
    found = narrow(lock)
    assert [release.name for release in found.releases] == ["cudnn 9.26.0", "cudnn 9.27.0", "cutensor 2.3.0"]
    assert {archive.component for archive in found.releases[1].archives} == {"cudnn"}
    assert len(found.releases[2].archives) == len(lock.releases[2].archives)


def test_the_components_that_the_lock_was_made_for(lock: Lock, tmp_path: Path) -> None:
    tree = RedistTree(tmp_path)
    tree.add_release("9.27.0", components=("cudnn", "cudnn_jit"), platforms=("linux-x86_64",))
    made = locked(tmp_path, tmp_path / "root", component="cudnn_jit", cuda="13")
    assert places(narrow(made)) == ["cudnn_jit linux-x86_64 cuda13"]
    assert lock.releases != made.releases


@pytest.mark.parametrize("label", ["9.27.0", "9.27", "9", "latest", "9.27.0.42"])
def test_a_label_names_a_release(lock: Lock, label: str) -> None:
    found = narrow(lock, label, product="cudnn")
    assert [release.name for release in found.releases] == ["cudnn 9.27.0"]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        pytest.param(
            {"platform": "linux-x86_64", "cuda": "13.1"}, ["cudnn linux-x86_64 cuda13"], id="a-minor"
        ),
        pytest.param(
            {"platform": "linux/amd64", "cuda": "cu128"}, ["cudnn linux-x86_64 cuda12"], id="as-builders"
        ),
        pytest.param(
            {"platform": "windows-arm64", "cuda": ["13", "13.4"]},
            ["cudnn windows-arm64 cuda13", "cudnn windows-arm64 cuda13.4"],
            id="two-cudas",
        ),
        pytest.param(
            {"component": ["cudnn_jit", "cudnn_samples"], "platform": "linux-sbsa", "cuda": "12"},
            ["cudnn_jit linux-sbsa cuda12", "cudnn_samples source"],
            id="what-serves-every-host",
        ),
    ],
)
def test_a_choice(lock: Lock, choices: dict[str, Any], expected: list[str]) -> None:
    found = narrow(lock, "9.27", **choices)
    assert places(found) == expected
    assert Lock.parse(found.to_bytes(), origin="again") == found


@pytest.mark.parametrize(
    ("labels", "choices", "error", "says"),
    [
        pytest.param(["9.28.0"], {}, errors.LabelNotFound, "the lock has no 9.28.0", id="label"),
        pytest.param([], {"product": "cuda"}, errors.LabelNotFound, "the lock has no cuda", id="product"),
        pytest.param(["9.27.0.41"], {}, errors.ComponentNotFound, "the lock has no 9.27.0.41", id="version"),
        pytest.param(
            ["9.26.0"], {"component": "cudnn_jit"}, errors.ComponentNotFound, "it has cudnn", id="component"
        ),
        pytest.param(
            ["9.26.0"], {"platform": "linux-sbsa"}, errors.PlatformNotFound, "has linux-x86_64", id="platform"
        ),
        pytest.param(
            ["9.26.0"], {"cuda": "11"}, errors.VariantNotFound, "it has cuda12, cuda13", id="variant"
        ),
    ],
)
def test_what_the_lock_does_not_have(
    lock: Lock, labels: list[str], choices: dict[str, Any], error: type[errors.NotAvailableError], says: str
) -> None:
    with pytest.raises(error, match=re.escape(says)) as caught:
        narrow(lock, *labels, **choices)
    assert caught.value.where == "FILE"
