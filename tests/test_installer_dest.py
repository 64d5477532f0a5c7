"""``dest``: one archive into exactly the directory that the user names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from installing import everything, leftovers, options, planned
from prefix.made import names

from cudnn_redist import Prefix, fetch, install
from cudnn_redist.errors import PrefixError, UsageError

if TYPE_CHECKING:
    from redist import RedistServer, RedistTree


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "third_party/cudnn"


def libraries(dest: Path) -> list[str]:
    return sorted(path.name for path in dest.rglob("libcudnn*"))


@pytest.mark.parametrize("there", ["absent", "empty", "ours", "damaged-file"])
def test_a_place_that_is_free_or_ours(redist_tree: RedistTree, root: Path, dest: Path, there: str) -> None:
    made = planned(redist_tree.path, root)
    match there:
        case "empty":
            dest.mkdir(parents=True)
        case "ours":
            install(planned(redist_tree.path, root, "9.26.0"), dest=dest)
        case "damaged-file":
            install(made, dest=dest)
            (dest / "include/cudnn.h").unlink()
    (prefix,) = install(made, dest=dest)
    assert prefix.path == dest
    assert prefix.record.label == "9.27.0"
    assert prefix.verify() == ()
    assert names(dest.parent) == ["cudnn"]
    assert not (root / "cudnn").exists()


@pytest.mark.parametrize("there", ["directory", "file", "link-to-directory", "link-to-itself"])
@pytest.mark.parametrize("force", [False, True], ids=["usual", "force"])
def test_what_is_not_ours_is_left_alone_and_nothing_is_asked(
    redist_server: RedistServer, tmp_path: Path, dest: Path, there: str, *, force: bool
) -> None:
    dest.parent.mkdir(parents=True)
    match there:
        case "directory":
            (dest / "include").mkdir(parents=True)
        case "file":
            dest.write_text("precious")
        case "link-to-directory":
            (tmp_path / "precious").mkdir()
            (tmp_path / "precious/file").touch()
            dest.symlink_to(tmp_path / "precious")
        case "link-to-itself":
            dest.symlink_to(dest)
    made = planned(redist_server.url, tmp_path / "root")
    asked, before = len(redist_server.log), everything(tmp_path)
    with pytest.raises(PrefixError, match="exists and is no installed prefix; it is left alone"):
        install(made, dest=dest, options=options(force=force))
    assert len(redist_server.log) == asked
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("changed", "content", "reason"),
    [
        ("lib/mine.txt", "precious", r"holds what is not ours \(lib/mine\.txt\); --force replaces all"),
        (".cudnn-redist.json", "{", "its record is damaged, .*; --force replaces all"),
    ],
    ids=["added file", "damaged record"],
)
def test_what_may_be_somebody_elses_is_not_taken_away(
    redist_server: RedistServer, root: Path, dest: Path, *, changed: str, content: str, reason: str
) -> None:
    install(planned(redist_server.url, root, "9.26.0"), dest=dest)
    (dest / changed).write_text(content)
    made = planned(redist_server.url, root)
    asked, before = len(redist_server.log), everything(dest)
    with pytest.raises(PrefixError, match=reason):
        install(made, dest=dest)
    assert len(redist_server.log) == asked
    assert everything(dest) == before

    (prefix,) = install(made, dest=dest, options=options(force=True))
    assert (prefix.record.label, prefix.verify()) == ("9.27.0", ())


def test_one_release_after_another_in_one_place(redist_tree: RedistTree, root: Path, dest: Path) -> None:
    """C85: nothing of the release before is left."""
    seen = []
    for label, cuda in (("9.26.0", "12"), ("9.26.0", "13"), ("9.27.0", "13"), ("9.26.0", "12")):
        (prefix,) = install(planned(redist_tree.path, root, label, cuda=cuda), dest=dest)
        assert (prefix.record.label, prefix.record.variant) == (label, f"cuda{cuda}")
        assert prefix.verify() == ()
        assert [name for name in libraries(dest) if "26" in name or "27" in name] == [
            f"libcudnn{sub}.so.{label}" for sub in ("", "_graph", "_ops")
        ]
        seen.append(prefix.record.archive_sha256)
        assert names(dest.parent) == ["cudnn"]
    assert seen[0] == seen[3]
    assert len(set(seen)) == 3


def test_the_same_archive_is_not_fetched_again(redist_server: RedistServer, root: Path, dest: Path) -> None:
    made = planned(redist_server.url, root)
    install(made, dest=dest)
    asked = len(redist_server.log)
    install(made, dest=dest)
    assert len(redist_server.log) == asked


def test_one_directory_holds_one_archive(redist_tree: RedistTree, root: Path, dest: Path) -> None:
    with pytest.raises(UsageError, match="one directory holds one archive, and this asks for 2"):
        install(planned(redist_tree.path, root, cuda=["12", "13"]), dest=dest)
    assert not dest.exists()


@pytest.mark.parametrize("spelling", [".", "../here", "", "sub/.."])
def test_the_working_directory_by_any_name(
    redist_tree: RedistTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    made = planned(redist_tree.path, tmp_path / "root")
    if spelling == "sub/..":
        spelling = "../sub/../here"
        (tmp_path / "sub").mkdir()
    (prefix,) = install(made, dest=spelling)
    assert prefix.path == here
    assert prefix.verify() == ()
    assert leftovers(tmp_path) == []


def test_a_link_to_the_place_stays_a_link(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to("real")
    for label in ("9.26.0", "9.27.0"):
        (prefix,) = install(planned(redist_tree.path, root, label), dest=link)
        assert prefix.path == real
        assert link.readlink() == Path("real")
        assert Prefix.open(link).record.label == label


def test_a_place_that_holds_what_is_asked_for_needs_no_source(
    redist_server: RedistServer, root: Path, dest: Path
) -> None:
    choices = {"platform": "linux-x86_64", "cuda": "13", "root": root, "dest": dest}
    first = fetch("9.27.0", sources=[redist_server.url], **choices)
    asked = len(redist_server.log)
    assert fetch("9.27.0", sources=[redist_server.url], **choices) == first
    assert fetch("9.27.0.42", sources=[redist_server.url], **choices) == first
    assert len(redist_server.log) == asked
    other = fetch("9.26.0", sources=[redist_server.url], **choices)
    assert (other.path, other.record.label) == (dest, "9.26.0")
