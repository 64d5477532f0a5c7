from __future__ import annotations

import json
import shutil
import string
import subprocess

import pytest

from cudnn_redist import errors
from cudnn_redist.env.syntax import SHELLS, shell_text
from cudnn_redist.env.variables import Environment, Setting

ODD = [
    "/plain",
    "/with blanks  two",
    "/quote's",
    '/double"quote',
    "/$HOME and ${HOME}",
    "/`id` $(id)",
    "/100% %PATH%",
    "/back\\slash\\",
    "/semi;amp&pipe|hash#star*",
    "/-dash ~tilde !bang ^hat",
    "/ümlaut",
    "/two\nlines",
    "",
]


def setting(value: str, name: str = "CUDNN_PATH") -> Environment:
    return Environment(settings=(Setting(name=name, value=value, added=value),))


def run(*words: str) -> str:
    shell = shutil.which(words[0])
    if shell is None:
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run(
        [shell, *words[1:]], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
@pytest.mark.parametrize("value", ODD)
def test_a_posix_shell_reads_back_what_was_written(shell: str, value: str) -> None:
    text = shell_text(setting(value), "sh")
    # As it is meant to be used: eval "$(cudnn-redist env ...)".
    script = 'eval "$1"; printenv CUDNN_PATH'
    assert run(shell, "-c", script, "-", text) == f"{value}\n"


@pytest.mark.parametrize("name", ["CUDNN_PATH", "CUDNN_HOME"])
@pytest.mark.parametrize("value", ODD)
def test_fish_reads_back_what_was_written(value: str, name: str) -> None:
    text = shell_text(setting(value, name), "fish")
    assert run("fish", "--no-config", "-c", f"{text}\nprintenv {name}") == f"{value}\n"


def test_fish_keeps_a_list_as_one_value_for_programs() -> None:
    text = shell_text(setting("/p/lib:/a b", "LD_LIBRARY_PATH"), "fish")
    assert run("fish", "--no-config", "-c", f"{text}\nprintenv LD_LIBRARY_PATH") == "/p/lib:/a b\n"


@pytest.mark.parametrize("value", [value for value in ODD if not {"'", "\n"} & set(value)])
def test_a_dotenv_file_says_the_same_to_a_shell(value: str) -> None:
    script = 'set -a; eval "$1"; printenv CUDNN_PATH'
    assert run("sh", "-c", script, "-", shell_text(setting(value), "dotenv")) == f"{value}\n"


def test_a_dotenv_file_quotes_all_that_a_shell_would_take_for_more_than_itself() -> None:
    values = [f"/a{mark}b" for mark in string.punctuation if mark != "'"]
    settings = tuple(
        Setting(name=f"V{place}", value=value, added=value) for place, value in enumerate(values)
    )
    text = shell_text(Environment(settings=settings), "dotenv")
    script = 'set -a; eval "$1"; shift; printenv "$@"'
    names = [each.name for each in settings]
    assert run("sh", "-c", script, "-", text, *names).splitlines() == values


@pytest.mark.parametrize(
    ("shell", "value", "line"),
    [
        pytest.param("pwsh", r"C:\a b", r"$env:CUDNN_PATH = 'C:\a b'", id="pwsh"),
        pytest.param("pwsh", "/it's", "$env:CUDNN_PATH = '/it''s'", id="pwsh-quote"),
        pytest.param("pwsh", "/a\u2019b", "$env:CUDNN_PATH = '/a\u2019\u2019b'", id="pwsh-typographic-quote"),
        pytest.param("pwsh", "/$HOME `n", "$env:CUDNN_PATH = '/$HOME `n'", id="pwsh-no-expansion"),
        pytest.param("cmd", r"C:\a b", r'@set "CUDNN_PATH=C:\a b"', id="cmd"),
        pytest.param("cmd", r"C:\100%&|<>^", r'@set "CUDNN_PATH=C:\100%%&|<>^"', id="cmd-percent"),
        pytest.param("dotenv", "/p/lib:/a", "CUDNN_PATH=/p/lib:/a", id="dotenv-bare"),
        pytest.param("dotenv", r"C:\p", r"CUDNN_PATH='C:\p'", id="dotenv-quoted"),
    ],
)
def test_shells_that_are_not_here_by_their_rules(shell: str, value: str, line: str) -> None:
    assert shell_text(setting(value), shell) == line


@pytest.mark.parametrize(
    ("shell", "value"),
    [
        ("cmd", '/a"b'),
        ("dotenv", "/a'b"),
        *((shell, f"/a{end}X=1") for shell in ("cmd", "dotenv") for end in "\n\r"),
    ],
)
def test_what_a_syntax_cannot_hold_is_refused(shell: str, value: str) -> None:
    with pytest.raises(errors.UsageError, match="cannot hold") as raised:
        shell_text(setting(value), shell)
    assert raised.value.where == value


@pytest.mark.parametrize("shell", SHELLS)
def test_comments_come_last_and_set_nothing(shell: str) -> None:
    environment = Environment(settings=setting("/p").settings, comments=("100% sure", "/p/lib"))
    first, *comments = shell_text(environment, shell).splitlines()
    assert "CUDNN_PATH" in first
    mark, percent = ("::", "100%% sure") if shell == "cmd" else ("#", "100% sure")
    assert comments == [f"{mark} {percent}", f"{mark} /p/lib"]


def test_nothing_to_set_is_no_line() -> None:
    assert {shell: shell_text(Environment(settings=()), shell) for shell in SHELLS} == dict.fromkeys(
        SHELLS, ""
    )
    assert json.dumps(Environment(settings=()).variables) == "{}"
