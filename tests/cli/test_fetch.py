"""``fetch``: what it prints, where it writes, and what its options change."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, leftovers, partials, reason, snapshot
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree


def test_stdout_is_the_path_and_nothing_else(redist_server: RedistServer, root: Path) -> None:
    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert done.err.splitlines() == [
        "platform linux-x86_64: given",
        "cuda13: given",
        f"installed: {root / PREFIX}",
    ]
    assert (root / PREFIX / "include/cudnn_version.h").is_file()
    assert leftovers(root) == []
    assert partials(root) == []


def test_a_second_run_says_that_it_is_there_and_asks_nobody(redist_server: RedistServer, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    first = run_command(*words)
    before, asked = snapshot(root), len(redist_server.log)
    again = run_command(*words)
    assert (again.code, again.out, again.err) == (0, first.out, f"already there: {root / PREFIX}\n")
    assert (snapshot(root), len(redist_server.log)) == (before, asked)


def test_a_relative_root_gives_a_path_that_is_true_elsewhere(redist_tree: RedistTree, tmp_path: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", "here", "--source", redist_tree.path)
    done = run_command(*words, cwd=tmp_path)
    assert done.out == f"{tmp_path / 'here' / PREFIX}\n"


@pytest.mark.parametrize("option", ["--quiet", "-q"])
def test_quiet_leaves_only_the_path(redist_tree: RedistTree, root: Path, option: str) -> None:
    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path, option)
    assert (done.code, done.out, done.err) == (0, f"{root / PREFIX}\n", "")


def test_the_variables_stand_in_for_the_options(redist_tree: RedistTree, tmp_path: Path) -> None:
    env = {
        "CUDNN_REDIST_ROOT": str(tmp_path / "root"),
        "CUDNN_REDIST_SOURCE": f"{tmp_path / 'nothing'} {redist_tree.path}",
    }
    assert run_command("fetch", "9.27.0", *CHOICE, env=env).out == f"{tmp_path / 'root' / PREFIX}\n"
    assert run_command("where", "9.27.0", *CHOICE, env=env).out == f"{tmp_path / 'root' / PREFIX}\n"


def test_without_any_root_it_is_the_users_data_directory(
    redist_tree: RedistTree, clean_environment: Path
) -> None:
    done = run_command("fetch", "9.27.0", *CHOICE, "--source", redist_tree.path)
    assert done.code == 0
    assert done.out.startswith(f"{clean_environment}{os.sep}")


def test_several_choices_are_several_lines(redist_tree: RedistTree, root: Path) -> None:
    redist_tree.add_release("9.27.0", components=("cudnn", "cudnn_jit"))
    words = ("--component", "cudnn", "--component", "cudnn_jit", "--cuda", "12", "--cuda", "13")
    platforms = ("--platform", "linux-sbsa", "--platform", "windows-x86_64")
    done = run_command("fetch", "9.27.0", *words, *platforms, "--root", root, "--source", redist_tree.path)
    made = [
        str(root / "cudnn/9.27.0" / component / platform / variant)
        for component in ("cudnn", "cudnn_jit")
        for platform in ("linux-sbsa", "windows-x86_64")
        for variant in ("cuda12", "cuda13")
    ]
    assert (done.code, done.out.splitlines()) == (0, made)
    again = run_command("fetch", "9.27.0", *words, *platforms, "--root", root, "--source", root / "nothing")
    assert again.out == done.out


def test_samples_serve_every_platform(redist_tree: RedistTree, root: Path) -> None:
    redist_tree.add_release("9.27.0", components=("cudnn", "cudnn_samples"))
    words = ("fetch", "9.27.0", "--component", "cudnn_samples", "--root", root, "--source", redist_tree.path)
    done = run_command(*words)
    assert (done.code, done.out) == (0, f"{root / 'cudnn/9.27.0/cudnn_samples/source'}\n")


def test_a_machine_without_choices_says_what_it_chose_and_why(redist_tree: RedistTree, root: Path) -> None:
    done = run_command(
        "fetch", "9.27.0", "--root", root, "--source", redist_tree.path, env={"PATH": str(root)}
    )
    assert done.code == 0
    platform, variant, installed = done.err.splitlines()
    assert re.fullmatch(r"platform [\w-]+: this machine \(.+\)", platform)
    assert re.fullmatch(r"cuda1[23]: (the toolkit|newest that the driver runs|newest offered,) .+", variant)
    assert installed == f"installed: {done.out.strip()}"


def test_a_toolkit_decides_on_cuda(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    (tmp_path / "version.json").write_text('{"cuda": {"version": "12.8.1"}}')
    words = ("fetch", "9.27.0", "--platform", "linux-x86_64", "--root", root, "--source", redist_tree.path)
    done = run_command(*words, env={"CUDA_PATH": str(tmp_path)})
    assert done.out == f"{root / 'cudnn/9.27.0/cudnn/linux-x86_64/cuda12'}\n"
    assert f"cuda12: the toolkit of CUDA_PATH {tmp_path} (12.8)" in done.err.splitlines()


@pytest.mark.parametrize("label", ["9.27", "9", "latest"])
def test_the_newest_of_a_label_is_told(redist_server: RedistServer, root: Path, label: str) -> None:
    done = run_command("fetch", label, *CHOICE, "--root", root, "--source", redist_server.url)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert done.err.startswith(f"label {label}: the newest listed is 9.27.0\n")
    assert done.err.count("label ") == 1


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("Latest", "'Latest' is not a release label: dotted numbers such as 9.27.0, or latest"),
        ("x" * 99, f"'{'x' * 60}...' is not a release label: dotted numbers such as 9.27.0, or latest"),
        ("./x.tar.xz", "such as 9.27.0, or latest; a file is for `adopt`"),
    ],
    ids=["spelling", "long", "file"],
)
def test_what_is_no_label_is_told_what_one_is(root: Path, label: str, told: str) -> None:
    done = run_command("fetch", label, *CHOICE, "--root", root)
    assert (done.code, done.out) == (2, "")
    assert reason(done).endswith(told)


def test_a_source_that_a_blank_in_the_variable_cut_in_two(root: Path, tmp_path: Path) -> None:
    env = {"CUDNN_REDIST_SOURCE": str(tmp_path / "my redist")}
    done = run_command("fetch", "9.27.0", *CHOICE, "--root", root, env=env)
    assert (done.code, done.out) == (2, "")
    told = f"source: {tmp_path / 'my'}: no such directory; a source of CUDNN_REDIST_SOURCE, in which blanks separate"
    assert reason(done).startswith(told)


def test_dry_run_prints_the_plan_and_writes_nothing(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path, clean_environment: Path
) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url, "--dry-run")
    done = run_command(*words, "--link", root / "current", "--archives", root / "archives")
    size = redist_tree.archive_path("9.27.0").stat().st_size
    url, prefix, needs = done.out.splitlines()
    assert done.code == 0
    assert (
        url == redist_server.url + redist_tree.archive_path("9.27.0").relative_to(redist_tree.path).as_posix()
    )
    assert prefix == f"  -> {root / PREFIX}"
    assert needs == (
        f"download {size:,} bytes; needs about {size + int(size * 2.5):,} bytes of disk while it works"
    )
    assert not root.exists()
    assert list(clean_environment.iterdir()) == []
    assert redist_server.requests(".tar.xz") == []


def test_dry_run_tells_what_is_there_already(redist_server: RedistServer, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    run_command(*words)
    before = snapshot(root)
    done = run_command(*words, "--dry-run")
    assert f"  -> {root / PREFIX} (already there)" in done.out.splitlines()
    assert "download 0 bytes" in done.out
    assert snapshot(root) == before


def test_dry_run_with_force_counts_what_is_there_again(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url, "--force")
    run_command(*words)
    done = run_command(*words, "--dry-run")
    assert f"  -> {root / PREFIX}" in done.out.splitlines()
    assert f"download {redist_tree.archive_path('9.27.0').stat().st_size:,} bytes" in done.out


@pytest.mark.parametrize(
    ("words", "stays"),
    [(("9.27.0",), True), (("9.26.0",), False), (("9.27.0", "--only", "runtime"), False)],
    ids=["the same", "another release", "a part of it"],
)
def test_dry_run_with_dest_tells_what_would_stay(
    redist_tree: RedistTree, root: Path, tmp_path: Path, *, words: tuple[str, ...], stays: bool
) -> None:
    dest = tmp_path / "exactly"
    place = (*CHOICE, "--root", root, "--source", redist_tree.path, "--dest", dest)
    run_command("fetch", "9.27.0", *place)
    done = run_command("fetch", *words, *place, "--dry-run")
    assert f"  -> {dest}{' (already there)' if stays else ''}" in done.out.splitlines()
    before = (dest / ".cudnn-redist.json").stat().st_ino
    assert run_command("fetch", *words, *place).code == 0
    assert ((dest / ".cudnn-redist.json").stat().st_ino == before) is stays


def test_dry_run_with_dest_names_dest(redist_tree: RedistTree, root: Path, tmp_path: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path, "--dry-run")
    done = run_command(*words, "--dest", tmp_path / "exactly")
    assert f"  -> {tmp_path / 'exactly'}" in done.out.splitlines()
    assert not (tmp_path / "exactly").exists()


def test_force_installs_again(redist_tree: RedistTree, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    run_command(*words)
    (root / PREFIX / "include/cudnn.h").write_text("changed")
    done = run_command(*words, "--force")
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert (root / PREFIX / "include/cudnn.h").read_text() != "changed"
    assert leftovers(root) == []


def test_refresh_reads_the_manifest_again_and_reports_a_change(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    run_command(*words)
    redist_tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2026-10-01"))
    asked = len(redist_server.requests(".json"))
    done = run_command(*words, "--refresh")
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert "label 9.27.0 changed at its source" in done.err
    assert len(redist_server.requests(".json")) > asked
    assert len(redist_server.requests(".tar.xz")) == 1


@pytest.mark.parametrize("spelled", [str.lower, str.upper], ids=["lower", "upper"])
def test_the_right_pin_passes(redist_tree: RedistTree, root: Path, spelled: type[str]) -> None:
    pin = spelled(hashlib.sha256(redist_tree.manifest_path("9.27.0").read_bytes()).hexdigest())
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    assert run_command(*words, "--manifest-sha256", pin).code == 0
    assert run_command(*words[:-1], root / "nothing", "--manifest-sha256", pin).code == 0


def test_a_wrong_pin_is_refused_though_the_prefix_is_there(redist_tree: RedistTree, root: Path) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    run_command(*words)
    before = snapshot(root)
    done = run_command(*words, "--manifest-sha256", "0" * 64)
    assert (done.code, done.out) == (5, "")
    assert "pinned to 000000" in reason(done)
    assert snapshot(root) == before


@pytest.mark.parametrize("by_variable", [False, True], ids=["option", "variable"])
def test_archives_keeps_the_archive_and_serves_it(
    redist_server: RedistServer, root: Path, tmp_path: Path, *, by_variable: bool
) -> None:
    store = tmp_path / "store"
    words: list[str | Path] = ["fetch", "9.27.0", *CHOICE, "--source", redist_server.url]
    env = {"CUDNN_REDIST_ARCHIVES": str(store)} if by_variable else {}
    words += [] if by_variable else ["--archives", store]
    run_command(*words, "--root", root, env=env)
    (kept,) = (path for path in store.rglob("*") if path.is_file())
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == kept.name
    other = tmp_path / "other"
    done = run_command(*words, "--root", other, env=env)
    assert (done.code, done.out) == (0, f"{other / PREFIX}\n")
    assert len(redist_server.requests(".tar.xz")) == 1


@pytest.mark.parametrize(
    "manner",
    [
        ("--verify-first", "--durable", "--no-progress", "--debug"),
        ("--threads", "1", "--memory", "1", "--retries", "0", "--stall-timeout", "2.5", "--min-speed", "0"),
    ],
    ids=["switches", "numbers"],
)
def test_manners_that_change_nothing_else(
    redist_server: RedistServer, root: Path, manner: tuple[str, ...]
) -> None:
    plain = ("fetch", "9.27.0", *CHOICE, "--source", redist_server.url)
    run_command(*plain, "--root", root / "plain")
    done = run_command(*plain, "--root", root / "other", *manner)
    assert (done.code, done.out) == (0, f"{root / 'other' / PREFIX}\n")
    record = f"{PREFIX}/.cudnn-redist.json"
    assert (root / "other" / record).read_bytes() == (root / "plain" / record).read_bytes()


@pytest.mark.parametrize("by_variable", [False, True], ids=["~/.netrc", "NETRC"])
def test_logins_come_from_a_netrc_file(
    redist_server: RedistServer, root: Path, clean_environment: Path, *, by_variable: bool
) -> None:
    redist_server.auth = ("me", "secret")
    file = clean_environment / ("logins" if by_variable else ".netrc")
    file.write_text("machine 127.0.0.1 login me password secret\n")
    file.chmod(0o600)
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    done = run_command(*words, env={"NETRC": str(file)} if by_variable else {})
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
