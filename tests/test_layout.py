from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cudnn_redist.layout import (
    ASIDE_PATTERN,
    RECORD_NAME,
    STAGE_PATTERN,
    Layout,
    aside_path,
    stage_path,
    stored_archive,
)

if TYPE_CHECKING:
    import pytest

ROOT = Path("/opt/redist")
URL = "https://mirror.example/redist/redistrib_9.27.0.json"
SHA256 = "ab" * 32


def test_a_prefix_lies_in_the_manifests_own_order() -> None:
    layout = Layout(ROOT)
    path = layout.prefix("cudnn", "9.27.0", "cudnn_jit", "linux-sbsa", "cuda13")
    assert path == ROOT / "cudnn/9.27.0/cudnn_jit/linux-sbsa/cuda13"
    flat = layout.prefix("cudnn", "9.27.0", "cudnn_samples", "source", None)
    assert flat == ROOT / "cudnn/9.27.0/cudnn_samples/source"


def test_what_is_no_prefix_begins_with_a_dot() -> None:
    layout = Layout(ROOT)
    below = [layout.kept_manifest("cudnn", URL), layout.turn(SHA256), layout.partials, layout.log]
    assert [path.relative_to(ROOT).parts[0] for path in below] == [
        ".manifests",
        ".turns",
        ".partial",
        ".log.jsonl",
    ]
    assert layout.kept_manifest("cudnn", URL).name == "redistrib_9.27.0.json"
    assert layout.kept_manifest("cudnn", URL).parent.parent == layout.kept_manifests("cudnn")
    assert layout.kept_manifest("cudnn", URL) != layout.kept_manifest("cudnn", f"{URL}/../x/{URL[-21:]}")


def test_a_stage_and_an_old_prefix_lie_beside_the_target_under_names_that_are_swept() -> None:
    target = ROOT / "cudnn/9.27.0/cudnn/linux-sbsa/cuda13"
    for path, pattern in (
        (stage_path(target, "abc"), STAGE_PATTERN),
        (aside_path(target, "abc"), ASIDE_PATTERN),
    ):
        assert path.parent == target.parent
        assert path.match(pattern)
        assert path.name.startswith(".")
    assert not target.match(STAGE_PATTERN)
    assert RECORD_NAME.startswith(".")


def test_a_store_is_addressed_by_content() -> None:
    assert stored_archive(ROOT, SHA256) == ROOT / "sha256" / "ab" / SHA256


def test_paths_outlive_a_change_of_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    layout = Layout(Path("third_party"))
    os.chdir("/")
    assert layout.root == tmp_path / "third_party"
    assert layout == Layout(tmp_path / "third_party")
