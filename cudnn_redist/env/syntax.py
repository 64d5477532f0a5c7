"""Variables in the syntax of one shell, quoted so that the shell reads back exactly what they hold."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .variables import Environment, Setting

__all__ = ["SHELLS", "shell_text"]

# PowerShell takes the typographic single quotes for the plain one (about_Quoting_Rules).
_POWERSHELL_QUOTES = re.compile("(['\u2018\u2019\u201a\u201b])")
_BARE = re.compile(r"[A-Za-z0-9_./:,+@=-]*")


def shell_text(environment: Environment, shell: str) -> str:
    """Return the lines that set the variables in a shell of ``SHELLS``, its comments last.

    Values hold no line break (``environment_for``). ``UsageError`` where a syntax cannot hold a value: a double quote
    in ``cmd``, a single one in ``dotenv``, whose readers do not agree on any way to write it.
    """
    assigned, comment = SHELLS[shell]
    lines = [assigned(setting) for setting in environment.settings]
    return "\n".join((*lines, *map(comment, environment.comments)))


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
    if '"' in setting.value:
        raise UsageError(
            f"{setting.name} has a double quote, which cmd cannot hold", phase="env", where=setting.value
        )
    return f'@set "{setting.name}={setting.value.replace("%", "%%")}"'


def _dotenv(setting: Setting) -> str:
    if _BARE.fullmatch(setting.value):
        return f"{setting.name}={setting.value}"
    if "'" in setting.value:
        raise UsageError(
            f"{setting.name} has a single quote, which .env files cannot hold",
            phase="env",
            where=setting.value,
        )
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
