"""The command line: words in, a call to the library, words out."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import TYPE_CHECKING

from ..errors import RedistError
from .output import Output
from .parser import parse
from .signals import Terminated, ending_promptly

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: the one that README's table of exit codes gives it."""
    words = list(sys.argv[1:] if argv is None else argv)
    output = Output(json="--json" in words, quiet="--quiet" in words or "-q" in words)
    debug = "--debug" in words
    try:
        with ending_promptly(), _told(output, debug=debug):
            return _run(words, output)
    except RedistError as error:
        _trace(debug=debug)
        output.failure(error.facts(), str(error))
        return error.exit_code
    except KeyboardInterrupt:
        output.failure({"type": "Interrupted", "exit_code": 130}, "interrupted")
        return 130
    except Terminated:
        output.failure({"type": "Terminated", "exit_code": 143}, "terminated")
        return 143
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to say, not even at the interpreter's last flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug must not look like a traceback
        _trace(debug=debug)
        cause = f"bug: {type(error).__name__}: {error} (--debug shows where; please report it)"
        output.failure({"type": "Bug", "exit_code": 1, "cause": cause}, cause)
        return 1


def _run(words: Sequence[str], output: Output) -> int:
    arguments = parse(words)
    run: int = arguments.run(arguments, output)
    return run


class _told:  # noqa: N801 - reads as a with statement
    """Shows what the library notes while it works: warnings, and with ``--debug`` everything."""

    def __init__(self, output: Output, *, debug: bool) -> None:
        self._log = logging.getLogger("cudnn_redist")
        self._handler = _Teller(output)
        self._level = logging.DEBUG if debug else logging.WARNING

    def __enter__(self) -> None:
        self._log.addHandler(self._handler)
        self._log.setLevel(self._level)

    def __exit__(self, *exc: object) -> None:
        self._log.removeHandler(self._handler)


class _Teller(logging.Handler):
    def __init__(self, output: Output) -> None:
        super().__init__()
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        self._output.note(record.getMessage())


def _trace(*, debug: bool) -> None:
    if debug:
        traceback.print_exc()
