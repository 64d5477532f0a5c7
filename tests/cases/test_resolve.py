"""Cases of the kind "resolve": from what a user asks for to one archive, and to its URL."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL, Fetch
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree


def manifests_asked_for(server: RedistServer) -> list[str]:
    return [request.path.rpartition("/")[2] for request in server.requests(".json")]


@pytest.fixture
def tree_9_1_1(redist_tree: RedistTree) -> RedistTree:
    redist_tree.add_release("9.1.1", version="9.1.1.17")
    redist_tree.add_release("8.9.7.29")
    return redist_tree


@pytest.mark.parametrize(
    ("asked", "label", "requests"),
    [
        ("9.1.1", "9.1.1", ["redistrib_9.1.1.json"]),
        ("9.1.1.17", "9.1.1", ["redistrib_9.1.1.17.json", "redistrib_9.1.1.json"]),
        ("8.9.7.29", "8.9.7.29", ["redistrib_8.9.7.29.json"]),
    ],
)
@pytest.mark.usefixtures("tree_9_1_1")
def test_C11_a_label_of_three_or_four_parts_finds_its_manifest(
    redist_server: RedistServer, fetch: Fetch, asked: str, label: str, requests: list[str]
) -> None:
    assert fetch.installed(asked).record.label == label
    assert manifests_asked_for(redist_server) == requests


@pytest.mark.usefixtures("tree_9_1_1")
def test_C11_another_fourth_part_than_the_version_inside_is_refused_with_both(
    redist_server: RedistServer, fetch: Fetch
) -> None:
    told = fetch.refused(3, "9.1.1.99")
    assert "9.1.1 holds cudnn 9.1.1.17, not 9.1.1.99" in told
    assert manifests_asked_for(redist_server) == ["redistrib_9.1.1.99.json", "redistrib_9.1.1.json"]
    assert not fetch.root.exists()


@pytest.mark.parametrize(
    ("label", "requests"),
    [
        ("9.13.0.50", ["redistrib_9.13.0.50.json", "redistrib_9.13.0.json"]),
        ("12.6.77", ["redistrib_12.6.77.json"]),
    ],
)
def test_C13_a_components_version_is_told_to_be_no_label_after_two_requests(
    redist_server: RedistServer, fetch: Fetch, label: str, requests: list[str]
) -> None:
    told = fetch.refused(3, label)
    assert f"{fetch.source}redistrib_{label}.json: no such release label as {label}" in told
    assert "a component's version is not a label" in told
    assert manifests_asked_for(redist_server) == requests
    assert not fetch.root.exists()


@pytest.fixture
def two_digit_tree(redist_tree: RedistTree) -> RedistTree:
    """Minor numbers of one and two digits; of all but the newest there is a build for Power."""
    for label in ("9.1.1", "9.9.0", "9.10.0", "9.10.2"):
        redist_tree.add_release(label, platforms=("linux-x86_64", "linux-ppc64le"))
    (redist_tree.redist / "redistrib-v2.schema.json").write_text("{}")
    return redist_tree


@pytest.mark.usefixtures("two_digit_tree")
def test_C14_an_index_is_listed_by_number(redist_server: RedistServer) -> None:
    done = run_command("list", "--source", redist_server.url)
    assert done.out.split() == ["9.1.1", "9.9.0", "9.10.0", "9.10.2", "9.26.0", "9.27.0"]


@pytest.mark.parametrize(("asked", "newest"), [("9", "9.27.0"), ("9.10", "9.10.2"), ("9.9", "9.9.0")])
@pytest.mark.usefixtures("two_digit_tree")
def test_C14_the_newest_is_the_newest_by_number(fetch: Fetch, asked: str, newest: str) -> None:
    assert fetch.installed(asked).record.label == newest


@pytest.mark.usefixtures("two_digit_tree")
def test_C14_what_is_installed_is_listed_by_number(fetch_local: Fetch) -> None:
    for label in ("9.10.2", "9.9.0", "9.10.0"):
        fetch_local(label)
    done = run_command("list", "--installed", "--root", fetch_local.root, "--json")
    assert [each["label"] for each in json.loads(done.out)["prefixes"]] == ["9.9.0", "9.10.0", "9.10.2"]


@pytest.mark.usefixtures("two_digit_tree")
def test_C14_a_message_names_the_last_release_by_number(fetch_local: Fetch) -> None:
    told = fetch_local.refused(3, LABEL, "--platform", "linux-ppc64le", "--cuda", "12")
    assert told.endswith("last in 9.10.2 (cuda12)")


@pytest.fixture
def arm_tree(redist_tree: RedistTree) -> RedistTree:
    """Manifest A, 9.26.0: for Jetson CUDA 12 alone. Manifest B, 9.27.0: no build for Jetson any more."""
    redist_tree.add_release("9.26.0", platforms=("linux-sbsa", "linux-aarch64"))
    redist_tree.edit_manifest("9.26.0", lambda node: node["cudnn"]["linux-aarch64"].pop("cuda13"))
    redist_tree.add_release(LABEL, platforms=("linux-sbsa",))
    return redist_tree


@pytest.mark.parametrize(
    ("label", "cuda", "platform", "told"),
    [
        ("9.26.0", "13", "linux-sbsa", "and the only one of linux-sbsa, linux-aarch64 with CUDA 13"),
        ("9.27.0", "13", "linux-sbsa", ""),
        ("9.27.0", "12", "linux-sbsa", ""),
    ],
)
@pytest.mark.usefixtures("arm_tree")
def test_C16_arm_is_decided_by_what_the_manifest_has_for_that_cuda(
    fetch_local: Fetch, label: str, cuda: str, platform: str, told: str
) -> None:
    words = ("--platform", "linux/arm64", "--cuda", cuda)
    done = fetch_local(label, *words)
    assert done.code == 0, done.err
    assert f"platform {platform}: given{told and ', '}{told}" in done.err
    assert done.out == f"{fetch_local.root}/cudnn/{label}/cudnn/{platform}/cuda{cuda}\n"


@pytest.mark.usefixtures("arm_tree")
def test_C16_where_both_arm_builds_fit_the_user_is_asked(fetch_local: Fetch) -> None:
    words = ("--cuda", "12", "--platform")
    told = fetch_local.refused(2, "9.26.0", *words, "linux/arm64")
    assert "may be linux-sbsa or linux-aarch64; choose one with --platform" in told
    assert fetch_local.installed("9.26.0", *words, "linux-aarch64").record.platform == "linux-aarch64"
    assert fetch_local.installed("9.26.0", *words, "linux-sbsa").record.platform == "linux-sbsa"


def test_C17_server_and_jetson_never_stand_in_for_each_other(
    redist_tree: RedistTree, fetch_local: Fetch
) -> None:
    both = ("linux-sbsa", "linux-aarch64")
    redist_tree.add_release(LABEL, platforms=both)
    made = []
    for platform, other in (both, both[::-1]):
        prefix = fetch_local.installed(LABEL, "--platform", platform)
        made.append(prefix)
        assert prefix.record.platform == platform
        assert (prefix.path / "lib/libcudnn.so").exists()
        where = run_command("where", LABEL, "--platform", other, "--cuda", "13", "--root", fetch_local.root)
        assert (where.code, where.out) == ((3, "") if len(made) == 1 else (0, f"{made[0].path}\n"))
    done = run_command("list", "--installed", "--root", fetch_local.root, "--json")
    told = {each["platform"]: each["path"] for each in json.loads(done.out)["prefixes"]}
    assert told == {prefix.record.platform: str(prefix.path) for prefix in made}
    run_command("remove", LABEL, "--platform", "linux-sbsa", "--root", fetch_local.root)
    assert not made[0].path.exists()
    assert made[1].verify() == ()


CUDAS = {
    "12": "cuda12",
    "12.8": "cuda12",
    "12.8.1": "cuda12",
    "cuda12": "cuda12",
    "cu12": "cuda12",
    "cu124": "cuda12",
    "cu128": "cuda12",
    "cuda13": "cuda13",
    "13.0.2": "cuda13",
}


@pytest.mark.parametrize(("asked", "variant"), CUDAS.items(), ids=CUDAS)
def test_C20_every_spelling_of_a_cuda_finds_its_major(fetch_local: Fetch, asked: str, variant: str) -> None:
    done = fetch_local(LABEL, "--cuda", asked, "--dry-run", "--json")
    (archive,) = json.loads(done.out)["archives"]
    assert (archive["variant"], variant in archive["url"]) == (variant, True)


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [
        ("11", 3, "has no archive for CUDA 11 (given); it has cuda12, cuda13"),
        ("14", 3, "has no archive for CUDA 14 (given); it has cuda12, cuda13"),
        ("", 2, "'' is not a CUDA version: 12, 12.8, 12.8.1, cuda12, cu12 or cu128"),
        ("cu1", 3, "has no archive for CUDA 1 (given)"),
        ("1280", 2, "'1280' is not a CUDA version"),
    ],
)
def test_C20_a_cuda_without_an_archive_says_which_there_are(
    fetch_local: Fetch, asked: str, code: int, told: str
) -> None:
    assert told in fetch_local.refused(code, LABEL, "--cuda", asked)


@pytest.mark.parametrize(("toolkit", "code"), [("12.8.1", 0), ("14.0.0", 3)])
def test_C20_the_default_is_the_toolkits_major_and_told(
    redist_tree: RedistTree, root: Path, tmp_path: Path, toolkit: str, code: int
) -> None:
    (tmp_path / "version.json").write_text(json.dumps({"cuda": {"version": toolkit}}))
    words = ("--platform", "linux-x86_64", "--source", redist_tree.path, "--root", root)
    done = run_command("fetch", LABEL, *words, env={"CUDA_PATH": str(tmp_path)})
    told = f"the toolkit of CUDA_PATH {tmp_path} ({toolkit.rpartition('.')[0]})"
    assert done.code == code, done.err
    assert re.search(rf"^(cudnn-redist: .*CUDA 14 \(|cuda12: ){re.escape(told)}", done.err, re.MULTILINE)
