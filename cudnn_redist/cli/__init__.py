"""The command line: words in, a call to the library, words out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..errors import RedistError
from .output import Output
from .parser import parse
from .signals import Terminated, ending_promptly

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

# What a shell reports of a program that the end of its pipe ended: 128 and SIGPIPE's number.
_READER_GONE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: the one that README's table of exit codes gives it."""
    words = list(sys.argv[1:] if argv is None else argv)
    # What follows "--" are the words of another program.
    ours = words[: words.index("--")] if "--" in words else words
    output = Output(json="--json" in ours, quiet="--quiet" in ours or "-q" in ours, debug="--debug" in ours)
    try:
        with ending_promptly():
            return _ended(words, output)
    except KeyboardInterrupt:
        return _failed(output, "Interrupted", 130, "interrupted")
    except Terminated:
        return _failed(output, "Terminated", 143, "terminated")


def _ended(words: Sequence[str], output: Output) -> int:
    try:
        arguments = parse(words)
        code: int = arguments.run(arguments, output)
        return code  # noqa: TRY300 - the whole of it is what may fail
    except RedistError as error:
        _trace(output)
        from .advice import told

        output.failure(error.facts(), told(error))
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our results has gone, and wants no words about it.
        return _READER_GONE
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug must not look like a traceback
        _trace(output)
        cause = f"bug: {type(error).__name__}: {error} (--debug shows where; please report it)"
        return _failed(output, "Bug", 1, cause)


def _failed(output: Output, kind: str, code: int, cause: str) -> int:
    """Report what is no ``RedistError``, with the facts that every error has."""
    output.failure({"type": kind, "exit_code": code, "phase": "run", "where": None, "cause": cause}, cause)
    return code


def _trace(output: Output) -> None:
    if output.debug:
        import traceback

        output.trace(traceback.format_exc())
