"""The installer's command line: words in, paths of prefixes out, the exit codes of cudnn-redist."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ...asking import LATEST, ask, parse_label
from ...errors import RedistError, UsageError
from ...layout import Layout
from ...locations import folders
from ...locking.planning import plans
from ...notes import log
from .getting import Patience
from .installing import Installation
from .pins import Pins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...planner import Plan, PlannedArchive

__all__ = ["main"]

_ORIGIN = "this file"
_EVERY_SECONDS = 10.0


def main(pins: str, words: Sequence[str]) -> int:
    """Install what fits this machine, or what ``words`` choose, and print the path of each prefix.

    Return the exit code: 0, or that of the error whose sentence went to stderr; 130 or 143 for a signal.
    """
    signal.signal(signal.SIGTERM, _terminated)
    try:
        arguments = _parser().parse_args(words)
        _tell_on_stderr(quiet=arguments.quiet)
        _install(Pins.parse(pins), arguments)
    except RedistError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _failed("interrupted", 130)
    except _Terminated:
        return _failed("terminated", 143)
    return 0


class _Terminated(BaseException):
    """SIGTERM came."""


class _Parser(argparse.ArgumentParser):
    """argparse's, but wrong words are one of our errors."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help")


def _parser() -> _Parser:
    parser = _Parser(
        description="Install pinned archives of NVIDIA's and print the path of each prefix.",
        epilog="Exit codes: 0 done, 1 bug, 2 usage, 3 not there, 4 network, 5 integrity, 6 damaged or unsafe, "
        "7 disk or permission, 8 not as locked, 130 and 143 ended by a signal.",
    )
    add = parser.add_argument
    add("labels", metavar="LABEL", nargs="*", help="9.27.0, ... (everything in this file that fits)")
    add("--product", metavar="NAME", help="cudnn, ... (any in this file)")
    add("--component", action="append", metavar="C", help="cudnn_jit, ... (the main one); repeatable")
    add("--platform", action="append", metavar="P", help="linux-x86_64, ... (this machine's); repeatable")
    add("--cuda", action="append", metavar="V", help="12, 12.8, cuda13, ... (this machine's); repeatable")
    add(
        "--source",
        action="append",
        type=_word,
        metavar="URL|DIR",
        help="instead of the URLs in this file; repeatable",
    )
    add("--root", type=_word, metavar="DIR", help="where prefixes live (CUDNN_REDIST_ROOT)")
    add("--dest", type=_word, metavar="DIR", help="install one archive into exactly DIR")
    add("--force", action="store_true", help="install again, replacing the prefix that is there")
    add("--retries", type=int, default=5, metavar="N", help="failures in a row before giving up (5)")
    add("-q", "--quiet", action="store_true", help="nothing on stderr but failures")
    return parser


def _word(text: str) -> str:
    """Refuse the empty word, which an unset shell variable leaves."""
    if not text:
        raise argparse.ArgumentTypeError("is empty")
    return text


def _install(pins: Pins, arguments: argparse.Namespace) -> None:
    exact = arguments.dest is not None
    planned = _plans(pins, arguments)
    if exact:
        planned = [_into(planned, Path(os.path.realpath(arguments.dest)))]
    for plan in planned:
        for reason in plan.reasons:
            log.info("%s", reason)
        installation = Installation(
            plan=plan,
            exact=exact,
            force=arguments.force,
            patience=Patience(retries=arguments.retries),
            tell=_Telling().tell,
        )
        for path in installation.prefixes():
            print(path, flush=True)  # noqa: T201 - the result


def _plans(pins: Pins, arguments: argparse.Namespace) -> Sequence[Plan]:
    asked = ask(
        LATEST,
        product=arguments.product,
        component=arguments.component,
        platform=arguments.platform,
        cuda=arguments.cuda,
    )
    planned = plans(
        pins.lock,
        [parse_label(label) for label in arguments.labels],
        asked.queries,
        origin=_ORIGIN,
        layout=Layout(_root(arguments)),
        folders={
            release.name: [
                folder for source in arguments.source or () for folder in folders(source, release.product)
            ]
            for release in pins.lock.releases
        },
        product=arguments.product,
    )
    return planned if arguments.source else [_from_urls(plan, pins) for plan in planned]


def _from_urls(plan: Plan, pins: Pins) -> Plan:
    """Return the plan with the URLs of this file."""
    archives = (replace(each, urls=pins.urls.get(str(each.sha256), each.urls)) for each in plan.archives)
    return replace(plan, archives=tuple(archives))


def _root(arguments: argparse.Namespace) -> Path:
    """Return the root; with a directory of the user's own, nothing is put there."""
    given = arguments.root or arguments.dest or os.environ.get("CUDNN_REDIST_ROOT")
    if not given:
        raise UsageError("give --root or --dest (or set CUDNN_REDIST_ROOT)")
    return Path(given)


def _into(planned: Sequence[Plan], directory: Path) -> Plan:
    archives = [archive for plan in planned for archive in plan.archives]
    if len(archives) != 1:
        raise UsageError(
            f"one directory holds one archive, and this asks for {len(archives)}", where=directory
        )
    return replace(planned[0], archives=tuple(archives)).into(directory)


class _Telling:
    """How far an archive is, told now and then."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _EVERY_SECONDS

    def tell(self, archive: PlannedArchive, done: int) -> None:
        if time.monotonic() > self._next:
            self._next = time.monotonic() + _EVERY_SECONDS
            log.info("%s: %.0f of %.0f MB", archive.name, done / 1e6, (archive.size or done) / 1e6)


def _tell_on_stderr(*, quiet: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.ERROR if quiet else logging.INFO)


def _terminated(*_: Any) -> None:  # noqa: ANN401 - what a signal brings
    raise _Terminated


def _failed(cause: str, code: int) -> int:
    text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in " ".join(cause.split()))
    sys.stderr.write(f"{Path(sys.argv[0]).name}: {text}\n")
    return code
