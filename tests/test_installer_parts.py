"""Parts of an archive: prefixes of their own beside the whole, complete in themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from installing import CHOSEN, IMPATIENT, everything, leftovers, options, planned
from redist import File, Link, RedistServer, RedistTree
from redist.command import run_command

from cudnn_redist import Prefix, errors, fetch, install, lock, plan
from cudnn_redist.layout import RECORD_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from redist.content import Entry

HEADERS = {"include/cudnn.h", "include/cudnn_graph.h", "include/cudnn_version.h"}
NAMES = ("libcudnn", "libcudnn_graph", "libcudnn_ops")
SONAMES = {f"lib/{name}.so{end}" for name in NAMES for end in (".9", ".9.27.0")}
LINK_NAMES = {f"lib/{name}.so" for name in NAMES}
STATIC = {"lib/libcudnn_ops_static.a", "lib/libcudnn_ops_static_v9.a"}
GENERATED = {f"lib/cmake/cudnn/cudnn-config{end}.cmake" for end in ("", "-version")}
GENERATED |= {"lib/pkgconfig/cudnn.pc", "lib/pkgconfig/cuDNN.pc"}
ALWAYS = {"LICENSE", RECORD_NAME}
HELD = {
    ("runtime",): SONAMES | {"lib64"},
    ("headers",): HEADERS,
    ("static",): STATIC | {"lib64"},
    ("dev",): HEADERS | STATIC | GENERATED | {"lib64"},
    ("dev", "runtime"): SONAMES | LINK_NAMES | HEADERS | STATIC | GENERATED | {"lib64"},
    ("headers", "runtime"): SONAMES | HEADERS | {"lib64"},
}


def part(source: Path | str, root: Path, *parts: str, **changes: Any) -> Prefix:  # noqa: ANN401 - those of plan
    (prefix,) = install(planned(source, root, parts=parts, **changes), options=options())
    return prefix


def names(prefix: Prefix) -> set[str]:
    """Return all files and links of a prefix."""
    return {path for path, (kind, _) in everything(prefix.path).items() if kind != "directory"}


def dangling(prefix: Prefix) -> list[Path]:
    return [path for path in prefix.path.rglob("*") if path.is_symlink() and not path.exists()]


def made_of(entries: Mapping[str, Entry], tmp_path: Path, *, platform: str = "linux-x86_64") -> Path:
    """Return a tree with one archive of this content."""
    tree = RedistTree(tmp_path / "made")
    chosen = {"platforms": (platform,), "variants": ("cuda13",)}
    tree.add_release("9.27.0", content=lambda *_: {"LICENSE": File(b"licence\n"), **entries}, **chosen)
    return tree.path


@pytest.mark.parametrize("parts", HELD, ids="+".join)
def test_a_part_holds_its_files_and_the_licence(
    redist_tree: RedistTree, tmp_path: Path, parts: Sequence[str]
) -> None:
    prefix = part(redist_tree.path, tmp_path, *parts)
    assert prefix.path == tmp_path / "cudnn/9.27.0/cudnn/linux-x86_64" / "+".join(("cuda13", *parts))
    assert names(prefix) == HELD[tuple(parts)] | ALWAYS
    assert prefix.verify() == ()
    assert dangling(prefix) == []
    assert leftovers(tmp_path) == []


def test_windows_libraries_are_told_apart_too(redist_tree: RedistTree, tmp_path: Path) -> None:
    runtime = part(redist_tree.path, tmp_path, "runtime", platform="windows-x86_64")
    dev = part(redist_tree.path, tmp_path, "dev", platform="windows-x86_64")
    assert {path.rpartition(".")[2] for path in names(runtime) - ALWAYS} == {"dll"}
    assert {path.rpartition(".")[2] for path in names(dev) - ALWAYS} == {"cmake", "h", "lib", "pc"}


@pytest.mark.parametrize("kind", ["tar", "tar.xz", "tar.gz", "tar.zst", "zip"])
def test_every_kind_of_archive_gives_the_same_part(tmp_path: Path, kind: str) -> None:
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.27.0", platforms=("linux-x86_64",), variants=("cuda13",), kind=kind)
    prefix = part(tree.path, tmp_path / "root", "runtime")
    assert names(prefix) == SONAMES | ALWAYS | {"lib64"}
    assert prefix.verify() == ()


def test_the_whole_and_a_part_lie_side_by_side_and_neither_answers_for_the_other(
    redist_server: RedistServer, tmp_path: Path
) -> None:
    choice = {**CHOSEN, "sources": [redist_server.url], "root": tmp_path}
    whole = fetch("9.27.0", **choice)
    runtime = fetch("9.27.0", parts=["runtime"], **choice)
    both = fetch("9.27.0", parts=["runtime", "headers"], **choice)
    assert len({whole.path, runtime.path, both.path}) == 3
    assert [prefix.record.parts for prefix in (whole, runtime, both)] == [
        (),
        ("runtime",),
        ("headers", "runtime"),
    ]


def test_a_part_that_is_there_costs_no_request(redist_server: RedistServer, tmp_path: Path) -> None:
    choice = {**CHOSEN, "sources": [redist_server.url], "root": tmp_path, "parts": "runtime"}
    made = fetch("9.27.0", **choice)
    before = len(redist_server.requests())
    assert fetch("9.27.0", **choice) == made
    assert fetch("9.27.0", offline=True, **choice) == made
    assert len(redist_server.requests()) == before


def test_at_a_place_of_the_users_own_another_choice_takes_the_place(
    redist_tree: RedistTree, tmp_path: Path
) -> None:
    choice = {
        **CHOSEN,
        "sources": [str(redist_tree.path)],
        "root": tmp_path / "root",
        "dest": tmp_path / "dest",
    }
    assert names(fetch("9.27.0", parts="headers", **choice)) == HEADERS | ALWAYS
    assert fetch("9.27.0", **choice).record.parts == ()
    assert fetch("9.27.0", parts="static", **choice).record.parts == ("static",)
    assert names(Prefix.open(tmp_path / "dest")) == STATIC | ALWAYS | {"lib64"}


def test_the_record_says_what_it_is_and_what_it_is_a_part_of(redist_tree: RedistTree, tmp_path: Path) -> None:
    whole = part(redist_tree.path, tmp_path)
    runtime = part(redist_tree.path, tmp_path, "runtime")
    told = json.loads((runtime.path / RECORD_NAME).read_bytes())
    size = sum(entry.size for entry in whole.record.entries)
    assert told["parts"] == ["runtime"]
    assert told["whole"] == {"tree": whole.record.tree, "size": size}
    assert told["tree"] == runtime.record.tree != whole.record.tree
    assert runtime.record.archive_sha256 == whole.record.archive_sha256
    left_out = [entry.size for entry in whole.record.entries if entry not in runtime.record.entries]
    assert runtime.record.disk_saved == sum(left_out) > 0
    assert Prefix.open(runtime.path) == runtime


def test_the_record_of_a_whole_prefix_says_nothing_of_parts(redist_tree: RedistTree, tmp_path: Path) -> None:
    whole = part(redist_tree.path, tmp_path)
    assert not {"parts", "whole"} & set(json.loads((whole.path / RECORD_NAME).read_bytes()))
    assert (whole.record.archive_tree, whole.record.disk_saved) == (whole.record.tree, 0)


def test_two_machines_have_the_same_part_to_the_byte(redist_tree: RedistTree, tmp_path: Path) -> None:
    first, second = (part(redist_tree.path, tmp_path / name, "dev") for name in ("a", "b"))
    assert everything(first.path) == everything(second.path)


def test_link_names_that_would_lead_nowhere_are_left_out_and_told(
    redist_tree: RedistTree, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    part(redist_tree.path, tmp_path, "dev")
    assert (
        "in no chosen part: 'lib/libcudnn.so', 'lib/libcudnn_graph.so', 'lib/libcudnn_ops.so'" in caplog.text
    )


def test_all_links_on_the_way_to_a_library_come_along(tmp_path: Path) -> None:
    entries = {
        "lib/real/libcudnn.so.9.27.0": File(b"\x7fELF"),
        "lib/current": Link("real"),
        "lib/libcudnn.so": Link("current/libcudnn.so.9.27.0"),
        "lib/libcudnn.so.9": Link("libcudnn.so"),
        "targets/lib": Link("../lib"),
        "share/include": Link("../include"),
        "include/cudnn.h": File(b"#pragma once\n"),
    }
    prefix = part(made_of(entries, tmp_path), tmp_path / "root", "runtime")
    assert names(prefix) == {path for path in entries if "include" not in path} | ALWAYS | {"lib64"}
    assert dangling(prefix) == []
    assert not (prefix.path / "include").exists()
    assert not (prefix.path / "share").exists()


def test_a_part_that_the_archive_lacks_is_not_there(redist_tree: RedistTree, tmp_path: Path) -> None:
    made = planned(redist_tree.path, tmp_path, platform="windows-x86_64", parts=["static", "runtime"])
    with pytest.raises(
        errors.NotAvailableError, match="has no static part; it has runtime, dev, headers"
    ) as met:
        install(made, options=options())
    assert met.value.available == ("runtime", "dev", "headers")
    assert not list(tmp_path.rglob(RECORD_NAME))
    assert leftovers(tmp_path) == []


def test_what_is_left_out_is_judged_all_the_same(tmp_path: Path) -> None:
    entries = {"include/cudnn.h": File(b"#pragma once\n"), "lib/libcudnn.so": Link("../../../etc/passwd")}
    made = planned(made_of(entries, tmp_path), tmp_path / "root", parts=["headers"])
    with pytest.raises(errors.ArchiveError, match=r"libcudnn\.so"):
        install(made, options=options())
    assert not list((tmp_path / "root").rglob(RECORD_NAME))


def test_a_lock_names_an_archive_and_so_its_parts(redist_server: RedistServer, tmp_path: Path) -> None:
    held = lock("9.27.0", sources=[redist_server.url], transfer=IMPATIENT)
    choice = {**CHOSEN, "lock": held, "root": tmp_path}
    made = plan(parts=["runtime"], **choice)
    assert "only runtime: a prefix beside the whole; all of the archive is downloaded" in made.reasons
    (runtime,) = install(made, options=options())
    assert runtime.path.name == "cuda13+runtime"
    assert fetch(parts="runtime", **choice) == runtime


def test_a_promised_tree_is_that_of_the_whole_archive(redist_tree: RedistTree, tmp_path: Path) -> None:
    whole = part(redist_tree.path, tmp_path / "first")
    made = planned(redist_tree.path, tmp_path / "second", parts=["static"])
    honest, false = (
        replace(made, archives=(replace(made.archives[0], tree=tree),))
        for tree in (whole.record.tree, "0" * 64)
    )
    with pytest.raises(errors.DigestMismatch) as met:
        install(false, options=options())
    assert met.value.actual == whole.record.tree
    (static,) = install(honest, options=options())
    assert static.record.archive_tree == whole.record.tree


def test_an_unknown_part_is_no_question(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError, match="'docs' is no part"):
        fetch("9.27.0", parts="docs", root=tmp_path, **CHOSEN)


class TestCommand:
    """The words of the command line."""

    @pytest.fixture
    def words(self, redist_tree: RedistTree, tmp_path: Path) -> Mapping[str, str]:
        env = {"CUDNN_REDIST_ROOT": str(tmp_path), "CUDNN_REDIST_SOURCE": str(redist_tree.path)}
        for only in ((), ("--only", "runtime"), ("--only", "runtime", "--only", "dev")):
            done = run_command("fetch", "9.27.0", *self.CHOICE, *only, env=env)
            assert done.code == 0, done.err
        return env

    CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")

    def test_what_is_saved_is_printed_and_that_the_download_is_not(
        self, words: Mapping[str, str], tmp_path: Path
    ) -> None:
        done = run_command("fetch", "9.27.0", *self.CHOICE, "--only", "headers", env=words)
        prefix = Prefix.open(tmp_path / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13+headers")
        saved, size = prefix.record.disk_saved, prefix.record.archive_size
        assert (
            f"only headers: saves {saved:,} bytes of disk; the download is the same {size:,} bytes\n"
            in done.err
        )
        assert done.out == f"{prefix.path}\n"

    def test_where_and_list_know_parts(self, words: Mapping[str, str]) -> None:
        there = run_command("where", "9.27.0", *self.CHOICE, "--only", "runtime", env=words)
        assert there.out.endswith("/cuda13+runtime\n")
        listed = run_command("list", "--installed", "--json", env=words)
        assert [each["parts"] for each in json.loads(listed.out)["prefixes"]] == [
            [],
            ["dev", "runtime"],
            ["runtime"],
        ]
        absent = run_command("where", "9.27.0", *self.CHOICE, "--only", "static", env=words)
        assert (absent.code, absent.out) == (3, "")

    def test_verify_and_remove_take_all_or_the_one_that_is_named(
        self, words: Mapping[str, str], tmp_path: Path
    ) -> None:
        assert len(run_command("verify", "9.27.0", env=words).out.splitlines()) == 3
        (tmp_path / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13+runtime" / RECORD_NAME).write_text("{")
        removed = run_command("remove", "9.27.0", "--only", "runtime", env=words)
        assert [line.rpartition("/")[2] for line in removed.out.splitlines()] == ["cuda13+runtime"]
        assert len(run_command("verify", "9.27.0", env=words).out.splitlines()) == 2

    def test_env_refuses_the_part_that_cannot_serve(self, words: Mapping[str, str]) -> None:
        choice = (*self.CHOICE, "--only", "runtime", "--for")
        assert run_command("env", "9.27.0", *choice, "loader", env=words).code == 0
        refused = run_command("env", "9.27.0", *choice, "torch", env=words)
        assert refused.code == 3
        assert "it has no headers, no libcudnn.so or cudnn.lib to link" in refused.err

    def test_a_lock_of_what_is_installed_takes_parts_for_what_they_are(
        self, words: Mapping[str, str], tmp_path: Path
    ) -> None:
        file = str(tmp_path / "it.lock")
        for kept in (True, False):
            assert run_command("lock", "--from-installed", "-o", file, env=words).code == 0
            (release,) = json.loads((tmp_path / "it.lock").read_bytes())["releases"]
            trees = [archive["tree"] for archive in release["archives"] if archive.get("tree")]
            whole = Prefix.open(
                tmp_path / "cudnn/9.27.0/cudnn/linux-x86_64/cuda13+runtime"
            ).record.archive_tree
            assert trees == [whole]
            assert run_command("verify", "--lock", file, env=words).code == 0
            pruned = run_command("prune", "--lock", file, "--json", env=words)
            assert json.loads(pruned.out)["removed"] == []
            if kept:
                (tmp_path / ".manifests").rename(tmp_path / "aside")

    def test_prune_takes_the_parts_of_what_no_lock_names(
        self, words: Mapping[str, str], tmp_path: Path
    ) -> None:
        file = str(tmp_path / "other.lock")
        assert run_command("lock", "9.26.0", "-o", file, env=words).code == 0
        pruned = json.loads(run_command("prune", "--lock", file, "--json", env=words).out)
        gone = [path.rpartition("/")[2] for path in pruned["removed"] if "cuda13" in path]
        assert sorted(gone) == ["cuda13", "cuda13+dev+runtime", "cuda13+runtime"]
        assert pruned["left"] == []
