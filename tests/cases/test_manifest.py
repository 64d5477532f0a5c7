"""Cases of the kind "manifest": every shape that NVIDIA publishes is read, and what it lacks is told."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from cases.ground import LABEL, MANIFEST
from redist.command import run_command

from cudnn_redist import Manifest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cases.ground import Fetch
    from redist import RedistTree

    Node = dict[str, Any]
    Edit = Callable[[Node], object]


def digest(tree: RedistTree, platform: str, variant: str) -> str:
    """Return the sha256 of the archive's file."""
    return hashlib.sha256(tree.archive_path(LABEL, "cudnn", platform, variant).read_bytes()).hexdigest()


def listed(tree: RedistTree, product: str = "cudnn", label: str = LABEL) -> dict[str, dict[str, list[Any]]]:
    """Return what ``list LABEL`` tells: component -> platform -> variants."""
    done = run_command("list", label, "--product", product, "--source", tree.path, "--json")
    assert done.code == 0, done.err
    found: dict[str, dict[str, list[Any]]] = {}
    for component in json.loads(done.out)["components"]:
        platforms = found.setdefault(component["component"], {})
        for archive in component["archives"]:
            platforms.setdefault(archive["platform"], []).append(archive["variant"])
    return found


@pytest.fixture
def hybrid_tree(redist_tree: RedistTree) -> RedistTree:
    """As 9.27.0 really is: on Windows for Arm a flat archive for CUDA 13.4 beside the nested one for CUDA 13."""
    platforms = ("linux-x86_64", "windows-arm64")
    redist_tree.add_release(LABEL, platforms=platforms, hybrid={"windows-arm64": "cuda13.4"})
    return redist_tree


@pytest.mark.parametrize(
    ("platform", "cuda", "variant"),
    [
        ("windows-arm64", "13", "cuda13"),
        ("windows-arm64", "13.4", "cuda13.4"),
        ("windows-arm64", "13.5", "cuda13"),
        ("linux-x86_64", "13.4", "cuda13"),
    ],
)
def test_C01_the_flat_and_the_nested_archive_of_a_hybrid_are_two(
    hybrid_tree: RedistTree, fetch_local: Fetch, platform: str, cuda: str, variant: str
) -> None:
    prefix = fetch_local.installed(LABEL, "--platform", platform, "--cuda", cuda)
    assert prefix.path.parts[-2:] == (platform, variant)
    assert prefix.record.archive_sha256 == digest(hybrid_tree, platform, variant)


def test_C01_a_bare_major_never_gets_the_flat_archive_of_a_minor(
    hybrid_tree: RedistTree, fetch_local: Fetch
) -> None:
    hybrid_tree.edit_manifest(LABEL, lambda node: node["cudnn"]["windows-arm64"].pop("cuda13"))
    told = fetch_local.refused(3, LABEL, "--platform", "windows-arm64", "--cuda", "13")
    assert "no archive for CUDA 13" in told
    assert "cuda13.4" in told


@pytest.fixture
def cutensor(redist_tree: RedistTree) -> RedistTree:
    """Flat in 2.2.0, nested in 2.3.0, and in 2.4.0 one platform of each."""
    tree = type(redist_tree)(redist_tree.path, "cutensor")
    tree.add_release("2.2.0", layout="flat", variants=())
    tree.add_release("2.3.0", layout="nested")
    tree.add_release("2.4.0", layout="nested")
    flat = tree.manifest("2.2.0")["cutensor"]["linux-sbsa"]
    tree.edit_manifest("2.4.0", lambda node: node["cutensor"].update({"linux-sbsa": flat}))
    return tree


@pytest.mark.parametrize(
    ("label", "platform", "place"),
    [
        ("2.2.0", "linux-x86_64", "linux-x86_64"),
        ("2.3.0", "linux-x86_64", "linux-x86_64/cuda13"),
        ("2.4.0", "linux-x86_64", "linux-x86_64/cuda13"),
        ("2.4.0", "linux-sbsa", "linux-sbsa"),
    ],
)
@pytest.mark.usefixtures("cutensor")
def test_C02_flat_and_nested_are_read_alike_by_platform(
    fetch_local: Fetch, label: str, platform: str, place: str
) -> None:
    prefix = fetch_local.installed(label, "--product", "cutensor", "--platform", platform)
    assert prefix.path == fetch_local.root / "cutensor" / label / "cutensor" / place


@pytest.mark.usefixtures("cutensor")
def test_C02_a_nested_entry_tells_its_variants(fetch_local: Fetch) -> None:
    told = fetch_local.refused(3, "2.3.0", "--product", "cutensor", "--cuda", "11")
    assert "it has cuda12, cuda13" in told


@pytest.mark.parametrize(
    "others", [{}, {"linux-aarch64": {}, "linux-sbsa": {}}], ids=["missing", "empty objects"]
)
def test_C04_a_platform_without_archives_fails_only_who_asks_for_it(
    redist_tree: RedistTree, fetch_local: Fetch, others: Node
) -> None:
    redist_tree.add_release(LABEL, platforms=("linux-x86_64",))
    redist_tree.edit_manifest(LABEL, lambda node: node["cudnn"].update(others))
    assert listed(redist_tree)["cudnn"] == {"linux-x86_64": ["cuda12", "cuda13"]}
    told = fetch_local.refused(3, LABEL, "--platform", "linux-sbsa")
    assert "no archive for linux-sbsa (given); it has linux-x86_64" in told
    fetch_local.installed()


@pytest.fixture
def uneven_tree(redist_tree: RedistTree) -> RedistTree:
    """Three components, of which the newer ones serve fewer platforms."""
    platforms = ("linux-x86_64", "linux-sbsa", "windows-x86_64", "windows-arm64")
    served = {"cudnn": platforms, "cudnn_jit": platforms[:2], "newthing": platforms[:1]}

    def thin_out(node: Node) -> None:
        for component, kept in served.items():
            for platform in set(platforms) - set(kept):
                del node[component][platform]

    redist_tree.add_release(LABEL, components=tuple(served), platforms=platforms)
    redist_tree.edit_manifest(LABEL, thin_out)
    return redist_tree


@pytest.mark.usefixtures("uneven_tree")
def test_C05_a_component_of_some_platforms_says_which(fetch_local: Fetch) -> None:
    words = ("--component", "cudnn_jit", "--platform")
    told = fetch_local.refused(3, LABEL, *words, "windows-x86_64")
    assert "cudnn_jit" in told
    assert "it has linux-sbsa, linux-x86_64" in told
    fetch_local.installed(LABEL, *words, "linux-sbsa")


@pytest.mark.usefixtures("uneven_tree")
def test_C05_an_unknown_component_says_which_there_are(fetch_local: Fetch) -> None:
    told = fetch_local.refused(3, LABEL, "--component", "cuda_cccl")
    assert "there are cudnn, cudnn_jit, newthing" in told


@pytest.mark.usefixtures("uneven_tree")
def test_C05_without_words_the_main_library_alone_is_fetched(fetch_local: Fetch) -> None:
    prefix = fetch_local.installed()
    assert prefix.record.component == "cudnn"
    assert [path.name for path in (fetch_local.root / "cudnn" / LABEL).iterdir()] == ["cudnn"]


def rearranged(*first: str) -> Edit:
    """Put these keys of the component first, in their order."""

    def edit(node: Node) -> None:
        before = node["cudnn"]
        node["cudnn"] = {key: before[key] for key in first} | before

    return edit


def without_variant_list(node: Node) -> None:
    del node["cudnn"]["cuda_variant"]


def with_integer_sizes(node: Node) -> None:
    for platform in node["cudnn"].values():
        if isinstance(platform, dict):
            for archive in platform.values():
                archive["size"] = int(archive["size"])


@pytest.mark.parametrize(
    "edit",
    [
        rearranged("name", "cuda_variant", "linux-x86_64"),
        rearranged("name", "linux-x86_64", "cuda_variant", "linux-sbsa"),
        rearranged("windows-x86_64", "version", "linux-sbsa", "license"),
        without_variant_list,
        with_integer_sizes,
    ],
    ids=["as 8.9", "as 9.x", "platform first", "no variant list", "integer sizes"],
)
def test_C06_order_and_types_of_what_stands_among_platforms_do_not_matter(
    redist_tree: RedistTree, fetch_local: Fetch, edit: Edit
) -> None:
    redist_tree.edit_manifest(LABEL, edit)
    both = ["cuda12", "cuda13"]
    assert listed(redist_tree)["cudnn"] == dict.fromkeys(
        ("linux-x86_64", "linux-sbsa", "windows-x86_64"), both
    )
    prefix = fetch_local.installed()
    assert prefix.record.archive_size == redist_tree.archive_path(LABEL).stat().st_size


@pytest.mark.parametrize("platform", ["linux-x86_64", "windows-arm64", "source"])
def test_C06_what_is_published_as_source_serves_every_platform(
    redist_tree: RedistTree, fetch_local: Fetch, platform: str
) -> None:
    redist_tree.add_release(LABEL, components=("cudnn", "cudnn_samples"))
    words = ("--component", "cudnn_samples", "--platform", platform)
    prefix = fetch_local.installed(LABEL, *words)
    assert prefix.path == fetch_local.root / "cudnn" / LABEL / "cudnn_samples/source"


UNKNOWN = {
    "url": "https://docs.example/9.27",
    "number": 7,
    "nothing": None,
    "list": ["a", {"b": 1}],
    "support": {"eol": "2027"},
    "deeper": {"linux-x86_64": {"eol": "2027"}},
}


def test_C09_unknown_fields_are_kept_and_change_nothing(redist_tree: RedistTree, fetch_local: Fetch) -> None:
    def grow(node: Node) -> None:
        for level in (node, node["cudnn"], node["cudnn"]["linux-x86_64"]["cuda13"]):
            level.update(UNKNOWN)

    known = listed(redist_tree)
    path = redist_tree.edit_manifest(LABEL, grow)
    assert listed(redist_tree) == known
    fetch_local.installed()

    (kept,) = (fetch_local.root / ".manifests").rglob(MANIFEST)
    assert kept.read_bytes() == path.read_bytes()
    manifest = Manifest.parse(kept.read_bytes(), origin=str(kept))
    component = manifest.components["cudnn"]
    (archive,) = (each for each in component.platforms["linux-x86_64"] if each.variant == "cuda13")
    assert manifest.extra == component.extra == archive.extra == UNKNOWN


def test_C09_the_tools_own_words_are_strict(fetch_local: Fetch) -> None:
    assert "--release-notes" in fetch_local.refused(2, LABEL, "--release-notes", "x")
