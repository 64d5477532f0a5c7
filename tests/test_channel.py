from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from redist import RedistPool, RedistServer, RedistTree
from redist.command import Completed, run_command

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
    assert "no channel new of cudnn; there are beta, stable" in done.err
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


def locked(server: RedistServer, folder: Path, *words: str) -> dict[str, Any]:
    """Run ``lock`` in ``folder`` with the server as its source, and return the file."""
    done = run_command("lock", *words, "--source", server.url, "--root", folder / "r", cwd=folder)
    assert done.code == 0, done.err
    parsed: dict[str, Any] = json.loads((folder / "cudnn-redist.lock").read_bytes())
    return parsed


def test_a_lock_remembers_the_channel_and_where_the_manifest_is(
    server: RedistServer, pool: RedistPool, tmp_path: Path
) -> None:
    (release,) = locked(server, tmp_path, "9", "--channel", "stable")["releases"]
    manifest = next((pool.release / "cudnn" / "9.27.0").iterdir())
    place = manifest.relative_to(pool.path).as_posix()
    assert (release["label"], release["manifest"]["channel"]) == ("9.27.0", "stable")
    assert release["manifest"]["url"] == f"{server.url}{place}"
    assert release["manifest"]["sha256"] == manifest.stem
    assert all(archive["url"].startswith(f"{server.url}bin-archive/pool/") for archive in release["archives"])


@pytest.mark.parametrize("source", ["as-locked", "another", "directory"])
def test_a_lock_of_a_channel_is_fetched(
    source: str, server: RedistServer, pool: RedistPool, tmp_path: Path
) -> None:
    locked(server, tmp_path, "9.27.0", "--channel", "stable")
    with RedistServer(pool.path) as other:
        named = {
            "as-locked": (),
            "another": ("--source", other.url),
            "directory": ("--source", str(pool.path)),
        }
        for extra in ((), ("--locked", "--force")):
            done = run_command(
                "fetch",
                "--lock",
                "cudnn-redist.lock",
                *WORDS,
                *named[source],
                *extra,
                "--root",
                "r",
                cwd=tmp_path,
            )
            assert (done.code, done.out) == (0, f"{tmp_path}/r/cudnn/9.27.0/cudnn/linux-x86_64/cuda13\n"), (
                done.err
            )


def test_a_lock_of_a_channel_is_compared_with_it_and_moves_along_it(
    server: RedistServer, pool: RedistPool, tmp_path: Path
) -> None:
    locked(server, tmp_path, "9", "--channel", "stable")
    environment = {"CUDNN_REDIST_ROOT": str(tmp_path / "r")}

    def run(*words: str) -> Completed:
        return run_command("lock", *words, cwd=tmp_path, env=environment)

    assert (run("--check").code, run("--outdated").out) == (0, "")
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.1")
    pool.add_release(tree, "9.27.1")
    assert "9.27.1 fits, 9.27.1 is the newest" in run("--outdated").out
    assert run("--upgrade").out.startswith("cudnn 9.27.0: upgraded to 9.27.1")
    upgraded = json.loads((tmp_path / "cudnn-redist.lock").read_bytes())["releases"][0]["manifest"]
    assert (upgraded["channel"], "/9.27.1/" in upgraded["url"]) == ("stable", True)
    edit(pool, sha256="ab" * 32)
    assert run("--check").code == 5


def test_a_lock_of_a_directory_of_channels_is_compared_with_it(pool: RedistPool, tmp_path: Path) -> None:
    """The archives' paths climb out of the manifest's folder, and not out of the directory."""
    for words in (
        ("lock", "9", "--channel", "stable", "--source", str(pool.path)),
        ("lock", "--check"),
        ("lock", "--outdated"),
        ("lock", "--upgrade"),
        ("fetch", "--lock", "cudnn-redist.lock", "--locked", *WORDS),
    ):
        done = run_command(*words, "--root", tmp_path / "r", cwd=tmp_path)
        assert done.code == 0, done.err


@pytest.mark.parametrize("mode", ["--check", "--outdated", "--upgrade", "--from-installed"])
def test_a_lock_that_exists_names_its_channel_itself(mode: str, server: RedistServer, tmp_path: Path) -> None:
    locked(server, tmp_path, "9.27.0", "--channel", "stable")
    done = run_command("lock", mode, "--channel", "beta", cwd=tmp_path)
    assert (done.code, "--channel has no meaning here" in done.err) == (2, True)
