"""The words of the command line."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .. import __version__
from ..errors import UsageError
from .output import Output, print_result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Parser", "parse"]


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed words, with the command's function as ``run``; ``UsageError`` for what makes no sense."""
    command = next((each for each in _COMMANDS if each.name in words[:1]), None)
    if command is None:
        overview = _overview()
        overview.parse_known_args(words)
        overview.error("the COMMAND comes first, its labels and options after it")
    # Options cost time to import and to add, and a fetch that finds everything in place has none to lose.
    parser = _parser(command)
    _named(command.options)(parser)
    # Labels may stand before and after options; what stands after "--" would not survive being mixed.
    return parser.parse_args(words[1:]) if "--" in words else parser.parse_intermixed_args(words[1:])


class Parser(argparse.ArgumentParser):
    """argparse's, but raises instead of exiting with a message, and keeps its groups of options by title."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - those of argparse
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **settings)
        self._titled: dict[str, _Group] = {}

    def group(self, title: str) -> _Group:
        """Return the group of this title, made when it is first asked for."""
        if title not in self._titled:
            self._titled[title] = self.add_argument_group(title)
        return self._titled[title]

    def error(self, message: str) -> NoReturn:
        """Raise ``UsageError``."""
        raise UsageError(f"{message}; see {self.prog} --help")

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002 - argparse's own
        # What --help and --version say is a result like any other.
        print_result(message)


class _Formatter(argparse.HelpFormatter):
    """argparse's, made anew for each option: its own asks shutil for the width, which takes longer than the rest."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


@cache
def _columns() -> int:
    """Return the width of the terminal, as ``shutil.get_terminal_size`` tells it."""
    with suppress(KeyError, ValueError):
        if (columns := int(os.environ["COLUMNS"])) > 0:
            return columns
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]  # see above
    return 80


if TYPE_CHECKING:
    # It has no public name.
    _Group = argparse._ArgumentGroup  # noqa: SLF001


class _Command(NamedTuple):
    """A command as it is shown, and where its function and what adds its options live (module:name)."""

    usage: str
    home: str
    text: str
    options: str

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]


def _overview() -> Parser:
    parser = Parser(
        prog="cudnn-redist",
        description="From a cuDNN release label to a verified, versioned local prefix.",
        epilog="COMMAND --help tells more. Exit codes: 0 done, 1 bug, 2 usage, 3 not there, 4 network, "
        "5 integrity, 6 damaged or unsafe, 7 disk or permission, 8 not as locked, 9 verify, doctor or "
        "mirror --check found a fault, 130 and 143 ended by a signal.",
    )
    parser.add_argument("--version", action="version", version=f"cudnn-redist {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="cudnn-redist")
    for command in _COMMANDS:
        commands.add_parser(command.name, help=command.text, add_help=False)
    return parser


def _parser(command: _Command) -> Parser:
    parser = Parser(
        prog=f"cudnn-redist {command.name}",
        usage=f"cudnn-redist {command.usage}{'' if '[OPTION]' in command.usage else ' [OPTION]...'}",
        description=command.text[0].upper() + command.text[1:] + ".",
        add_help=False,
    )
    parser.set_defaults(run=_late(command.home))
    return parser


_COMMANDS = (
    _Command(
        "fetch [LABEL]...",
        "getting:fetch",
        "install a release and print the path of its prefix",
        "command_options:add_fetch",
    ),
    _Command(
        "list [LABEL]",
        "showing:list_",
        "show labels, what a label has, or what is installed",
        "command_options:add_list",
    ),
    _Command(
        "url [LABEL]...",
        "showing:url",
        "print URLs, sizes and digests, and fetch nothing",
        "command_options:add_url",
    ),
    _Command(
        "where LABEL", "showing:where", "print the path of an installed prefix", "command_options:add_where"
    ),
    _Command(
        "env LABEL|PREFIX --for CONSUMER",
        "environment:env",
        "print the variables by which a consumer finds a prefix",
        "command_options:add_env",
    ),
    _Command(
        "verify [LABEL|PREFIX]",
        "upkeep:verify",
        "see whether prefixes are as recorded, whole, and load",
        "command_options:add_verify",
    ),
    _Command(
        "doctor [OPTION]... [-- COMMAND...]",
        "diagnosis:doctor",
        "say which cuDNNs are here, who would load which, and what is wrong",
        "command_options:add_doctor",
    ),
    _Command(
        "remove LABEL|PREFIX", "upkeep:remove", "remove installed prefixes", "command_options:add_remove"
    ),
    _Command(
        "lock [LABEL]...",
        "locks:lock",
        "write down, digest by digest, what releases are",
        "lock_options:add_lock",
    ),
    _Command("prune --lock FILE...", "locks:prune", "remove what no lock names", "lock_options:add_prune"),
    _Command(
        "adopt PATH",
        "adopting:adopt",
        "make a prefix of a cuDNN that is at hand",
        "command_options:add_adopt",
    ),
    _Command(
        "mirror DEST [LABEL]...",
        "mirrors:mirror",
        "copy releases to where others fetch them from",
        "mirror_options:add_mirror",
    ),
    _Command(
        "bundle OUT [LABEL]...",
        "bundles:bundle",
        "pack releases into one file, for machines without a network",
        "mirror_options:add_bundle",
    ),
    _Command(
        "export KIND [LABEL]...",
        "exports:export",
        "print what CMake, Bazel, Nix, Docker, ... fetch a release by",
        "export_options:add_export",
    ),
)


def _late(home: str) -> Callable[[argparse.Namespace, Output], int]:
    """Import a command's module only when it runs: ``--help`` must start light."""

    def run(arguments: argparse.Namespace, output: Output) -> int:
        code: int = _named(home)(arguments, output)
        return code

    return run


def _named(home: str) -> Callable[..., Any]:
    module, _, name = home.partition(":")
    found: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return found
