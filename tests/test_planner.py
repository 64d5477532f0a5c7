from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cudnn_redist import Manifest, Plan, labels, plan
from cudnn_redist.asking import ask
from cudnn_redist.errors import (
    ManifestError,
    PlatformNotFound,
    UsageError,
    VariantNotFound,
    VersionNotFound,
)
from cudnn_redist.layout import Layout
from cudnn_redist.locations import folders
from cudnn_redist.planner import make_plan

if TYPE_CHECKING:
    from redist import RedistTree

ROOT = Path("/opt/redist")
SOURCE = "https://mirror.example/redist/"


def planned(
    tree: RedistTree,
    *,
    label: str = "9.27.0",
    sources: tuple[str, ...] = (SOURCE,),
    elsewhere: tuple[str, ...] = (),
    **choices: Any,  # noqa: ANN401 - what ``ask`` takes
) -> Plan:
    asked = ask(label, **{"platform": "linux-x86_64", "cuda": "13", **choices})
    return make_plan(
        parsed(tree, label),
        asked.queries,
        label=label,
        folders=[folder for source in sources for folder in folders(source, "cudnn")],
        layout=Layout(ROOT),
        product="cudnn",
        elsewhere=[parsed(tree, other) for other in elsewhere],
    )


def parsed(tree: RedistTree, label: str) -> Manifest:
    path = tree.manifest_path(label)
    return Manifest.parse(path.read_bytes(), origin=str(path), label=labels_of(label))


def labels_of(label: str) -> Any:  # noqa: ANN401
    asked = ask(label, platform="linux-x86_64", cuda="13")
    return asked.label


def test_a_plan_says_all_that_will_be_done(redist_tree: RedistTree) -> None:
    made = planned(redist_tree)
    entry = redist_tree.manifest("9.27.0")["cudnn"]["linux-x86_64"]["cuda13"]
    (archive,) = made.archives
    assert archive.urls == (SOURCE + entry["relative_path"],)
    assert archive.sha256 == archive.expected.sha256 == entry["sha256"]
    assert archive.size == archive.expected.size == made.download_size == int(entry["size"])
    assert archive.prefix == ROOT / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert archive.name == "cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
    assert archive.version == "9.27.0.42"
    assert made.disk_size == archive.size + archive.unpacked_estimate > 3 * archive.size
    assert made.manifest_data == redist_tree.manifest_path("9.27.0").read_bytes()
    assert made.reasons == ("platform linux-x86_64: given", "cuda13: given")
    assert archive.offered == dict.fromkeys(
        ("linux-x86_64", "linux-sbsa", "windows-x86_64"), ("cuda12", "cuda13")
    )


def test_urls_follow_the_order_of_the_sources(redist_tree: RedistTree) -> None:
    (archive,) = planned(
        redist_tree, sources=("https://a.example/redist", "https://b.example/x/redist/?t=1")
    ).archives
    assert archive.urls == (
        f"https://a.example/redist/{archive.relative_path}",
        f"https://b.example/x/redist/{archive.relative_path}?t=1",
    )


def test_every_choice_has_a_prefix_of_its_own(redist_tree: RedistTree) -> None:
    redist_tree.add_release("9.27.0", components=("cudnn", "cudnn_jit", "cudnn_samples"))
    made = planned(
        redist_tree,
        component=["cudnn", "cudnn_jit"],
        platform=["linux-x86_64", "linux-sbsa"],
        cuda=["12", "13"],
    )
    assert len({archive.prefix for archive in made.archives}) == len(made.archives) == 8
    assert made.download_size == sum(archive.size or 0 for archive in made.archives)


def test_questions_with_one_answer_are_one_archive(redist_tree: RedistTree) -> None:
    redist_tree.add_release("9.27.0", components=("cudnn", "cudnn_samples"))
    made = planned(
        redist_tree, component="cudnn_samples", platform=["linux-x86_64", "linux-sbsa"], cuda=["12", "13"]
    )
    (archive,) = made.archives
    assert archive.prefix == ROOT / "cudnn/9.27.0/cudnn_samples/source"
    assert archive.variant is None
    assert len(planned(redist_tree, cuda=["13", "13.0", "cu13"]).archives) == 1


@pytest.mark.parametrize("cuda", ["12", "12.8", "12.8.1", "cuda12", "cu12", "cu128"])
def test_a_full_cuda_version_finds_its_major(redist_tree: RedistTree, cuda: str) -> None:
    (archive,) = planned(redist_tree, cuda=cuda).archives
    assert archive.variant == "cuda12"


def test_jetson_and_server_are_two_platforms(redist_tree: RedistTree) -> None:
    redist_tree.add_release("9.27.0", platforms=("linux-sbsa", "linux-aarch64"))
    made = planned(redist_tree, platform=["linux-sbsa", "linux-aarch64"])
    assert [archive.platform for archive in made.archives] == ["linux-sbsa", "linux-aarch64"]
    assert made.archives[0].prefix != made.archives[1].prefix
    assert made.archives[0].sha256 != made.archives[1].sha256


def test_arm_is_told_apart_by_the_manifest_and_the_cuda(redist_tree: RedistTree) -> None:
    redist_tree.add_release("9.27.0", platforms=("linux-sbsa", "linux-aarch64"))
    redist_tree.edit_manifest("9.27.0", lambda node: node["cudnn"]["linux-aarch64"].pop("cuda13"))
    (archive,) = planned(redist_tree, platform="linux/arm64", cuda="13").archives
    assert archive.platform == "linux-sbsa"
    with pytest.raises(UsageError, match="linux-sbsa or linux-aarch64"):
        planned(redist_tree, platform="linux/arm64", cuda="12")


def test_what_is_not_there_is_told_with_where_it_was_last(redist_tree: RedistTree) -> None:
    redist_tree.add_release("9.25.0", variants=("cuda11", "cuda12"))
    with pytest.raises(
        VariantNotFound, match=r"it has cuda12, cuda13; last in 9\.25\.0 \(cuda11\)"
    ) as caught:
        planned(redist_tree, cuda="11", elsewhere=("9.25.0", "9.26.0"))
    assert caught.value.available == ("cuda12", "cuda13")
    with pytest.raises(PlatformNotFound) as missing:
        planned(redist_tree, platform="linux-aarch64")
    assert missing.value.available == ("linux-sbsa", "linux-x86_64", "windows-x86_64")


def test_the_version_inside_must_be_the_one_asked_for(redist_tree: RedistTree) -> None:
    asked = ask("9.27.0.99", platform="linux-x86_64", cuda="13")
    with pytest.raises(VersionNotFound, match=r"9\.27\.0\.42, not 9\.27\.0\.99"):
        make_plan(
            parsed(redist_tree, "9.27.0"),
            asked.queries,
            label="9.27.0",
            folders=folders(SOURCE, "cudnn"),
            layout=Layout(ROOT),
            product="cudnn",
        )


@pytest.mark.parametrize("path", ["/etc/x.tar.xz", "http://evil.example/x.tar.xz", "//evil.example/x"])
def test_a_path_that_must_not_be_followed(redist_tree: RedistTree, path: str) -> None:
    def edit(node: dict[str, Any]) -> None:
        node["cudnn"]["linux-x86_64"]["cuda13"]["relative_path"] = path

    redist_tree.edit_manifest("9.27.0", edit)
    with pytest.raises(ManifestError):
        planned(redist_tree)


def test_an_archive_without_sha256_is_planned_but_promises_nothing(redist_tree: RedistTree) -> None:
    redist_tree.edit_manifest("9.27.0", lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].pop("sha256"))
    (archive,) = planned(redist_tree, sources=("https://me:secret@mirror.example/redist/",)).archives
    assert archive.sha256 is None
    with pytest.raises(ManifestError, match="no sha256") as caught:
        assert archive.expected
    assert caught.value.where == f"https://mirror.example/redist/{archive.relative_path}"


def test_the_oldest_manifests_tell_no_size(redist_tree: RedistTree) -> None:
    redist_tree.add_release("7.1.1", layout="oldest")
    made = planned(redist_tree, label="7.1.1")
    assert (made.archives[0].size, made.download_size, made.disk_size) == (None, 0, 0)


def test_the_same_plan_under_another_root(redist_tree: RedistTree) -> None:
    made = planned(redist_tree)
    moved = made.under(Path("/elsewhere"))
    assert moved.archives[0].prefix == Path("/elsewhere/cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
    assert moved.layout == Layout(Path("/elsewhere"))
    assert moved.archives[0].urls == made.archives[0].urls
    assert made.archives[0].prefix.is_relative_to(ROOT)


def test_one_directory_holds_one_archive(redist_tree: RedistTree) -> None:
    assert planned(redist_tree).into(Path("/exact")).archives[0].prefix == Path("/exact")
    with pytest.raises(UsageError, match="this asks for 2"):
        planned(redist_tree, cuda=["12", "13"]).into(Path("/exact"))


def test_planning_writes_nothing(redist_tree: RedistTree, tmp_path: Path) -> None:
    root = tmp_path / "root"
    made = plan("9.27.0", platform="linux-x86_64", cuda="13", sources=[str(redist_tree.path)], root=root)
    assert made.archives[0].urls[0] == redist_tree.archive_path("9.27.0").as_uri()
    assert [label.text for label in labels(sources=[str(redist_tree.path)], root=root)] == [
        "9.26.0",
        "9.27.0",
    ]
    assert not root.exists()
