"""The words of the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .. import __version__
from ..errors import UsageError
from .output import Output

__all__ = ["parse"]

_Command = Callable[[argparse.Namespace, Output], int]


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed words, with the command's function as ``run``; ``UsageError`` for what makes no sense."""
    return _parser().parse_args(words)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


if TYPE_CHECKING:
    # Not subscriptable at run time, and without a public name.
    _Commands = argparse._SubParsersAction[_Parser]  # noqa: SLF001


def _parser() -> _Parser:
    parser = _Parser(
        prog="cudnn-redist",
        description="From a cuDNN release label to a verified, versioned local prefix.",
        epilog="Exit codes: 0 done, 1 bug, 2 usage, 3 not there, 4 network, 5 integrity, 6 damaged or unsafe, "
        "7 disk or permission, 8 source differs from the lock, 9 verify found a fault.",
    )
    parser.add_argument("--version", action="version", version=f"cudnn-redist {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_fetch(commands)
    _add_list(commands)
    _add_url(commands)
    _add_where(commands)
    _add_verify(commands)
    _add_remove(commands)
    return parser


def _add_fetch(commands: _Commands) -> None:
    fetch = _command(commands, "fetch", "getting:fetch", "install a release and print the path of its prefix")
    fetch.add_argument("label", metavar="LABEL", help="9.27.0, or the newest of 9.27, 9, or latest")
    _add_choices(fetch)
    _add_sources(fetch)
    fetch.add_argument("--dest", type=Path, metavar="DIR", help="install one archive into exactly DIR")
    fetch.add_argument("--link", type=Path, metavar="PATH", help="point the symlink PATH at the prefix")
    fetch.add_argument(
        "--force", action="store_true", help="install again, replacing the prefix that is there"
    )
    fetch.add_argument(
        "--archives",
        type=Path,
        metavar="DIR",
        default=_path_variable("CUDNN_REDIST_ARCHIVES"),
        help="look for archives in this store first, and keep them there",
    )
    fetch.add_argument("--verify-first", action="store_true", help="unpack only after the digest is known")
    fetch.add_argument("--durable", action="store_true", help="flush to the disk before publishing")
    fetch.add_argument("--dry-run", action="store_true", help="say what would be done and what it needs")
    fetch.add_argument("--threads", type=_positive, metavar="N", help="threads that decode (all cores)")
    fetch.add_argument(
        "--memory", type=_positive, metavar="BYTES", help="bytes of xz blocks under way (40 MiB a thread)"
    )


def _add_list(commands: _Commands) -> None:
    show = _command(commands, "list", "showing:list_", "show labels, what a label has, or what is installed")
    show.add_argument("label", metavar="LABEL", nargs="?", help="show what this release has")
    show.add_argument("--installed", action="store_true", help="show what is installed")
    _add_product(show)
    _add_sources(show)


def _add_url(commands: _Commands) -> None:
    url = _command(commands, "url", "showing:url", "print URLs, sizes and digests, and fetch nothing")
    url.add_argument("label", metavar="LABEL")
    _add_choices(url)
    _add_sources(url)


def _add_where(commands: _Commands) -> None:
    where = _command(commands, "where", "showing:where", "print the path of an installed prefix")
    where.add_argument("label", metavar="LABEL")
    _add_choices(where)
    _add_root(where)


def _add_verify(commands: _Commands) -> None:
    verify = _command(commands, "verify", "upkeep:verify", "compare installed files with their record")
    _add_installed(verify)


def _add_remove(commands: _Commands) -> None:
    remove = _command(commands, "remove", "upkeep:remove", "remove installed prefixes")
    _add_installed(remove)


def _add_installed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="LABEL|PREFIX", help="all prefixes of a label that fit, or one directory"
    )
    _add_choices(parser)
    _add_root(parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    _add_product(parser)
    parser.add_argument(
        "--component", action="append", metavar="C", help="the main one by default; repeatable"
    )
    parser.add_argument("--platform", action="append", metavar="P", help="linux-x86_64, ...; repeatable")
    parser.add_argument("--cuda", action="append", metavar="V", help="12, 12.8, cuda13, ...; repeatable")


def _add_product(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--product", default="cudnn", metavar="NAME", help="cudnn (default), cuda, cutensor, ..."
    )


def _add_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        action="append",
        metavar="URL|DIR",
        help="an HTTP root or a directory laid out like NVIDIA's; repeatable, tried in order",
    )
    _add_root(parser)
    parser.add_argument("--refresh", action="store_true", help="read the manifest again, though it is kept")
    parser.add_argument("--manifest-sha256", metavar="HEX", help="refuse any other manifest")
    parser.add_argument("--ca-file", type=Path, metavar="PEM", help="trust these certificates too")
    parser.add_argument("--retries", type=_count, metavar="N", help="failures in a row before giving up (5)")
    parser.add_argument("--stall-timeout", type=_seconds, metavar="S", help="seconds without a byte (30)")
    parser.add_argument("--min-speed", type=_count, metavar="B", help="bytes per second over 30 s (1024)")


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, metavar="DIR", help="where prefixes live (CUDNN_REDIST_ROOT)")


def _command(commands: _Commands, name: str, home: str, text: str) -> _Parser:
    parser = commands.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but failures")
    parser.add_argument("--no-progress", action="store_true", help="no progress bar or lines")
    parser.add_argument("--debug", action="store_true", help="show requests, retries and tracebacks")
    parser.set_defaults(run=_late(home))
    return parser


def _late(home: str) -> _Command:
    """Import a command's module only when it runs: ``--help`` must start light."""
    module, _, name = home.partition(":")

    def run(arguments: argparse.Namespace, output: Output) -> int:
        command: _Command = getattr(import_module(f".{module}", __package__), name)
        return command(arguments, output)

    return run


def _path_variable(name: str) -> Path | None:
    value = os.environ.get(name)
    return Path(value) if value else None


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def _positive(text: str) -> int:
    if (number := _count(text)) == 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return number
