from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from redist import RedistPool, RedistServer, RedistTree
from redist.command import run_command

from cudnn_redist import errors, fetch, plan
from cudnn_redist.catalog import channels, labels

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHOICE = {"platform": "linux-x86_64", "cuda": "13"}
WORDS = ("--platform", "linux-x86_64", "--cuda", "13")


@pytest.fixture
def pool(tmp_path: Path) -> RedistPool:
    """A content-addressed server's tree: 9.9.0 and 9.27.0 in stable, 9.28.0 in beta."""
    tree, made = RedistTree(tmp_path / "tree"), RedistPool(tmp_path / "pool")
    for label, channel in (("9.27.0", "stable"), ("9.9.0", "stable"), ("9.28.0", "beta")):
        tree.add_release(label)
        made.add_release(tree, label, channel=channel)
    return made


@pytest.fixture
def server(pool: RedistPool) -> Iterator[RedistServer]:
    with RedistServer(pool.path) as serving:
        yield serving


def releases(pool: RedistPool) -> Path:
    return pool.release / "cudnn" / "releases.json"


def edit(pool: RedistPool, **changes: object) -> None:
    listed = json.loads(releases(pool).read_bytes())
    for release in listed["stable"]:
        release.update(changes)
    releases(pool).write_text(json.dumps(listed))


def test_a_channel_and_a_label_become_a_prefix(server: RedistServer, tmp_path: Path) -> None:
    done = run_command(
        "fetch", "9.27.0", *WORDS, "--channel", "stable", "--source", server.url, "--root", tmp_path / "r"
    )
    assert (done.code, done.out.strip()) == (0, str(tmp_path / "r/cudnn/9.27.0/cudnn/linux-x86_64/cuda13"))
    paths = [request.path for request in server.log]
    assert paths[0] == "/bin-archive/release/cudnn/releases.json"
    assert paths[-1].startswith("/bin-archive/pool/linux-x86_64/")
    assert len(paths) == 3


def test_the_prefix_is_that_of_the_classic_tree(server: RedistServer, tmp_path: Path) -> None:
    """Two servers of one archive: all that differs is the manifest, since its paths do."""
    new = fetch("9.27.0", channel="stable", sources=[server.url], root=tmp_path / "a", **CHOICE)
    old = fetch("9.27.0", sources=[str(tmp_path / "tree")], root=tmp_path / "b", **CHOICE)
    assert new.record.tree == old.record.tree
    assert new.record.archive_sha256 == old.record.archive_sha256


def test_a_second_fetch_asks_nobody(server: RedistServer, tmp_path: Path) -> None:
    for _ in range(2):
        fetch("9.27.0", channel="stable", sources=[server.url], root=tmp_path / "r", **CHOICE)
    assert len(server.log) == 3


@pytest.mark.parametrize(
    ("channel", "label", "found"),
    [
        pytest.param("stable", "latest", "9.27.0", id="latest-by-version"),
        pytest.param("stable", "9", "9.27.0", id="partial"),
        pytest.param("stable", "9.27.0.42", "9.27.0", id="four-parts"),
        pytest.param("beta", "latest", "9.28.0", id="other-channel"),
    ],
)
def test_labels_are_those_of_the_channel(
    channel: str, label: str, found: str, pool: RedistPool, tmp_path: Path
) -> None:
    made = plan(label, channel=channel, sources=[str(pool.path)], root=tmp_path / "r", **CHOICE)
    assert made.label == found


def test_the_labels_and_the_channels_are_listed(server: RedistServer, tmp_path: Path) -> None:
    assert [each.text for each in labels(channel="stable", sources=[server.url], root=tmp_path)] == [
        "9.9.0",
        "9.27.0",
    ]
    assert channels(sources=[server.url]) == {"stable": ("cudnn",), "beta": ("cudnn",)}
    done = run_command("list", "--channels", "--source", server.url, "--json")
    assert json.loads(done.out) == {"channels": {"stable": ["cudnn"], "beta": ["cudnn"]}}


def test_an_unknown_channel_lists_those_there_are(server: RedistServer, tmp_path: Path) -> None:
    done = run_command(
        "fetch",
        "9.27.0",
        *WORDS,
        "--channel",
        "new",
        "--source",
        server.url,
        "--root",
        tmp_path / "r",
        "--json",
    )
    error = json.loads(done.out)["error"]
    assert (done.code, error["type"], error["available"]) == (3, "ChannelNotFound", ["beta", "stable"])
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        pytest.param({"sha256": "ab" * 32}, 5, "channel stable promises", id="digest"),
        pytest.param({"size": 7}, 5, "channel stable promises", id="size"),
        pytest.param({"manifest": "../../../../../etc/passwd"}, 6, "leaves the source", id="climbing"),
        pytest.param({"manifest": "http://elsewhere/m.json"}, 6, "is not relative", id="elsewhere"),
        pytest.param({"sha256": None}, 6, "sha256: no value", id="no-digest"),
    ],
)
def test_what_a_channel_promises_is_enforced(
    changes: dict[str, object], code: int, told: str, pool: RedistPool, tmp_path: Path
) -> None:
    edit(pool, **changes)
    done = run_command(
        "fetch", "9.27.0", *WORDS, "--channel", "stable", "--source", pool.path, "--root", tmp_path / "r"
    )
    assert done.code == code
    assert told in done.err.splitlines()[-1]
    assert not list((tmp_path / "r").rglob("lib"))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        pytest.param(("list", "--channels"), errors.ChannelNotFound, id="no-channels"),
        pytest.param(("list", "--channel", "stable"), errors.LabelNotFound, id="no-product"),
    ],
)
def test_a_classic_source_has_no_channels(words: tuple[str, ...], kind: type, tmp_path: Path) -> None:
    tree = RedistTree(tmp_path / "classic")
    done = run_command(*words, "--source", tree.path, "--root", tmp_path / "r", "--json")
    assert (done.code, json.loads(done.out)["error"]["type"]) == (3, kind.__name__)
