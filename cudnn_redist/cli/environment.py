"""``env``: how one consumer finds one installed prefix."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..env.github import github_lines
from ..env.syntax import shell_text
from ..env.variables import environment_for
from ..errors import UsageError
from ..prefix.installed import Prefix
from ..prefix.seen import facts_of
from ..prefix.space import disk_errors
from .showing import standing
from .words import named_path

if TYPE_CHECKING:
    import argparse

    from ..env.facts import Facts
    from ..env.variables import Environment
    from .output import Output

__all__ = ["env"]


def env(arguments: argparse.Namespace, output: Output) -> int:
    """Print the variables, or append them to the files of a GitHub Actions job; what may go wrong goes to stderr."""
    output.json = output.json or arguments.format == "json"
    facts = facts_of(_prefix(arguments))
    found = environment_for(facts, arguments.consumer, os.environ, look=glob.glob)
    text = ""
    if arguments.format == "github":
        text = _append_for_github(found, facts)
    elif not output.json:
        text = shell_text(found, arguments.format)
    for warning in found.warnings:
        output.note(f"warning: {warning}")
    output.result(text, _told(found, facts, arguments.consumer))
    return 0


def _prefix(arguments: argparse.Namespace) -> Prefix:
    path = named_path(arguments.label)
    if path is not None:
        return Prefix.open(path)
    prefixes = standing(arguments)
    if len(prefixes) != 1:
        raise UsageError(f"env is for one prefix, and this asks for {len(prefixes)}")
    return prefixes[0]


def _append_for_github(found: Environment, facts: Facts) -> str:
    """Append to the job's files what they do not end with, and return all of it."""
    lines = github_lines(found, facts)
    missing = [name for name in lines if not os.environ.get(name)]
    if missing:
        raise UsageError(f"{missing[0]} is not set: this is no step of a GitHub Actions job", phase="env")
    for name, wanted in lines.items():
        with disk_errors(os.environ[name], phase="env"):
            _append(Path(os.environ[name]), wanted)
    return "\n".join(line for wanted in lines.values() for line in wanted)


def _append(path: Path, wanted: tuple[str, ...]) -> None:
    """Append lines where they are not the last: of two for one name the later counts."""
    there = path.read_bytes() if path.exists() else b""
    lines = b"".join(os.fsencode(line) + b"\n" for line in wanted)
    if lines and not (b"\n" + there).endswith(b"\n" + lines):
        opening = b"\n" if there and not there.endswith(b"\n") else b""
        with path.open("ab") as file:
            file.write(opening + lines)


def _told(found: Environment, facts: Facts, consumer: str) -> dict[str, Any]:
    return {
        "prefix": str(facts.path),
        "version": facts.version,
        "consumer": consumer,
        "variables": found.variables,
        "comments": list(found.comments),
        "warnings": list(found.warnings),
    }
