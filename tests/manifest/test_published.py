"""The manifests that NVIDIA published, and hand-made look-alikes, read in place from beside the checkout."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from manifest.samples import ask

from cudnn_redist.errors import PlatformNotFound, UsageError, VariantNotFound, VersionNotFound
from cudnn_redist.manifest import Manifest, ReleaseLabel, label_of, newest, select

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLISHED = Path(__file__).parents[3] / "shared" / "manifests"
FILES = sorted(PUBLISHED.glob("*/redistrib_*.json"))
IDS = [f"{file.parent.name}-{file.stem}" for file in FILES]

pytestmark = pytest.mark.skipif(not FILES, reason="no ../shared with NVIDIA's real manifests")


def read(product: str, label: str) -> Manifest:
    file = PUBLISHED / product / f"redistrib_{label}.json"
    return Manifest.parse(file.read_bytes(), origin=str(file))


def rows(name: str) -> list[list[str]]:
    with (PUBLISHED / name).open(newline="", encoding="utf-8") as lines:
        return [row for row in csv.reader(lines, delimiter="\t") if row[0] != "product"]


def walk(node: Any, *above: str) -> Iterator[tuple[tuple[str, ...], str, str | None, int | None]]:  # noqa: ANN401 - any JSON
    """Find every path in a document, whatever the shape, with the keys above it."""
    if not isinstance(node, dict):
        return
    if "relative_path" in node:
        size = node.get("size")
        yield above, node["relative_path"], node.get("sha256"), None if size is None else int(size)
    for key, below in node.items():
        if isinstance(below, str) and below.endswith(".tar.gz") and key != "relative_path":
            yield (above[0], key), below, None, None
        yield from walk(below, *above, key)


def test_there_are_as_many_as_were_collected() -> None:
    handmade = [file for file in FILES if "tensorrt" in file.parent.name]
    assert (len(FILES) - len(handmade), len(handmade)) == (207, 36)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_the_models_list_what_an_independent_walk_finds(file: Path) -> None:
    data = file.read_bytes()
    manifest = Manifest.parse(data, origin=str(file))
    found = {
        (
            tuple(key for key in (archive.component, archive.platform, archive.variant) if key),
            archive.relative_path,
            archive.sha256,
            archive.size,
        )
        for archive in manifest.archives()
    }
    assert found == set(walk(json.loads(data)))
    assert manifest.data == data
    assert manifest.sha256 == hashlib.sha256(data).hexdigest()
    if label := label_of(file.name):
        assert manifest.label == label
    assert not manifest.extra
    assert not any(component.platform_extra for component in manifest.components.values())


def test_the_bytes_are_nvidia_s_where_their_digest_is_known() -> None:
    known = {(product, label): sha256 for product, label, _url, sha256 in rows("known_sha256.tsv")}
    status = {(row[0], row[1]): row[5] for row in rows("PROVENANCE.tsv")}
    both = known.keys() & status.keys()
    same = {key for key in both if read(*key).sha256 == known[key]}
    # Copies whose text had to be rebuilt may differ from NVIDIA's bytes; PROVENANCE.tsv says which do.
    assert both - same == {key for key in status if "DIFFERS" in status[key]}
    assert same >= {key for key in status if "verified" in status[key]}


@pytest.mark.parametrize(
    ("label", "platform", "cuda", "name", "sha256"),
    [
        ("9.27.0", "windows-arm64", "cuda13", "9.27.0.42_cuda13-archive.zip", "c34d906b"),
        ("9.27.0", "windows-arm64", "13", "9.27.0.42_cuda13-archive.zip", "c34d906b"),
        ("9.27.0", "windows-arm64", "13.4", "9.27.0.42_cuda13.4-archive.zip", "1fe473fc"),
        ("8.9.7.29", "linux-x86_64", "cuda12", "8.9.7.29_cuda12-archive.tar.xz", "47533362"),
        *[
            ("9.27.0", "linux-x86_64", spelled, "9.27.0.42_cuda12-archive.tar.xz", "dc45f8c5")
            for spelled in ("12", "12.8", "12.8.1", "cuda12", "cu12", "cu128")
        ],
    ],
)
def test_the_archive_that_is_taken(label: str, platform: str, cuda: str, name: str, sha256: str) -> None:
    archive = select(read("cudnn", label), ask(platform, cuda)).archive
    assert archive.file_name == f"cudnn-{platform}-{name}"
    assert archive.sha256
    assert archive.sha256.startswith(sha256)


@pytest.mark.parametrize(
    ("label", "platform", "cuda", "available"),
    [
        ("9.27.0", "windows-arm64", "cuda12", ("cuda13", "cuda13.4")),
        ("9.20.0", "linux-aarch64", "13", ("cuda12",)),
        ("8.9.7.29", "linux-x86_64", "cuda11", ("cuda12",)),
    ],
)
def test_the_variant_that_is_not_there(
    label: str, platform: str, cuda: str, available: tuple[str, ...]
) -> None:
    with pytest.raises(VariantNotFound) as caught:
        select(read("cudnn", label), ask(platform, cuda))
    assert caught.value.available == available


def test_the_last_label_for_jetson_is_found_among_the_others() -> None:
    elsewhere = [
        read("cudnn", file.stem.removeprefix("redistrib_")) for file in FILES if file.parent.name == "cudnn"
    ]
    with pytest.raises(PlatformNotFound, match=r"last in 9\.20\.0 \(cuda12\)$") as caught:
        select(read("cudnn", "9.22.0"), ask("linux-aarch64"), elsewhere=elsewhere)
    assert caught.value.available == ("linux-sbsa", "linux-x86_64", "windows-x86_64")


def test_a_component_of_two_platforms_lists_them() -> None:
    with pytest.raises(PlatformNotFound) as caught:
        select(read("cudnn", "9.27.0"), ask("windows-x86_64", component="cudnn_jit"))
    assert caught.value.available == ("linux-sbsa", "linux-x86_64")


@pytest.mark.parametrize("platform", ["linux-x86_64", "linux-aarch64", "windows-arm64"])
def test_samples_are_for_any_host(platform: str) -> None:
    archive = select(read("cudnn", "9.27.0"), ask(platform, component="cudnn_samples")).archive
    assert archive.file_name == "cudnn_samples-source-9.27.0.42-archive.tar.xz"


def test_a_four_part_label_is_confirmed_by_the_version_inside() -> None:
    asked = ReleaseLabel.parse("9.13.0.50")
    manifest = read("cudnn", asked.candidates()[-1].text)
    assert select(manifest, ask(version=asked.text)).archive.version == "9.13.0.50"
    with pytest.raises(VersionNotFound, match=r"9\.13\.0\.50, not 9\.13\.0\.99"):
        select(manifest, ask(version="9.13.0.99"))


def labels(product: str) -> set[ReleaseLabel]:
    return {label for file in FILES if file.parent.name == product and (label := label_of(file.name))}


def test_a_two_part_name_may_be_a_full_one() -> None:
    asked = ReleaseLabel.parse("25.1")
    assert asked.candidates()[0] in labels("nvpl")
    assert newest(labels("nvpl"), within=asked) == ReleaseLabel.parse("25.1.1")
    assert str(read("nvpl", "25.1").label) == "25.1"


@pytest.mark.parametrize(("within", "text"), [("9", "9.27.0"), ("9.10", "9.10.2"), (None, "9.27.0")])
def test_the_newest_cudnn(within: str | None, text: str) -> None:
    assert newest(
        labels("cudnn"), within=ReleaseLabel.parse(within) if within else None
    ) == ReleaseLabel.parse(text)


def test_every_cudnn_manifest_has_cudnn_as_its_main_component() -> None:
    for label in labels("cudnn"):
        assert select(read("cudnn", label.text), ask()).component.key == "cudnn"


def test_a_release_of_many_components_asks_for_one() -> None:
    with pytest.raises(UsageError, match=r"and [0-9]+ more; choose one with --component"):
        select(read("cuda", "13.0.2"), ask())
