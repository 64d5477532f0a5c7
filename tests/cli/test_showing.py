from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist import RedistServer, RedistTree
from redist.command import run_command

if TYPE_CHECKING:
    from pathlib import Path


def test_list_shows_the_labels_oldest_first(redist_server: RedistServer, root: Path) -> None:
    done = run_command("list", "--source", redist_server.url, "--root", root)
    assert (done.code, done.out, done.err) == (0, "9.26.0\n9.27.0\n", "")
    assert not root.exists()


def test_list_of_another_product(redist_tree: RedistTree) -> None:
    RedistTree(redist_tree.path, "cutensor").add_release("2.3.0", components=("libcutensor",))
    done = run_command("list", "--product", "cutensor", "--source", redist_tree.path)
    assert done.out == "2.3.0\n"
    shown = run_command("list", "2.3.0", "--product", "cutensor", "--source", redist_tree.path)
    assert shown.out.splitlines()[1].startswith("libcutensor  2.3.0.42")


def test_list_without_an_index_asks_for_a_label(redist_tree: RedistTree) -> None:
    with RedistServer(redist_tree.path, index="forbidden") as server:
        done = run_command("list", "--source", server.url)
    assert (done.code, done.out) == (3, "")
    assert "this source lists no releases" in reason(done)


def test_list_of_a_label_shows_what_it_has(redist_tree: RedistTree, root: Path) -> None:
    redist_tree.add_release("9.27.0", components=("cudnn", "cudnn_samples"))
    done = run_command("list", "9.27.0", "--source", redist_tree.path, "--root", root)
    assert done.code == 0
    sizes = [
        f"{redist_tree.archive_path('9.27.0', 'cudnn', platform, variant).stat().st_size:,} bytes"
        for platform in ("linux-x86_64", "linux-sbsa", "windows-x86_64")
        for variant in ("cuda12", "cuda13")
    ]
    source = redist_tree.archive_path("9.27.0", "cudnn_samples", "source", None).stat().st_size
    assert done.out.splitlines() == [
        "9.27.0  2026-09-29",
        "cudnn  9.27.0.42  NVIDIA cudnn (test)",
        f"  linux-x86_64     cuda12 ({sizes[0]}), cuda13 ({sizes[1]})",
        f"  linux-sbsa       cuda12 ({sizes[2]}), cuda13 ({sizes[3]})",
        f"  windows-x86_64   cuda12 ({sizes[4]}), cuda13 ({sizes[5]})",
        "cudnn_samples  9.27.0.42  NVIDIA cudnn_samples (test)",
        f"  source           any CUDA ({source:,} bytes)",
    ]
    assert not root.exists()


def test_list_of_the_oldest_form_has_no_sizes(redist_tree: RedistTree) -> None:
    redist_tree.add_release("7.1.1", layout="oldest", platforms=("linux-x86_64",))
    done = run_command("list", "7.1.1", "--source", redist_tree.path)
    assert done.code == 0
    assert done.out.splitlines()[-1].endswith("(size unknown)")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["cudnn/9.26.0/cudnn", "cudnn/9.27.0/cudnn", "cutensor/2.3.0/libcutensor"]),
        (("--product", "cudnn"), ["cudnn/9.26.0/cudnn", "cudnn/9.27.0/cudnn"]),
        (("--product", "cutensor"), ["cutensor/2.3.0/libcutensor"]),
        (("9.27.0",), ["cudnn/9.27.0/cudnn"]),
        (("9.27.0.42",), ["cudnn/9.27.0/cudnn"]),
        (("9",), ["cudnn/9.26.0/cudnn", "cudnn/9.27.0/cudnn"]),
        (("9.2",), []),
        (("8.0.0",), []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_list_installed(several: Path, words: tuple[str, ...], expected: list[str]) -> None:
    done = run_command("list", *words, "--installed", "--root", several)
    paths = [str(several / path / "linux-x86_64/cuda13") for path in expected]
    assert (done.code, done.out.splitlines(), done.err) == (0, paths, "")


@pytest.mark.parametrize(
    "words",
    [
        ("--installed", "--channels"),
        ("--channels", "9.27.0"),
        ("--manifest-sha256", "0" * 64),
        ("9.27.0", "--installed", "--manifest-sha256", "0" * 64),
    ],
    ids=" ".join,
)
def test_list_passes_over_no_word(redist_tree: RedistTree, several: Path, words: tuple[str, ...]) -> None:
    done = run_command("list", *words, "--source", redist_tree.path, "--root", several)
    assert (done.code, done.out) == (2, "")
    assert reason(done).startswith("usage: --")


def test_list_installed_of_a_root_that_is_not_there_is_empty(root: Path) -> None:
    done = run_command("list", "--installed", "--root", root)
    assert (done.code, done.out, root.exists()) == (0, "", False)


@pytest.mark.parametrize("word", ["../9.27.0", "*"])
def test_list_installed_takes_a_label_and_no_pattern(several: Path, word: str) -> None:
    done = run_command("list", word, "--installed", "--root", several)
    assert (done.code, done.out) == (2, "")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with prefixes of two labels and two products, made once."""
    folder = tmp_path_factory.mktemp("several")
    cudnn, cutensor = RedistTree(folder / "tree"), RedistTree(folder / "tree", "cutensor")
    cudnn.add_release("9.26.0")
    cudnn.add_release("9.27.0")
    cutensor.add_release("2.3.0", components=("libcutensor",))
    words = (*CHOICE, "--root", folder / "root", "--source", folder / "tree")
    env = {"HOME": str(folder)}
    more = ("--product", "cutensor", "--component", "libcutensor")
    for wanted in (("9.26.0",), ("9.27.0",), ("2.3.0", *more)):
        assert run_command("fetch", *wanted, *words, env=env).code == 0
    return folder / "root"


def test_url_prints_the_plan_a_line_an_archive(
    redist_server: RedistServer, redist_tree: RedistTree, root: Path
) -> None:
    words = ("--platform", "linux-x86_64", "--cuda", "12", "--cuda", "13", "--root", root)
    done = run_command("url", "9.27.0", *words, "--source", redist_server.url)
    expected = []
    for variant in ("cuda12", "cuda13"):
        path = redist_tree.archive_path("9.27.0", variant=variant)
        data = path.read_bytes()
        url = redist_server.url + path.relative_to(redist_tree.path).as_posix()
        expected.append(f"{url}  {len(data)}  {hashlib.sha256(data).hexdigest()}")
    assert (done.code, done.out.splitlines()) == (0, expected)
    assert done.err.splitlines() == ["platform linux-x86_64: given", "cuda12: given", "cuda13: given"]
    assert not root.exists()


def test_url_of_the_oldest_form_has_dashes(redist_tree: RedistTree) -> None:
    redist_tree.add_release("7.1.1", layout="oldest", platforms=("linux-x86_64",))
    done = run_command("url", "7.1.1", "--platform", "linux-x86_64", "--source", redist_tree.path)
    assert done.code == 0
    assert done.out.endswith(".tar.gz  -  -\n")


@pytest.mark.parametrize("command", [("url",), ("fetch", "--dry-run")], ids=" ".join)
def test_a_login_is_never_printed(redist_server: RedistServer, root: Path, command: tuple[str, ...]) -> None:
    redist_server.auth = ("me", "secret")
    source = redist_server.url.replace("//", "//me:secret@")
    for form in ((), ("--json",), ("--debug",)):
        done = run_command(*command, "9.27.0", *CHOICE, "--source", source, "--root", root, *form)
        assert done.code == 0
        assert "secret" not in done.out + done.err


def test_where_prints_each_path(several: Path) -> None:
    done = run_command("where", "9.27.0", *CHOICE, "--root", several)
    assert (done.code, done.out, done.err) == (0, f"{several / PREFIX}\n", "")
    done = run_command("where", "9.27.0.42", *CHOICE, env={"CUDNN_REDIST_ROOT": str(several)})
    assert done.out == f"{several / PREFIX}\n"


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (("9.1.0", *CHOICE), ""),
        (("9.27.0", "--platform", "linux-x86_64", "--cuda", "12"), PREFIX),
        (("9.27.0", "--platform", "linux-x86_64", "--cuda", "11"), PREFIX),
        (("9.27", *CHOICE), PREFIX),
        (("latest", *CHOICE), PREFIX),
    ],
    ids=["label", "variant", "no such variant", "part of a label", "latest"],
)
def test_where_says_what_is_there_instead(several: Path, words: tuple[str, ...], there: str) -> None:
    done = run_command("where", *words, "--root", several)
    assert (done.code, done.out) == (3, "")
    told = f"prefix: {several}: {words[0]} is not installed"
    if not there:
        assert reason(done) == f"{told}; `list --installed` shows what is"
    else:
        assert reason(done).startswith(f"{told} like that; installed are ")
        assert reason(done).endswith(str(several / there))
