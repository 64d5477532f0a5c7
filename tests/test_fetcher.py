from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from installing import everything, options

from cudnn_redist import Prefix, fetch
from cudnn_redist.errors import (
    DigestMismatch,
    LabelNotFound,
    ManifestChanged,
    NotAvailableError,
    TransferError,
    UsageError,
    VariantNotFound,
    VersionNotFound,
)

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

HERE = {"platform": "linux-x86_64", "cuda": "13"}
NOBODY_LISTENS = "http://127.0.0.1:1/"


def get(source: object, root: Path, label: str = "9.27.0", **choices: Any) -> Prefix:  # noqa: ANN401
    return fetch(label, sources=[str(source)], root=root, **{**HERE, "options": options(), **choices})


def without_source(root: Path, label: str = "9.27.0", **choices: Any) -> Prefix:  # noqa: ANN401
    """Ask where no source can answer and no manifest is kept."""
    for kept in root.glob(".manifests/*/*.json"):
        kept.unlink()
    return get(NOBODY_LISTENS, root, label, **choices)


def test_a_label_becomes_a_prefix(redist_server: RedistServer, root: Path) -> None:
    prefix = get(redist_server.url, root)
    assert prefix == Prefix.open(root / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
    assert prefix.verify() == ()


@pytest.mark.parametrize(
    ("label", "release", "choices"),
    [
        pytest.param("9.27.0", {}, {}, id="exact"),
        pytest.param("9.27.0.42", {}, {}, id="four-parts-of-a-three-part-label"),
        pytest.param("8.9.7.29", {"label": "8.9.7.29"}, {}, id="four-part-label-flat"),
        pytest.param("25.1", {"label": "25.1"}, {}, id="two-part-label"),
        pytest.param(
            "9.27.0",
            {"components": ("cudnn", "cudnn_samples")},
            {"component": "cudnn_samples"},
            id="samples-for-any-host",
        ),
        pytest.param("9.27.0", {"variants": ()}, {}, id="archive-without-a-variant"),
        pytest.param(
            "9.27.0",
            {"platforms": ("windows-arm64",), "hybrid": {"windows-arm64": "cuda13.4"}},
            {"platform": "windows-arm64", "cuda": "13.4"},
            id="flat-beside-nested",
        ),
    ],
)
def test_what_is_installed_needs_neither_source_nor_manifest(
    redist_tree: RedistTree, root: Path, label: str, release: dict[str, Any], choices: dict[str, str]
) -> None:
    if release:
        redist_tree.add_release(**release)
    first = get(redist_tree.path, root, label, **choices)
    before = everything(first.path)
    assert without_source(root, label, **choices) == first
    assert everything(first.path) == before


@pytest.mark.parametrize(
    ("label", "choices"),
    [
        ("9.27.0", {"cuda": "12"}),
        ("9.27.0", {"platform": "linux-sbsa"}),
        ("9.27.0", {"component": "cudnn_jit"}),
        ("9.26.0", {}),
        ("9.27.0.41", {}),
        ("9.27", {}),
        ("latest", {}),
        ("9.27.0", {"refresh": True}),
        ("9.27.0", {"manifest_sha256": "0" * 64}),
        ("9.27.0", {"options": options(force=True)}),
    ],
    ids=str,
)
def test_what_is_not_certainly_installed_asks_the_source(
    redist_tree: RedistTree, root: Path, label: str, choices: dict[str, Any]
) -> None:
    get(redist_tree.path, root)
    # What another source's manifest, kept here, does not have either is refused for that.
    refused = "component" in choices or label == "9.27.0.41"
    with pytest.raises(NotAvailableError if refused else TransferError):
        without_source(root, label, **choices)


def test_the_kept_manifest_answers_other_questions_about_an_installed_label(
    redist_tree: RedistTree, root: Path
) -> None:
    get(redist_tree.path, root)
    with pytest.raises(VariantNotFound, match="it has cuda12, cuda13") as caught:
        get(NOBODY_LISTENS, root, cuda="14")
    assert caught.value.available == ("cuda12", "cuda13")
    with pytest.raises(VersionNotFound, match=r"9\.27\.0\.42, not 9\.27\.0\.41"):
        get(NOBODY_LISTENS, root, "9.27.0.41")


def test_a_refusal_tells_where_it_was_last(redist_tree: RedistTree, root: Path) -> None:
    """Among the manifests on this disk, at the cost of no request."""
    redist_tree.add_release("9.25.0", variants=("cuda11", "cuda12"))
    get(redist_tree.path, root)
    get(redist_tree.path, root, "9.25.0", cuda="12")
    with pytest.raises(VariantNotFound, match=r"last in 9\.25\.0 \(cuda11\)"):
        get(NOBODY_LISTENS, root, cuda="11")


def test_a_damaged_prefix_is_installed_again(
    redist_server: RedistServer, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prefix = get(redist_server.url, root)
    (prefix.lib_dir / "libcudnn.so.9").unlink()
    read = len(redist_server.requests(".json"))
    assert get(redist_server.url, root).verify() == ()
    assert len([line for line in redist_server.requests(".tar.xz") if line.status == 200]) == 2
    assert len(redist_server.requests(".json")) == read
    assert caplog.text.count("is damaged and is installed again") == 1


def test_a_second_variant_of_an_installed_label_reads_no_manifest_again(
    redist_server: RedistServer, root: Path
) -> None:
    get(redist_server.url, root)
    read = len(redist_server.requests(".json"))
    assert get(redist_server.url, root, cuda="12").record.variant == "cuda12"
    assert len(redist_server.requests(".json")) == read


def test_a_pinned_manifest(redist_server: RedistServer, redist_tree: RedistTree, root: Path) -> None:
    pin = hashlib.sha256(redist_tree.manifest_path("9.27.0").read_bytes()).hexdigest()
    prefix = get(redist_server.url, root, manifest_sha256=pin.upper())
    asked = len(redist_server.log)
    for spelling in (pin, pin.upper()):
        assert get(redist_server.url, root, manifest_sha256=spelling) == prefix
    assert len(redist_server.log) == asked
    with pytest.raises(ManifestChanged) as caught:
        get(redist_server.url, root, manifest_sha256="0" * 64)
    assert (caught.value.expected, caught.value.actual) == ("0" * 64, pin)
    assert prefix.verify() == ()


def test_another_manifest_than_the_pinned_one_fetches_nothing(
    redist_server: RedistServer, root: Path
) -> None:
    with pytest.raises(ManifestChanged):
        get(redist_server.url, root, manifest_sha256="0" * 64)
    assert redist_server.requests(".tar.xz") == []
    assert not root.exists()


def test_refresh_tells_a_changed_label_and_leaves_the_prefix(
    redist_tree: RedistTree, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C71."""
    prefix = get(redist_tree.path, root)
    before = everything(prefix.path)
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    assert get(redist_tree.path, root) == prefix
    assert "changed" not in caplog.text
    assert get(redist_tree.path, root, refresh=True) == prefix
    assert "label 9.27.0 changed at its source" in caplog.text
    assert everything(prefix.path) == before


def test_force_reads_the_manifest_again_and_replaces(
    redist_tree: RedistTree, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = get(redist_tree.path, root)
    redist_tree.add_release("9.27.0", version="9.27.0.43")
    new = get(redist_tree.path, root, options=options(force=True))
    assert (new.path, new.record.version) == (old.path, "9.27.0.43")
    assert new.verify() == ()
    assert "label 9.27.0 changed at its source" in caplog.text
    assert without_source(root, "9.27.0.43") == new


def test_a_rerun_after_a_wrong_manifest_takes_the_mended_one(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    """C07: a manifest is kept only with an install that it verified."""
    good = redist_tree.manifest_path("9.27.0").read_bytes()
    redist_tree.edit_manifest(
        "9.27.0", lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(sha256="0" * 64)
    )
    with pytest.raises(DigestMismatch):
        get(redist_server.url, root)
    redist_tree.manifest_path("9.27.0").write_bytes(good)
    assert get(redist_server.url, root).verify() == ()


def test_server_and_jetson_in_one_root(redist_tree: RedistTree, root: Path) -> None:
    """C17: neither satisfies nor overwrites the other."""
    redist_tree.add_release("9.27.0", platforms=("linux-sbsa", "linux-aarch64"), variants=("cuda12",))
    server = get(redist_tree.path, root, platform="linux-sbsa", cuda="12")
    jetson = get(redist_tree.path, root, platform="linux-aarch64", cuda="12")
    assert [server.record.platform, jetson.record.platform] == ["linux-sbsa", "linux-aarch64"]
    assert server.path != jetson.path
    assert server.verify() == jetson.verify() == ()


def test_a_relative_root_gives_absolute_paths(
    redist_tree: RedistTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    relative = fetch("9.27.0", sources=[str(redist_tree.path)], root="third_party", **HERE)
    assert relative.path == tmp_path / "third_party/cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert fetch("9.27.0", sources=[NOBODY_LISTENS], root="third_party", **HERE) == relative


def test_the_default_root_is_the_users(
    redist_tree: RedistTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDNN_REDIST_ROOT", str(tmp_path / "mine"))
    prefix = fetch("9.27.0", sources=[str(redist_tree.path)], **HERE)
    assert prefix.path.is_relative_to(tmp_path / "mine")
    assert fetch("9.27.0", sources=[NOBODY_LISTENS], **HERE) == prefix


def test_what_makes_no_sense_is_told_before_anything_is_asked(
    redist_server: RedistServer, root: Path
) -> None:
    for words in ({"cuda": "newest"}, {"platform": "Linux"}, {"component": ""}, {"product": "../x"}):
        with pytest.raises(UsageError):
            get(redist_server.url, root, **words)
    with pytest.raises(LabelNotFound):
        get(redist_server.url, root, "9.99.0")
    assert {request.path.rpartition("/")[2] for request in redist_server.log} == {"redistrib_9.99.0.json"}
