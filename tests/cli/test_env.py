from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.ground import CHOICE, PREFIX, reason
from redist import RedistTree
from redist.command import run_command

from cudnn_redist import Prefix, errors


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with 9.27.0 for two CUDAs, and with its samples."""
    folder = tmp_path_factory.mktemp("made")
    RedistTree(folder / "tree").add_release("9.27.0", components=("cudnn", "cudnn_samples"))
    words = ("--platform", "linux-x86_64", "--root", folder / "root", "--source", folder / "tree")
    env = {"HOME": str(folder)}
    for choice in (("--cuda", "12", "--cuda", "13"), ("--component", "cudnn_samples")):
        assert run_command("fetch", "9.27.0", *words, *choice, env=env).code == 0
    return folder / "root"


@pytest.fixture
def root(installed: Path, tmp_path: Path) -> Path:
    """A copy of that root, to be spoiled."""
    shutil.copytree(installed, tmp_path / "root", symlinks=True)
    return tmp_path / "root"


def test_a_label_of_this_machine_or_a_choice(root: Path) -> None:
    done = run_command("env", "9.27.0", *CHOICE, "--for", "torch", "--root", root)
    assert (done.code, done.out, done.err) == (0, f"export CUDNN_ROOT={root / PREFIX}\n", "")
    twelve = run_command("env", "9.27.0.42", *CHOICE[:2], "--cuda", "12", "--for", "torch", "--root", root)
    assert twelve.out == done.out.replace("cuda13", "cuda12")


@pytest.mark.parametrize("spelled", ["absolute", "relative", "through-a-link"])
def test_a_directory_is_named_by_its_real_path(root: Path, tmp_path: Path, spelled: str) -> None:
    (tmp_path / "link").symlink_to(root / PREFIX)
    target = {"absolute": root / PREFIX, "relative": f"./root/{PREFIX}", "through-a-link": tmp_path / "link"}
    done = run_command("env", target[spelled], "--for", "cmake", cwd=tmp_path)
    assert (done.code, done.out) == (0, f"export CMAKE_PREFIX_PATH={root / PREFIX}\n")


def test_a_shell_that_evaluates_it_twice_has_it_once(root: Path) -> None:
    line = f"python -m cudnn_redist env {root / PREFIX} --for loader"
    script = f'{line} > one; . ./one; {line} > two; . ./two; printf "%s" "$LD_LIBRARY_PATH"'
    folder = root.parent
    env = {"LD_LIBRARY_PATH": ":/nowhere::", "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{root / PREFIX}/lib:/nowhere"
    assert (folder / "one").read_text() == (folder / "two").read_text()


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("sh", "export CUDNN_ROOT={}"),
        ("fish", "set -gx CUDNN_ROOT '{}'"),
        ("pwsh", "$env:CUDNN_ROOT = '{}'"),
        ("cmd", '@set "CUDNN_ROOT={}"'),
        ("dotenv", "CUDNN_ROOT={}"),
    ],
)
def test_every_syntax(root: Path, shell: str, line: str) -> None:
    done = run_command("env", root / PREFIX, "--for", "torch", "--format", shell)
    assert (done.code, done.out) == (0, line.format(root / PREFIX) + "\n")


@pytest.mark.parametrize("words", [("--json",), ("--format", "json")], ids=["json", "format-json"])
def test_json(root: Path, words: tuple[str, ...]) -> None:
    done = run_command("env", root / PREFIX, "--for", "loader", *words)
    told = json.loads(done.out)
    comments = told.pop("comments")
    assert comments[1] == f"{root / PREFIX}/lib"
    assert told == {
        "prefix": str(root / PREFIX),
        "version": "9.27.0.42",
        "consumer": "loader",
        "variables": {"LD_LIBRARY_PATH": f"{root / PREFIX}/lib"},
        "warnings": [],
    }


def test_a_failure_is_json_too_where_json_was_asked_for(root: Path) -> None:
    done = run_command("env", root / PREFIX, "--for", "xla", "--format", "json")
    told = json.loads(done.out)["error"]
    assert (done.code, told["type"], told["phase"]) == (3, "NotAvailableError", "env")
    assert told["available"] == ["cudnn", "cudnn_graph", "cudnn_ops"]


def test_github_gets_each_line_once_in_its_file(root: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT")}
    files["GITHUB_ENV"].write_text("BEFORE=1")
    env = {name: str(path) for name, path in files.items()}
    for _ in range(2):
        done = run_command("env", root / PREFIX, "--for", "torch", "--format", "github", env=env)
        assert done.code == 0, done.err
    assert files["GITHUB_ENV"].read_text() == f"BEFORE=1\nCUDNN_ROOT={root / PREFIX}\n"
    assert files["GITHUB_OUTPUT"].read_text() == f"prefix={root / PREFIX}\nversion=9.27.0.42\n"
    assert not files["GITHUB_PATH"].exists()
    assert f"CUDNN_ROOT={root / PREFIX}" in done.out


def test_github_gets_a_line_again_where_it_is_not_what_counts(root: Path, tmp_path: Path) -> None:
    """Of two lines for one name the later counts; and a line may be part of a value of several."""
    line = f"CUDNN_ROOT={root / PREFIX}\n"
    before = f"NOTES<<END\n{line}END\n{line}CUDNN_ROOT=/other\n"
    env = {name: str(tmp_path / name) for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT")}
    (tmp_path / "GITHUB_ENV").write_text(before)
    done = run_command("env", root / PREFIX, "--for", "torch", "--format", "github", env=env)
    assert done.code == 0, done.err
    assert (tmp_path / "GITHUB_ENV").read_text() == before + line


def test_what_may_go_wrong_goes_to_stderr_unless_quiet(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/libcudnn.so.9").touch()
    env = {"LD_LIBRARY_PATH": str(tmp_path / "other")}
    words = ("env", root / PREFIX, "--for", "loader")
    assert run_command(*words, env=env).err == (
        f"warning: LD_LIBRARY_PATH also leads to another cuDNN, in {tmp_path}/other: this one comes before it\n"
    )
    assert run_command(*words, "--quiet", env=env).err == ""
    assert len(json.loads(run_command(*words, "--json", env=env).out)["warnings"]) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(("--for", "caffe"), 2, "'caffe' is no consumer", id="unknown-consumer"),
        pytest.param((), 2, "arguments are required: --for", id="no-consumer"),
        pytest.param(("--for", "torch", "--format", "csh"), 2, "invalid choice: 'csh'", id="unknown-format"),
        pytest.param(("--for", "torch", "--format", "github"), 2, "GITHUB_ENV is not set", id="no-job"),
        pytest.param(("--for", "xla"), 3, "cannot serve xla", id="cannot-serve"),
    ],
)
def test_questions_without_an_answer(root: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = run_command("env", root / PREFIX, *words)
    assert (done.code, done.out) == (code, "")
    assert said in reason(done)


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        pytest.param("./nowhere", 3, "no record here", id="nothing-there"),
        pytest.param("./root", 3, "no record here", id="no-prefix"),
        pytest.param("9.26.0", 3, "9.26.0 is not installed; `list --installed`", id="other-label"),
        pytest.param("nine", 2, "nine", id="neither"),
        pytest.param("./root/cudnn/9.27.0/cudnn_samples/source", 3, "cannot serve cmake", id="samples"),
    ],
)
def test_targets_that_are_no_prefix_of_it(root: Path, target: str, code: int, said: str) -> None:
    words = ("env", target, "--for", "cmake", "--root", root, *CHOICE)
    done = run_command(*words, cwd=root.parent)
    assert (done.code, done.out) == (code, "")
    assert said in reason(done)


def test_several_prefixes_are_a_question_too_many(root: Path) -> None:
    done = run_command("env", "9.27.0", *CHOICE, "--cuda", "12", "--for", "torch", "--root", root)
    assert (done.code, reason(done)) == (2, "usage: env is for one prefix, and this asks for 2")


def test_a_prefix_damaged_since_is_found_out(root: Path) -> None:
    (root / PREFIX / "lib/libcudnn.so.9.27.0").unlink()
    done = run_command("env", root / PREFIX, "--for", "torch", "--json")
    told = json.loads(done.out)["error"]
    assert (done.code, told["type"], told["where"]) == (9, "VerificationFailed", str(root / PREFIX))
    assert told["findings"] == ["lib/libcudnn.so.9.27.0"]
    (root / PREFIX / ".cudnn-redist.json").write_text("{")
    done = run_command("env", root / PREFIX, "--for", "torch")
    assert done.code == 7
    assert "damaged record" in reason(done)


def test_a_path_with_a_line_break_is_refused(root: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a\nb"
    (root / PREFIX).rename(odd)
    done = run_command("env", odd, "--for", "torch")
    assert (done.code, done.out) == (2, "")
    assert "cannot hold this path" in reason(done)


@pytest.mark.parametrize("name", ["with blanks", "it's", 'say "x"', "$HOME", "100%", "`id`"])
def test_odd_paths_reach_the_program_that_a_shell_starts(root: Path, tmp_path: Path, name: str) -> None:
    (root / PREFIX).rename(tmp_path / name)
    text = run_command("env", tmp_path / name, "--for", "torch").out
    script = 'eval "$1"; printf "%s" "$CUDNN_ROOT"'
    done = subprocess.run(["sh", "-c", script, "-", text], capture_output=True, text=True, check=True)
    assert done.stdout == str(tmp_path / name)


def test_the_library_gives_the_same_variables(root: Path) -> None:
    prefix = Prefix.open(root / PREFIX)
    assert prefix.env("cmake") == {"CMAKE_PREFIX_PATH": str(root / PREFIX)}
    assert prefix.env("cmake", {"CMAKE_PREFIX_PATH": "/a"}) == {"CMAKE_PREFIX_PATH": f"{root / PREFIX}:/a"}
    with pytest.raises(errors.UsageError, match="no consumer"):
        prefix.env("caffe")


def test_a_prefix_of_the_first_versions_serves_all_that_do_not_need_what_it_lacks(root: Path) -> None:
    """They had no CMake package; fetch --force adds it."""
    path = root / PREFIX
    record = json.loads((path / ".cudnn-redist.json").read_bytes())
    record["generated"] = [entry for entry in record["generated"] if entry["path"] == "lib64"]
    (path / ".cudnn-redist.json").write_text(json.dumps(record))
    for directory in ("lib/cmake", "lib/pkgconfig"):
        shutil.rmtree(path / directory)
    assert run_command("verify", path).code == 0
    assert run_command("env", path, "--for", "torch").code == 0
    done = run_command("env", path, "--for", "cmake")
    assert done.code == 3
    assert "fetch --force adds" in reason(done)
