from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from prefix.made import EXECUTABLE, LINKS, entries, fill, installed, record
from prefix.ordinary import run_as_ordinary_user

from cudnn_redist.asking import ask
from cudnn_redist.errors import NotInstalled, PrefixError
from cudnn_redist.layout import Layout
from cudnn_redist.manifest import Platform, ReleaseLabel
from cudnn_redist.prefix.installed import Prefix, answer, answer_at, find_prefixes
from cudnn_redist.prefix.record import Entry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def under(root: Path, **changes: Any) -> Prefix:  # noqa: ANN401 - any field of a record
    """Install where a root has the prefix of this record."""
    path = Layout(root).prefix(*record(**changes).levels)
    return installed(path, **changes)


def asked(root: Path, label: str = "9.27.0", **choices: Any) -> Prefix | None:  # noqa: ANN401
    wanted = ask(label, **{"platform": "linux-x86_64", "cuda": "13", **choices})
    assert wanted.label is not None
    return answer(Layout(root), product="cudnn", label=wanted.label, query=wanted.queries[0])


def asked_at(path: Path, label: str = "9.27.0", **choices: Any) -> Prefix | None:  # noqa: ANN401
    wanted = ask(label, **{"platform": "linux-x86_64", "cuda": "13", **choices})
    assert wanted.label is not None
    return answer_at(path, product=wanted.product, label=wanted.label, query=wanted.queries[0])


def test_a_directory_without_a_record_is_no_installation(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(NotInstalled) as caught:
            Prefix.open(path)
        assert caught.value.where == str(path)


def test_a_damaged_record_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / ".cudnn-redist.json").write_text("{")
    with pytest.raises(PrefixError, match="damaged record") as caught:
        Prefix.open(tmp_path)
    assert caught.value.where == str(tmp_path / ".cudnn-redist.json")


def test_a_directory_in_place_of_the_record(tmp_path: Path) -> None:
    (tmp_path / ".cudnn-redist.json").mkdir()
    with pytest.raises(PrefixError, match="record unreadable: Is a directory"):
        Prefix.open(tmp_path)


OPEN = """
import sys
from pathlib import Path
from cudnn_redist import Prefix, errors
try:
    Prefix.open(Path(sys.argv[1]))
except errors.PrefixError as error:
    print(error)
"""


def test_a_record_that_may_not_be_read(tmp_path: Path) -> None:
    (installed(tmp_path / "p").path / ".cudnn-redist.json").chmod(0)
    done = run_as_ordinary_user("-c", OPEN, tmp_path / "p")
    assert (done.stdout, done.stderr) == (
        f"record: {tmp_path / 'p'}: record unreadable: Permission denied\n",
        "",
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["lib/libcudnn.so.9", "include/cudnn.h"], ("include", "lib", None), id="linux"),
        pytest.param(["lib/libcudnn_static.a"], ("include", "lib", None), id="static"),
        pytest.param(
            ["bin/cudnn64_9.dll", "lib/x64/cudnn.lib", "include/cudnn.h"],
            ("include", "lib/x64", "bin"),
            id="windows",
        ),
        pytest.param(
            ["bin/x64/cudnn64_9.dll", "lib/x64/cudnn.lib"],
            ("include", "lib/x64", "bin/x64"),
            id="windows-later",
        ),
        pytest.param(["src/main.cpp"], ("include", "lib", None), id="samples"),
    ],
)
def test_where_headers_and_libraries_are(
    files: list[str], expected: tuple[str, str, str | None], tmp_path: Path
) -> None:
    """C81: the real directories, not those that consumers expect."""
    listed = tuple(Entry(path=path, kind="file", sha256="0" * 64) for path in files)
    for path in files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    prefix = Prefix(tmp_path, record(entries=listed))
    include, lib, bin_ = expected
    assert prefix.include_dir == tmp_path / include
    assert prefix.lib_dir == tmp_path / lib
    assert prefix.bin_dir == (tmp_path / bin_ if bin_ else None)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda p: (p / EXECUTABLE).unlink(), id="file-gone"),
        pytest.param(lambda p: (p / EXECUTABLE).write_bytes(b"short"), id="file-cut"),
        pytest.param(lambda p: (p / "lib/libcudnn.so").unlink(), id="link-gone"),
        pytest.param(
            lambda p: ((p / "lib/libcudnn.so").unlink(), (p / "lib/libcudnn.so").symlink_to("x")),
            id="link-elsewhere",
        ),
        pytest.param(
            lambda p: ((p / "lib/libcudnn.so").unlink(), (p / "lib/libcudnn.so").touch()), id="file-for-link"
        ),
        pytest.param(lambda p: (p / "lib").rename(p / "lib.old"), id="directory-gone"),
        pytest.param(lambda p: ((p / "empty").rmdir(), (p / "empty").touch()), id="file-for-directory"),
    ],
)
def test_a_prefix_that_lacks_something_is_not_whole(damage: Callable[[Path], object], tmp_path: Path) -> None:
    changes = {"entries": (*entries(), Entry(path="empty", kind="directory"))}
    prefix = installed(tmp_path / "p", **changes)
    (prefix.path / "empty").mkdir()
    assert prefix.looks_whole()
    damage(prefix.path)
    assert not prefix.looks_whole()


def test_all_prefixes_under_a_root(tmp_path: Path) -> None:
    expected = [
        under(tmp_path, component="cudnn_samples", platform="source", variant=None).path,
        under(tmp_path).path,
        under(tmp_path, variant="cuda12").path,
        under(tmp_path, label="9.9.0").path,
        under(tmp_path, product="cutensor", component="libcutensor").path,
    ]
    damaged = under(tmp_path, variant="cuda11").path
    (damaged / ".cudnn-redist.json").write_text("{}")
    found = [prefix.path for prefix in find_prefixes(Layout(tmp_path))]
    assert sorted(found) == sorted(expected)
    assert [p.path for p in find_prefixes(Layout(tmp_path), label="9.9.0")] == [expected[3]]
    assert [p.path for p in find_prefixes(Layout(tmp_path), product="cutensor")] == [expected[4]]
    assert [p.path for p in find_prefixes(Layout(tmp_path), component="cudnn_samples")] == [expected[0]]
    assert list(find_prefixes(Layout(tmp_path / "missing"))) == []


def test_a_stage_or_a_prefix_moved_aside_is_not_installed(tmp_path: Path) -> None:
    """A run killed between record and rename leaves a whole tree, record and all, under another name."""
    for name in (".cudnn-redist-0a.stage", ".cudnn-redist-0a.old"):
        installed(tmp_path / "cudnn/9.27.0/cudnn/linux-x86_64" / name)
        installed(tmp_path / "cudnn/9.27.0/cudnn_samples" / name / "top")
    assert list(find_prefixes(Layout(tmp_path))) == []


def test_an_installed_prefix_answers_without_its_manifest(tmp_path: Path) -> None:
    prefix = under(tmp_path)
    assert asked(tmp_path) == prefix
    assert asked(tmp_path, component="cudnn") == prefix
    assert asked(tmp_path, cuda="13.2") == prefix
    assert asked(tmp_path, cuda=None, platform="linux-x86_64") in (prefix, None)


def test_any_prefix_of_a_component_knows_what_is_offered(tmp_path: Path) -> None:
    under(tmp_path, variant="cuda12")
    assert asked(tmp_path, cuda="13") is None
    prefix = under(tmp_path)
    assert asked(tmp_path, cuda="13") == prefix


@pytest.mark.parametrize(
    ("label", "choices"),
    [
        ("9.26.0", {}),
        ("9.27.0", {"component": "cudnn_jit"}),
        ("9.27.0", {"cuda": "12"}),
        ("9.27.0", {"cuda": "14"}),
        ("9.27.0.99", {}),
        ("8.9.7.29", {}),
    ],
    ids=str,
)
def test_only_a_manifest_can_tell(label: str, choices: dict[str, str], tmp_path: Path) -> None:
    under(tmp_path)
    assert asked(tmp_path, label, **choices) is None


def test_a_refusal_is_left_to_the_manifest(tmp_path: Path) -> None:
    offered = {Platform("linux-sbsa"): ("cuda13",)}
    under(tmp_path, offered=offered, platform="linux-sbsa")
    assert asked(tmp_path) is None
    assert asked(tmp_path, platform="linux-sbsa", cuda="12") is None


def test_four_part_labels(tmp_path: Path) -> None:
    prefix = under(tmp_path)
    assert asked(tmp_path, "9.27.0.42") == prefix
    flat = under(tmp_path, label="8.9.7.29", version="8.9.7.29", variant="cuda12")
    assert asked(tmp_path, "8.9.7.29", cuda="12") == flat


def test_an_archive_without_a_variant_answers_every_cuda(tmp_path: Path) -> None:
    prefix = under(
        tmp_path,
        component="cudnn_samples",
        platform="source",
        variant=None,
        offered={Platform("source"): (None,)},
    )
    assert asked(tmp_path, component="cudnn_samples") == prefix
    assert asked(tmp_path, component="cudnn_samples", platform="windows-arm64", cuda="12") == prefix


def test_server_and_jetson_never_stand_for_each_other(tmp_path: Path) -> None:
    """C17."""
    offered = {Platform("linux-sbsa"): ("cuda12",), Platform("linux-aarch64"): ("cuda12",)}
    changes = {"offered": offered, "variant": "cuda12"}
    server = under(tmp_path, platform="linux-sbsa", **changes)
    assert asked(tmp_path, platform="linux-aarch64", cuda="12") is None
    jetson = under(tmp_path, platform="linux-aarch64", **changes)
    assert asked(tmp_path, platform="linux-aarch64", cuda="12") == jetson
    assert asked(tmp_path, platform="linux-sbsa", cuda="12") == server
    assert server.path != jetson.path


def test_a_damaged_prefix_answers_nothing(tmp_path: Path) -> None:
    prefix = under(tmp_path)
    (prefix.path / EXECUTABLE).unlink()
    assert asked(tmp_path) is None


def test_a_directory_of_the_users_own_answers_for_what_it_holds(tmp_path: Path) -> None:
    prefix = installed(tmp_path / "exact")
    assert asked_at(prefix.path) == prefix
    assert asked_at(prefix.path, "9.27.0.42") == prefix
    assert asked_at(prefix.path, component="cudnn", cuda="13.1") == prefix


@pytest.mark.parametrize(
    ("label", "choices"),
    [
        ("9.26.0", {}),
        ("9.27.0.99", {}),
        ("9.27.0", {"cuda": "12"}),
        ("9.27.0", {"cuda": "14"}),
        ("9.27.0", {"component": "cudnn_jit"}),
        ("9.27.0", {"platform": "windows-x86_64"}),
        ("9.27.0", {"product": "cutensor"}),
    ],
    ids=str,
)
def test_it_does_not_answer_for_anything_else(label: str, choices: dict[str, str], tmp_path: Path) -> None:
    installed(tmp_path / "exact")
    assert asked_at(tmp_path / "exact", label, **choices) is None


def test_a_directory_that_is_no_prefix_answers_nothing(tmp_path: Path) -> None:
    assert asked_at(tmp_path) is None
    assert asked_at(tmp_path / "missing") is None


def test_a_prefix_is_a_value(tmp_path: Path) -> None:
    prefix = installed(tmp_path / "p")
    assert prefix == Prefix.open(tmp_path / "p")
    assert ReleaseLabel.parse(prefix.record.label) == ReleaseLabel.parse("9.27.0")


@pytest.mark.parametrize("target", ["./libcudnn.so.9", ".//libcudnn.so.9", "../lib/./libcudnn.so.9"])
def test_a_link_is_compared_letter_by_letter_with_what_the_archive_said(tmp_path: Path, target: str) -> None:
    links = {**LINKS, "lib/libcudnn.so": target}
    path = fill(tmp_path / "p", links=links)
    (path / ".cudnn-redist.json").write_bytes(record(entries=entries(links=links)).to_bytes())
    prefix = Prefix.open(path)
    assert prefix.looks_whole()
    assert prefix.verify() == ()
