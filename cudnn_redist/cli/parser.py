"""The words of the command line."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .. import __version__
from ..errors import UsageError
from .export_options import add_export
from .lock_options import add_lock, add_lock_use, add_prune, add_verify_lock
from .mirror_options import add_bundle, add_mirror
from .options import (
    HOW,
    TO,
    WHAT,
    add_archives,
    add_choices,
    add_manner,
    add_parts,
    add_patience,
    add_places,
    add_product,
    add_root,
    add_sources,
    add_strict,
    add_telling,
)
from .output import Output, print_result
from .values import count, path, word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Parser", "parse"]

_LABEL_HELP = "9.27.0; the newest of 9.27 or 9; latest"
_CONSUMERS_HELP = (
    "torch, torch-extension, jax, xla, tensorflow, onnxruntime, opencv, ctranslate2, transformer-engine, "
    "cudnn-frontend, cmake, pkg-config, compiler or loader"
)
_FORMATS = ("sh", "fish", "pwsh", "cmd", "dotenv", "github", "json")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed words, with the command's function as ``run``; ``UsageError`` for what makes no sense."""
    return _parser(words).parse_args(words)


class Parser(argparse.ArgumentParser):
    """argparse's, but raises instead of exiting with a message, and keeps its groups of options by title."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - those of argparse
        super().__init__(allow_abbrev=False, **settings)
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


if TYPE_CHECKING:
    # Not subscriptable at run time, and without public names.
    _Commands = argparse._SubParsersAction[Parser]  # noqa: SLF001
    _Group = argparse._ArgumentGroup  # noqa: SLF001


class _Command(NamedTuple):
    """A command as it is shown, where its function lives (module:name), and what adds its options."""

    usage: str
    home: str
    text: str
    add_options: Callable[[Parser], None]

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]


def _parser(words: Sequence[str]) -> Parser:
    parser = Parser(
        prog="cudnn-redist",
        description="From a cuDNN release label to a verified, versioned local prefix.",
        epilog="COMMAND --help tells more. Exit codes: 0 done, 1 bug, 2 usage, 3 not there, 4 network, "
        "5 integrity, 6 damaged or unsafe, 7 disk or permission, 8 not as locked, 9 verify or doctor "
        "found a fault, 130 and 143 ended by a signal.",
    )
    parser.add_argument("--version", action="version", version=f"cudnn-redist {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="cudnn-redist")
    for command in _COMMANDS:
        added = _added(commands, command)
        # Options cost time to add, and a fetch that finds everything in place has none to lose.
        if command.name in words:
            command.add_options(added)
    return parser


def _added(commands: _Commands, command: _Command) -> Parser:
    parser = commands.add_parser(
        command.name,
        help=command.text,
        usage=f"cudnn-redist {command.usage} [OPTION]...",
        description=command.text[0].upper() + command.text[1:] + ".",
        add_help=False,
    )
    parser.set_defaults(run=_late(command.home))
    return parser


def _add_fetch(fetch: Parser) -> None:
    fetch.group(WHAT).add_argument("labels", metavar="LABEL", nargs="*", help=_LABEL_HELP)
    add_choices(fetch, product=None)
    add_parts(fetch)
    add_lock_use(fetch)
    add_sources(fetch)
    add_archives(fetch)
    add_places(fetch)
    add_manner(fetch)
    add_strict(fetch)
    add_patience(fetch)
    add_telling(fetch)


def _add_list(show: Parser) -> None:
    add = show.group(WHAT).add_argument
    add("label", metavar="LABEL", nargs="?", help="show what this release has")
    add("--installed", action="store_true", help="show what is installed, of every product or the one given")
    add("--channels", action="store_true", help="show the channels of a content-addressed server")
    add_product(show, default=None)
    add_sources(show)
    add_root(show)
    add_strict(show)
    add_patience(show)
    add_telling(show)


def _add_url(url: Parser) -> None:
    url.group(WHAT).add_argument("labels", metavar="LABEL", nargs="*", help=_LABEL_HELP)
    add_choices(url, product=None)
    add_parts(url)
    add_lock_use(url)
    add_sources(url)
    add_root(url)
    add_patience(url)
    add_telling(url)


def _add_where(where: Parser) -> None:
    where.group(WHAT).add_argument("label", metavar="LABEL", help="a full label, such as 9.27.0")
    add_choices(where)
    add_parts(where)
    add_root(where)
    add_telling(where)


def _add_env(env: Parser) -> None:
    add = env.group(WHAT).add_argument
    add("label", metavar="LABEL|PREFIX", help="a full label, such as 9.27.0, or a directory (./DIR)")
    add("--for", dest="consumer", required=True, metavar="CONSUMER", help=_CONSUMERS_HELP)
    add("--format", choices=_FORMATS, default="sh", metavar="F", help=f"{', '.join(_FORMATS)} (sh)")
    add_choices(env)
    add_parts(env)
    add_root(env)
    add_telling(env)


def _add_verify(verify: Parser) -> None:
    _add_installed(verify, needed=False)
    add = verify.group(HOW).add_argument
    add("--load", action="store_true", help="load the library too, in a child process (no GPU needed)")
    add("--gpu", action="store_true", help="let it work on the GPU too, in a child process")
    add_verify_lock(verify)


def _add_adopt(adopt: Parser) -> None:
    add = adopt.group(WHAT).add_argument
    add(
        "path", type=path, metavar="PATH", help="an archive, a wheel from PyPI, or a directory that has cuDNN"
    )
    add("--as", dest="version", metavar="VERSION", help="its version, where nothing in it tells")
    add("--component", type=word, metavar="C", help="what it is meant to be: cudnn or cudnn_jit")
    add("--platform", metavar="P", help="linux-sbsa or linux-aarch64, where only that is in doubt")
    add("--cuda", metavar="V", help="the CUDA it is for, where its name does not tell")
    add_sources(adopt, pinned=False, copied=True)
    add_root(adopt)
    adopt.group(TO).add_argument("--force", action="store_true", help="replace the prefix that is there")
    add_patience(adopt)
    add_telling(adopt)


def _add_installed(parser: Parser, *, needed: bool = True) -> None:
    parser.group(WHAT).add_argument(
        "target",
        metavar="LABEL|PREFIX",
        nargs=None if needed else "?",
        help="every prefix of a label that fits, or one directory (./DIR)",
    )
    add_choices(parser, otherwise="any")
    add_parts(parser, otherwise="any")
    add_root(parser)
    add_telling(parser)


def _add_doctor(doctor: Parser) -> None:
    add = doctor.group(WHAT).add_argument
    add("command", metavar="COMMAND", nargs="*", help="run this after --, and say what it maps of cuDNN")
    add("--pid", type=count, metavar="N", help="say what a running process has mapped")
    add(
        "--python", action="append", type=path, metavar="PROGRAM", help="look at its packages too; repeatable"
    )
    add(
        "--system-root",
        type=path,
        metavar="DIR",
        help="look at the system whose root is DIR (an image, a chroot)",
    )
    add_root(doctor)
    doctor.group(HOW).add_argument(
        "--report", action="store_true", help="Markdown for a bug report, without names, home or credentials"
    )
    add_telling(doctor)


_COMMANDS = (
    _Command(
        "fetch [LABEL]...", "getting:fetch", "install a release and print the path of its prefix", _add_fetch
    ),
    _Command(
        "list [LABEL]", "showing:list_", "show labels, what a label has, or what is installed", _add_list
    ),
    _Command("url [LABEL]...", "showing:url", "print URLs, sizes and digests, and fetch nothing", _add_url),
    _Command("where LABEL", "showing:where", "print the path of an installed prefix", _add_where),
    _Command(
        "env LABEL|PREFIX --for CONSUMER",
        "environment:env",
        "print the variables by which a consumer finds a prefix",
        _add_env,
    ),
    _Command(
        "verify [LABEL|PREFIX]",
        "upkeep:verify",
        "see whether prefixes are as recorded, whole, and load",
        _add_verify,
    ),
    _Command(
        "doctor [-- COMMAND...]",
        "diagnosis:doctor",
        "say which cuDNNs are here, who would load which, and what is wrong",
        _add_doctor,
    ),
    _Command("remove LABEL|PREFIX", "upkeep:remove", "remove installed prefixes", _add_installed),
    _Command("lock [LABEL]...", "locks:lock", "write down, digest by digest, what releases are", add_lock),
    _Command("prune --lock FILE...", "locks:prune", "remove what no lock names", add_prune),
    _Command("adopt PATH", "adopting:adopt", "make a prefix of a cuDNN that is at hand", _add_adopt),
    _Command(
        "mirror DEST [LABEL]...",
        "mirrors:mirror",
        "copy releases to where others fetch them from",
        add_mirror,
    ),
    _Command(
        "bundle OUT [LABEL]...",
        "bundles:bundle",
        "pack releases into one file, for machines without a network",
        add_bundle,
    ),
    _Command(
        "export KIND [LABEL]...",
        "exports:export",
        "print what CMake, Bazel, Nix, Docker, ... fetch a release by",
        add_export,
    ),
)


def _late(home: str) -> Callable[[argparse.Namespace, Output], int]:
    """Import a command's module only when it runs: ``--help`` must start light."""
    module, _, name = home.partition(":")

    def run(arguments: argparse.Namespace, output: Output) -> int:
        code: int = getattr(import_module(f".{module}", __package__), name)(arguments, output)
        return code

    return run
