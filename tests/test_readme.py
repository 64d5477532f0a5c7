"""README tells the truth: its commands run, its Python runs, its tables and usage are those of the program."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from redist import RedistServer, RedistTree
from redist.command import run_command

from cudnn_redist import errors
from cudnn_redist.findings import CODES

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
MIRROR = "https://mirror.example/redist/"
HEX = "HEX"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def task_commands() -> list[str]:
    table = README.partition("| task | command |")[2].partition("\n\n")[0]
    return re.findall(r"`((?:fetch|list|url|where|verify|remove) [^`]*|list)`", table)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What README's commands speak of: two products, three components, four platforms."""
    folder = tmp_path_factory.mktemp("published")
    cudnn = RedistTree(folder)
    platforms = ("linux-x86_64", "linux-sbsa", "windows-x86_64")
    cudnn.add_release("9.27.0", components=("cudnn", "cudnn_jit", "cudnn_samples"), platforms=platforms)
    RedistTree(folder, product="cutensor").add_release("2.3.0", components=("libcutensor",))
    return folder


@pytest.mark.parametrize("command", task_commands())
def test_every_command_of_the_task_table_runs(command: str, published: Path, tmp_path: Path) -> None:
    with RedistServer(published) as server:
        env = {"CUDNN_REDIST_ROOT": str(tmp_path / "root"), "CUDNN_REDIST_SOURCE": server.url}
        assert run_command("fetch", "9.27.0", "--cuda", "12", "--cuda", "13", env=env).code == 0

        stand_ins = {
            MIRROR: f"{server.url}cudnn/redist/",
            "/mnt/redist": str(published / "cudnn" / "redist"),
            "/mnt/cache": str(tmp_path / "cache"),
            "/opt/cudnn": str(tmp_path / "link"),
            "third_party/cudnn": str(tmp_path / "third_party"),
            "PREFIX": run_command("where", "9.27.0", "--cuda", "13", env=env).out.strip(),
            HEX: run_command("list", "9.27.0", "--json", env=env).out.partition('"sha256": "')[2][:64],
        }
        words = [stand_ins.get(word, word) for word in shlex.split(command)]
        done = run_command(*words, env=env, cwd=tmp_path)

    assert (done.code, done.err.count("Traceback")) == (0, 0), done.err
    assert done.out


def test_the_first_block_of_use_gives_a_shell_the_path(published: Path, tmp_path: Path) -> None:
    line = next(block for block in blocks("sh") if "CUDNN_PATH" in block)
    script = (
        line.replace("cudnn-redist", f"{shlex.quote(sys.executable)} -m cudnn_redist")
        + 'echo "[$CUDNN_PATH]"'
    )
    with RedistServer(published) as server:
        env = {
            "PATH": "/usr/bin:/bin",
            "CUDNN_REDIST_ROOT": str(tmp_path),
            "CUDNN_REDIST_SOURCE": server.url,
        }
        platform = " --platform linux-x86_64"
        done = subprocess.run(
            ["sh", "-c", script.replace("--cuda 13", f"--cuda 13{platform}")],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == f"[{tmp_path}/cudnn/9.27.0/cudnn/linux-x86_64/cuda13]\n"


def test_the_python_block_runs(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = (block for block in blocks("python") if "prefixes = install" in block)
    source = str(published)
    code = code.replace(
        'cuda="13")', f'cuda="13", platform="linux-x86_64", sources=[{source!r}], root={str(tmp_path)!r})'
    )
    code = code.replace('"/mnt/redist"', repr(source))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["prefix"].path.is_dir()  # type: ignore[attr-defined]
    assert [prefix.path.parts[-1] for prefix in names["prefixes"]] == ["cuda12", "cuda13"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["", "fetch"], ids=["top", "fetch"])
def test_usage_blocks_equal_the_help(command: str) -> None:
    words = [*command.split(), "--help"]
    shown = run_command(*words, env={"COLUMNS": "100"})
    title = " ".join(["$ cudnn-redist", *words])
    (block,) = (block for block in blocks("text") if block.startswith(f"{title}\n"))
    assert block.removeprefix(f"{title}\n") == shown.out


def test_the_codes_of_findings_are_those_of_the_program() -> None:
    table = README.partition("| code | severity | meaning |")[2].partition("\n\n")[0]
    rows = [row.split("|")[1:3] for row in table.splitlines()[2:]]
    told = {code: severity.strip() for names, severity in rows for code in re.findall(r"`([a-z-]+)`", names)}
    assert len(told) > 20
    assert told == {code: CODES[code].severity for code in told}


def test_exit_codes_are_those_of_the_classes() -> None:
    table = README.partition("| code | meaning | class |")[2].partition("\n\n")[0]
    told = {
        name: int(row.split("|")[1])
        for row in table.splitlines()
        if row.count("|") == 4 and row.split("|")[1].strip().isdecimal()
        for name in re.findall(r"`(\w+Error|\w+Mismatch|\w+Failed)`", row)
    }
    branches = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    top = {kind.__name__: kind.exit_code for kind in branches if kind.__bases__ == (errors.RedistError,)}
    assert told == top


def test_every_variable_is_one_that_the_code_reads() -> None:
    told = set(re.findall(r"`(CUDNN_REDIST_\w+)`", README))
    code = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "cudnn_redist").rglob("*.py"))
    assert told == set(re.findall(r"CUDNN_REDIST_\w+", code))
    table = README.partition("| variable | stands for |")[2].partition("\n\n")[0]
    assert {*re.findall(r'environ(?:\.get\(|\[)"(NETRC|CUDNN_REDIST_\w+)"', code)} <= set(
        re.findall(r"`(\w+)`", table)
    )


def test_every_file_that_readme_names_is_there() -> None:
    named = set(re.findall(r"`((?:examples|tests)/[\w/.-]+|[A-Z]+\.md)`", README))
    examples = {path.name for path in (PROJECT / "examples").iterdir() if path.name != "__pycache__"}
    assert examples == {name.split("/")[1] for name in named if name.startswith("examples/")}
    assert [name for name in named if not (PROJECT / name).exists()] == []


def test_every_promise_names_tests_that_are_there() -> None:
    table = README.partition("| promise | held by |")[2].partition("\n\n")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and not row.startswith("|--")]
    named = [re.findall(r"`(test_\w+)`", row) for row in rows]
    assert named
    assert all(named)
    tests = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"^def (test_\w+)", tests, flags=re.MULTILINE))
    assert {name for names in named for name in names} <= known
