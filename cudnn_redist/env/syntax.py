"""Variables in the syntax of one shell, quoted so that the shell reads back exactly what they hold."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .variables import Environment, Setting

__all__ = ["SHELLS", "require_without", "shell_text"]

_LINE_BREAKS = {"\n": "a line break", "\r": "a line break"}

# PowerShell takes the typographic single quotes for the plain one (about_Quoting_Rules).
_POWERSHELL_QUOTES = re.compile("(['\u2018\u2019\u201a\u201b])")
_BARE = re.compile(r"[A-Za-z0-9_./:,+@=-]*")


def shell_text(environment: Environment, shell: str) -> str:
    """Return the lines that set the variables in a shell of ``SHELLS``, its comments last.

    ``UsageError`` where a syntax cannot hold a value (lists keep what they had, whatever that is): a line break in
    ``cmd`` and ``dotenv``, a double quote in ``cmd``, a single one in ``dotenv``, whose readers do not agree on any way
    to write it.
    """
    assigned, comment = SHELLS[shell]
    lines = [assigned(setting) for setting in environment.settings]
    return "\n".join((*lines, *map(comment, environment.comments)))


def require_without(setting: Setting, reader: str, marks: Mapping[str, str]) -> None:
    """Refuse, with ``UsageError``, a value that a ``reader`` of lines would end early: at a line break or a mark."""
    for mark, name in {**_LINE_BREAKS, **marks}.items():
        if mark in setting.value:
            raise UsageError(
                f"{setting.name} has {name}, which {reader} cannot hold", phase="env", where=setting.value
            )


def _sh(setting: Setting) -> str:
    return f"export {setting.name}={shlex.quote(setting.value)}"


def _fish(setting: Setting) -> str:
    quoted = setting.value.replace("\\", "\\\\").replace("'", "\\'")
    return f"set -gx {setting.name} '{quoted}'"


def _pwsh(setting: Setting) -> str:
    quoted = _POWERSHELL_QUOTES.sub(r"\1\1", setting.value)
    return f"$env:{setting.name} = '{quoted}'"


def _cmd(setting: Setting) -> str:
    """Return a line for a batch file, where a percent sign is written twice; delayed expansion is off, as usual."""
    require_without(setting, "cmd", {'"': "a double quote"})
    return f'@set "{setting.name}={setting.value.replace("%", "%%")}"'


def _dotenv(setting: Setting) -> str:
    if _BARE.fullmatch(setting.value):
        return f"{setting.name}={setting.value}"
    require_without(setting, ".env files", {"'": "a single quote"})
    return f"{setting.name}='{setting.value}'"


def _hash_comment(text: str) -> str:
    return f"# {text}"


def _cmd_comment(text: str) -> str:
    return f":: {text.replace('%', '%%')}"


SHELLS: Mapping[str, tuple[Callable[[Setting], str], Callable[[str], str]]] = {
    "sh": (_sh, _hash_comment),
    "fish": (_fish, _hash_comment),
    "pwsh": (_pwsh, _hash_comment),
    "cmd": (_cmd, _cmd_comment),
    "dotenv": (_dotenv, _hash_comment),
}
"""How each syntax assigns a variable and writes a comment."""
