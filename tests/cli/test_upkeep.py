from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, leftovers, reason, snapshot
from redist import File, RedistTree
from redist.command import run_command
from redist.libraries import elf_library

from cudnn_redist.findings import CODES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with three prefixes of 9.27.0 and one of 9.26.0, made once."""
    folder = tmp_path_factory.mktemp("made")
    tree = RedistTree(folder / "tree")
    tree.add_release("9.26.0")
    tree.add_release("9.27.0", components=("cudnn", "cudnn_jit"))
    words = ("--platform", "linux-x86_64", "--root", folder / "root", "--source", tree.path)
    env = {"HOME": str(folder)}
    jit = ("--component", "cudnn_jit", "--cuda", "13")
    for label, choice in (
        ("9.26.0", ("--cuda", "13")),
        ("9.27.0", ("--cuda", "12", "--cuda", "13")),
        ("9.27.0", jit),
    ):
        assert run_command("fetch", label, *words, *choice, env=env).code == 0
    return folder / "root"


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of that root, to be spoiled."""
    shutil.copytree(made, tmp_path / "root", symlinks=True)
    return tmp_path / "root"


def add(path: Path) -> None:
    path.write_text("extra")


def link_elsewhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("elsewhere")


def turn_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def file_for_link(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


DAMAGE: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("include/cudnn.h", lambda path: path.unlink(), "file-missing: include/cudnn.h"),
    "changed": ("lib/libcudnn.so.9.27.0", turn_a_byte, "file-changed: lib/libcudnn.so.9.27.0: sha256 is "),
    "shorter": ("LICENSE", lambda path: os.truncate(path, 1), "file-changed: LICENSE: 1 bytes, recorded as "),
    "extra": ("include/extra.h", add, "file-extra: include/extra.h"),
    "wrong link": ("lib/libcudnn.so", link_elsewhere, "file-changed: lib/libcudnn.so: links to elsewhere"),
    "no link": ("lib/libcudnn.so", file_for_link, "file-changed: lib/libcudnn.so: is a file"),
    "not executable": (
        "lib/libcudnn.so.9.27.0",
        lambda path: path.chmod(0o644),
        "file-changed: lib/libcudnn.so.9.27.0: is not executable",
    ),
    "no lib64": ("lib64", lambda path: path.unlink(), "file-missing: lib64"),
}


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
@pytest.mark.parametrize(("path", "spoil", "found"), DAMAGE.values(), ids=DAMAGE)
def test_verify_names_each_difference(
    root: Path, path: str, spoil: Callable[[Path], object], found: str
) -> None:
    (root / PREFIX / path).chmod(0o755) if (root / PREFIX / path).is_file() else None
    spoil(root / PREFIX / path)
    done = run_command("verify", "9.27.0", "--component", "cudnn", "--cuda", "13", "--root", root, "--json")
    assert done.code == 9
    assert f"{root / PREFIX}: {found}" in done.err
    error = json.loads(done.out)["error"]
    assert (error["type"], error["where"]) == ("VerificationFailed", str(root / PREFIX))
    code, where, detail = (found + ": ").split(": ")[:3]
    assert [
        finding
        for finding in error["findings"]
        if finding["prefix"] == str(root / PREFIX)
        and (finding["code"], finding["where"], finding["severity"]) == (code, where, "fault")
        and finding["detail"].startswith(detail)
    ]


def test_verify_counts_and_names_them_all(root: Path) -> None:
    (root / PREFIX / "include/cudnn.h").unlink()
    add(root / PREFIX / "extra")
    done = run_command("verify", "9.27.0", "--root", root)
    assert done.code == 9
    assert reason(done) == f"verify: {root / PREFIX}: 2 faults"
    (root / PREFIX / "extra").unlink()
    assert reason(run_command("verify", "9.27.0", "--root", root)).endswith(": 1 fault")


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        ((), 3),
        (("--component", "cudnn_jit"), 1),
        (("--component", "cudnn", "--component", "cudnn_jit"), 3),
        (("--cuda", "13"), 2),
        (("--cuda", "12", "--cuda", "13"), 3),
        (("--cuda", "13.4"), 2),
        (("--platform", "linux/amd64"), 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_label_means_every_prefix_that_fits(made: Path, choice: tuple[str, ...], count: int) -> None:
    done = run_command("verify", "9.27.0", *choice, "--root", made)
    assert done.code == 0
    assert [line.rpartition(": ")[2] for line in done.out.splitlines()] == ["as recorded"] * count


def test_a_four_part_version_finds_its_label(made: Path) -> None:
    assert len(run_command("verify", "9.27.0.42", "--root", made).out.splitlines()) == 3


@pytest.mark.parametrize("command", ["verify", "remove"])
@pytest.mark.parametrize(
    "choice",
    [
        ("9.1.0",),
        ("9.27",),
        ("9.27.0", "--cuda", "11"),
        ("9.27.0", "--product", "cutensor"),
        ("9.27.0.99",),
        (".",),
        ("./none",),
    ],
    ids=" ".join,
)
def test_what_is_not_installed_is_exit_3(made: Path, command: str, choice: tuple[str, ...]) -> None:
    before = snapshot(made)
    done = run_command(command, *choice, "--root", made, "--json", cwd=made)
    assert done.code == 3
    assert json.loads(done.out)["error"]["type"] == "NotInstalled"
    assert reason(done).startswith("prefix: ")
    assert snapshot(made) == before


@pytest.mark.parametrize("command", ["verify", "remove"])
def test_a_word_that_is_neither_label_nor_path_is_exit_2(made: Path, command: str) -> None:
    done = run_command(command, "cudnn9", "--root", made)
    assert (done.code, done.out) == (2, "")
    assert "'cudnn9' is not a release label" in reason(done)


def test_a_prefix_may_be_named_by_its_path(root: Path) -> None:
    parent = (root / PREFIX).parent
    assert run_command("verify", f"{parent}/cuda13").out == f"{root / PREFIX}: as recorded\n"
    assert run_command("verify", "cuda13", cwd=parent).out == f"{root / PREFIX}: as recorded\n"
    assert run_command("verify", "./cuda13", "--cuda", "12", cwd=parent).code == 3


def test_a_label_is_a_label_whatever_lies_here(made: Path) -> None:
    done = run_command("verify", "9.27.0", "--root", made, cwd=made / "cudnn")
    assert (done.code, len(done.out.splitlines())) == (0, 3)


def test_remove_takes_what_fits_and_nothing_else(root: Path) -> None:
    other = snapshot(root / "cudnn/9.26.0")
    done = run_command("remove", "9.27.0", "--component", "cudnn", "--cuda", "13", "--root", root)
    assert (done.code, done.out, done.err) == (0, f"{root / PREFIX}\n", "")
    assert not (root / PREFIX).exists()
    left = run_command("list", "--installed", "--root", root).out.splitlines()
    assert [line.removeprefix(f"{root}/cudnn/") for line in left] == [
        "9.26.0/cudnn/linux-x86_64/cuda13",
        "9.27.0/cudnn/linux-x86_64/cuda12",
        "9.27.0/cudnn_jit/linux-x86_64/cuda13",
    ]
    assert snapshot(root / "cudnn/9.26.0") == other
    assert leftovers(root) == []
    assert run_command("where", "9.27.0", *CHOICE, "--root", root).code == 3


def test_remove_takes_a_path(root: Path) -> None:
    done = run_command("remove", root / PREFIX)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert not (root / PREFIX).exists()


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
@pytest.mark.parametrize("spelling", ["./current", "./current/", "{here}/current"])
def test_a_link_means_the_prefix_that_it_leads_to(root: Path, tmp_path: Path, spelling: str) -> None:
    (tmp_path / "current").symlink_to(root / PREFIX)
    target = spelling.format(here=tmp_path)
    done = run_command("verify", target, cwd=tmp_path)
    assert (done.code, done.out) == (0, f"{root / PREFIX}: as recorded\n")
    done = run_command("remove", target, "--root", root, cwd=tmp_path)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")
    assert done.err == f"{tmp_path}/current: this link now leads nowhere, and is left\n"
    assert not (root / PREFIX).exists()
    assert (tmp_path / "current").is_symlink()
    assert run_command("remove", target, "--root", root, cwd=tmp_path).code == 3


def test_remove_leaves_no_empty_directories(root: Path) -> None:
    run_command("remove", "9.26.0", "--root", root)
    assert not (root / "cudnn/9.26.0").exists()
    assert (root / PREFIX).is_dir()


def test_verify_says_once_what_a_kind_of_fault_means_and_what_to_do(root: Path) -> None:
    for name in ("LICENSE", "include/cudnn.h"):
        (root / PREFIX / name).unlink()
    done = run_command("verify", "9.27.0", "--root", root)
    assert done.err.splitlines() == [
        f"{root / PREFIX}: file-missing: LICENSE: the record has a file here",
        f"{root / PREFIX}: file-missing: include/cudnn.h: the record has a file here",
        f"  file-missing: {CODES['file-missing'].meaning}",
        f"    to mend it: {CODES['file-missing'].remedy}",
        f"cudnn-redist: verify: {root / PREFIX}: 2 faults",
    ]


def test_a_note_is_told_and_is_no_fault(tmp_path: Path) -> None:
    """C83: what a library may ask for and the archive does not have, another copy would fill."""
    tree = RedistTree(tmp_path / "tree")
    tree.add_release("9.20.0", content=lambda *_: NAMES_MORE)
    words = ("9.20.0", *CHOICE, "--root", tmp_path / "root")
    assert run_command("fetch", *words, "--source", tree.path).code == 0
    done = run_command("verify", *words)
    path = done.out.removesuffix(": as recorded\n")
    assert (done.code, done.err.splitlines()[0]) == (
        0,
        f"note: {path}: named-not-shipped: lib/libcudnn.so.9: names libcudnn_engines_tensor_ir.so",
    )
    assert run_command("verify", *words, "--quiet").err == ""
    (prefix,) = json.loads(run_command("verify", *words, "--json").out)["prefixes"]
    (finding,) = prefix["findings"]
    assert (finding["code"], finding["severity"]) == ("named-not-shipped", "note")


NAMES_MORE = {
    "lib/libcudnn.so.9": File(
        elf_library(soname="libcudnn.so.9", named=["libcudnn_engines_tensor_ir.so"]), 0o755
    )
}


def test_quiet_hides_no_difference(root: Path) -> None:
    (root / PREFIX / "LICENSE").unlink()
    done = run_command("verify", "9.27.0", "-q", "--root", root)
    assert (done.code, done.out) == (9, "")
    assert f"{root / PREFIX}: file-missing: LICENSE" in done.err
    assert reason(done).endswith(": 1 fault")


@pytest.mark.parametrize("named", ["label", "path"])
def test_a_damaged_record_is_a_difference_and_may_be_removed(root: Path, named: str) -> None:
    (root / PREFIX / ".cudnn-redist.json").write_bytes(b"{}")
    target = "9.27.0" if named == "label" else str(root / PREFIX)
    done = run_command("verify", target, "--root", root)
    assert done.code == 9
    assert f"{root / PREFIX}: record-damaged: .cudnn-redist.json: damaged record" in done.err
    assert run_command("remove", target, "--root", root).code == 0
    assert not (root / PREFIX).exists()


@pytest.mark.parametrize("named", ["label", "path"])
@pytest.mark.parametrize(
    ("choice", "fits"),
    [
        (("--cuda", "13"), True),
        (("--component", "cudnn", "--platform", "linux-x86_64"), True),
        (("--cuda", "12"), False),
        (("--component", "cudnn_jit"), False),
        (("--platform", "linux-sbsa"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_damaged_prefix_is_chosen_by_its_place(
    root: Path, choice: tuple[str, ...], named: str, *, fits: bool
) -> None:
    (root / PREFIX / ".cudnn-redist.json").write_bytes(b"{")
    target = "9.27.0" if named == "label" else str(root / PREFIX)
    assert (run_command("verify", target, *choice, "--root", root).code == 9) is fits
    run_command("remove", target, *choice, "--root", root)
    assert (root / PREFIX).exists() is not fits


def test_a_damaged_prefix_may_be_of_any_version(root: Path) -> None:
    (root / PREFIX / ".cudnn-redist.json").write_bytes(b"{")
    before = snapshot(root)
    assert run_command("verify", "9.27.0.42", "--root", root).code == 9
    done = run_command("remove", "9.27.0.42", "--root", root)
    assert (done.code, done.out) == (7, "")
    assert reason(done).startswith(f"record: {root / PREFIX}/.cudnn-redist.json: damaged record")
    assert snapshot(root) == before


@pytest.mark.parametrize("command", ["verify", "remove"])
@pytest.mark.parametrize("way", ["long", "directory"])
def test_a_record_that_cannot_be_read_is_no_difference(root: Path, command: str, way: str) -> None:
    target = root / ("a" * 5000 if way == "long" else PREFIX)
    if way == "directory":
        (target / ".cudnn-redist.json").unlink()
        (target / ".cudnn-redist.json").mkdir()
    before = snapshot(root)
    done = run_command(command, target, "--root", root)
    assert (done.code, done.out) == (7, "")
    assert reason(done).startswith(f"record: {target}: record unreadable: ")
    assert snapshot(root) == before
