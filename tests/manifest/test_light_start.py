from __future__ import annotations

import subprocess
import sys

import pytest

from cudnn_redist import manifest

HEAVY = ("pydantic", "pydantic_core", "httpx", "tqdm", "zstandard")


@pytest.mark.parametrize("module", ["labels", "targets", "choosing", "selection", "__init__"])
def test_the_light_half_starts_without_pydantic(module: str) -> None:
    program = (
        f"import sys, cudnn_redist.manifest.{module}\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", manifest.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(manifest, name) is not None


def test_the_models_are_resolved_late_and_are_the_real_ones() -> None:
    assert manifest.Manifest.__module__ == "cudnn_redist.manifest.models"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        manifest.nope  # type: ignore[attr-defined]  # noqa: B018 - asking is the test
