"""``mirror`` over real processes: what is printed, what is told, and with which exit code it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cli.ground import CHOICE, PREFIX, reason, snapshot
from redist.command import Completed, run_command

from cudnn_redist.mirroring.licences import NOTICE

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

Node = dict[str, Any]


class Ground:
    """A source, and a mirror that nobody has made yet."""

    def __init__(self, tree: RedistTree, folder: Path) -> None:
        self.tree = tree
        self.mirror = folder / "mirror"
        self.root = folder / "root"

    def run(self, *words: str | Path, **env: str) -> Completed:
        known = {"CUDNN_REDIST_SOURCE": str(self.tree.path), "CUDNN_REDIST_ROOT": str(self.root)}
        return run_command("mirror", self.mirror, *words, env={**known, **env})


@pytest.fixture
def ground(redist_tree: RedistTree, tmp_path: Path) -> Ground:
    return Ground(redist_tree, tmp_path)


def told(done: Completed) -> Node:
    parsed: Node = json.loads(done.out)
    return parsed


def test_it_prints_the_path_and_tells_the_licence_and_what_is_absent(ground: Ground) -> None:
    done = ground.run("9.27.0", *CHOICE)

    assert (done.code, done.out) == (0, f"{ground.mirror}\n")
    lines = done.err.splitlines()
    assert lines[0] == NOTICE
    assert lines[-1] == "9.27.0: 5 archives of its manifest not in this mirror"
    assert not ground.root.exists()


def test_quiet_is_quiet(ground: Ground) -> None:
    done = ground.run("9.27.0", "--quiet")
    assert (done.code, done.err) == (0, "")


def test_as_json(ground: Ground) -> None:
    path = ground.tree.archive_path("9.27.0")
    place = path.relative_to(ground.tree.path).as_posix()
    first = told(ground.run(">=9.26", *CHOICE, "--json"))
    assert list(first) == ["mirror", "labels", "fetched", "pruned", "absent"]
    assert (first["mirror"], first["labels"]) == (str(ground.mirror), ["9.26.0", "9.27.0"])
    assert (place in first["fetched"], len(first["absent"]["9.26.0"])) == (True, 5)
    second = told(ground.run("latest", *CHOICE, "--prune", "--json"))
    assert (second["labels"], second["fetched"]) == (["9.27.0"], [])
    assert second["pruned"] == [
        "cudnn/redist/redistrib_9.26.0.json",
        place.replace("9.27.0", "9.26.0"),
    ]


def test_fetch_from_it(ground: Ground) -> None:
    ground.run("latest", *CHOICE)
    words = ("fetch", "9", *CHOICE, "--source", ground.mirror, "--root", ground.root)
    assert run_command(*words).out == f"{ground.root / PREFIX}\n"


def test_check_says_that_all_is_well_or_what_is_not(ground: Ground) -> None:
    ground.run("9.27.0", *CHOICE)
    well = ground.run("--check")
    assert (well.code, well.out) == (0, f"{ground.mirror}: 7 files, all as mirrored\n")
    assert len(told(ground.run("--check", "--json"))["files"]) == 7
    (archive,) = ground.mirror.rglob("*.tar.xz")
    archive.unlink()
    for words in ((), ("--quiet",)):
        done = ground.run("--check", *words)
        assert done.code == 9
        assert done.err.splitlines()[0].startswith("missing: cudnn/redist/cudnn/linux-x86_64/")
        assert reason(done).startswith(f"verify: {ground.mirror}: 1 file is not as mirrored (missing: ")
    error = told(ground.run("--check", "--json"))["error"]
    assert (error["type"], error["exit_code"], len(error["findings"])) == ("VerificationFailed", 9, 1)


@pytest.mark.parametrize(
    ("words", "code", "cause"),
    [
        pytest.param((), 2, "mirror: this is taken for DEST, and no LABEL follows it", id="no-label"),
        pytest.param(("9.99.0",), 3, "no such release label as 9.99.0", id="unknown"),
        pytest.param((">=11",), 3, "no release in >=11", id="empty-range"),
        pytest.param((">=x",), 2, "is no range of labels", id="no-range"),
        pytest.param(
            ("9.27.0", "--platform", "windows-arm64"), 3, "no archive for windows-arm64", id="platform"
        ),
        pytest.param(("9.27.0", "--check"), 2, "no LABEL and no --prune beside it", id="check-label"),
        pytest.param(("--check",), 2, "no mirror of ours here", id="check-nothing"),
        pytest.param(("9.27.0", "--level", "3"), 2, "--level is that of --repack", id="level"),
        pytest.param(("9.27.0", "--product", "../x"), 2, "is no product name", id="product"),
        pytest.param(("9.27.0", "--channel", "stable"), 2, "unrecognized arguments: --channel", id="channel"),
    ],
)
def test_a_question_that_has_no_answer_makes_nothing(
    words: tuple[str, ...], code: int, cause: str, ground: Ground
) -> None:
    done = ground.run(*words)

    assert (done.code, cause in reason(done)) == (code, True), done.err
    assert NOTICE not in done.err
    assert not ground.mirror.exists()


@pytest.mark.parametrize("kind", ["file", "foreign"])
def test_what_is_somebody_elses_stays(kind: str, ground: Ground) -> None:
    if kind == "file":
        ground.mirror.touch()
    else:
        ground.mirror.mkdir()
        (ground.mirror / "thesis.tex").touch()
    before = snapshot(ground.mirror)
    done = ground.run("9.27.0", "--prune")

    assert (done.code, reason(done).startswith(f"mirror: {ground.mirror}: ")) == (2, True)
    assert snapshot(ground.mirror) == before


def test_wrong_bytes_at_the_source_end_with_5(ground: Ground, redist_server: RedistServer) -> None:
    path = ground.tree.replace_archive(b"other", "9.27.0")
    done = ground.run("9.27.0", *CHOICE, "--json", CUDNN_REDIST_SOURCE=redist_server.url)

    error = told(done)["error"]
    assert (done.code, error["type"]) == (5, "SizeMismatch")
    assert error["where"] == f"{redist_server.url}{path.relative_to(ground.tree.path).as_posix()}"
    assert list(ground.mirror.rglob("*.tar.xz")) == []


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (("--accept-licence",), {}),
        ((), {"CUDNN_REDIST_ACCEPT_LICENCE": "1"}),
    ],
    ids=["switch", "variable"],
)
def test_the_strict_go_on_when_the_licence_is_accepted(
    words: tuple[str, ...], env: dict[str, str], ground: Ground
) -> None:
    assert ground.run("9.27.0", *CHOICE, "--strict-licence", *words, **env).code == 0


@pytest.mark.parametrize("env", [{}, {"CUDNN_REDIST_ACCEPT_LICENCE": "0"}], ids=["silence", "no"])
def test_the_strict_do_nothing_before_it_is(env: dict[str, str], ground: Ground) -> None:
    done = ground.run("9.27.0", *CHOICE, "--strict-licence", **env)

    assert done.code == 2
    assert reason(done).startswith("licence: --strict-licence wants")
    assert "--accept-licence or set CUDNN_REDIST_ACCEPT_LICENCE=1" in reason(done)
    assert not ground.mirror.exists()
