"""Results on stdout, everything else on stderr; no locale makes it fail (C75)."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import PrefixError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Output", "print_result"]


class Output:
    """Where a command's words go. With ``json``, stdout carries one object and nothing else.

    ``before_note`` is called before each note: a progress bar makes room for it.
    """

    def __init__(self, *, json: bool, quiet: bool, debug: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.debug = debug
        self.before_note: Callable[[], object] = lambda: None

    def aloud(self) -> Output:
        """Return an output that tells its notes where ``--quiet`` wants none, too: that hides no fault."""
        return Output(json=self.json, quiet=False, debug=self.debug)

    def result(self, text: str, facts: Mapping[str, Any]) -> None:
        """Give the command's answer: ``text`` for people and shells, ``facts`` for programs."""
        if self.json:
            text = _json(facts)
        if text:
            if sys.stdout is not None and sys.stdout.isatty():
                # To a program a path is its bytes, whatever they are.
                text = "\n".join(map(_harmless, text.split("\n")))
            print_result(text + "\n")

    def note(self, text: str) -> None:
        """Tell something on the way; nobody who cannot hear it stops the work."""
        if not self.quiet:
            self.before_note()
            with suppress(OSError):
                _write(sys.stderr, _harmless(text) + "\n")

    def trace(self, text: str) -> None:
        """Show the traceback of a failure, where ``--debug`` wants it."""
        if self.debug:
            with suppress(OSError):
                _write(sys.stderr, "".join(f"{_harmless(line)}\n" for line in text.splitlines()))

    def failure(self, facts: Mapping[str, Any], text: str) -> None:
        """Say why the command failed: the last line on stderr."""
        with suppress(OSError):
            if self.json:
                _write(sys.stdout, _json({"error": facts}) + "\n")
        with suppress(OSError):
            _write(sys.stderr, f"cudnn-redist: {_harmless(' '.join(text.split()))}\n")


def print_result(text: str) -> None:
    """Write ``text`` to stdout.

    Raises ``BrokenPipeError`` when the reader has gone, ``PrefixError`` when the disk behind stdout is full.
    """
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise PrefixError(str(error.strerror), phase="output", where="stdout") from error


def _json(facts: Mapping[str, Any]) -> str:
    """Return JSON in ASCII. Where the locale could not read a path, its bytes are read as UTF-8, as JSON's are."""
    data = json.dumps(facts, ensure_ascii=False, default=str).encode("utf-8", "surrogateescape")
    return json.dumps(json.loads(data.decode("utf-8", "surrogateescape")), indent=2)


def _harmless(text: str) -> str:
    """Spell out what would steer a terminal: a server, a manifest or an archive may have sent it."""
    return "".join(each.encode("unicode_escape").decode() if _steers(each) else each for each in text)


def _steers(character: str) -> bool:
    """Whether a character moves, hides or turns what is shown; a byte that the locale cannot read is of some path."""
    return not (character.isprintable() or character == "\t" or "\udc80" <= character <= "\udcff")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        # Closed before we started (``>&-``): nobody listens.
        return
    binary = getattr(stream, "buffer", None)
    try:
        stream.flush()
        if binary is None:
            stream.write(text)
        else:
            binary.write(_bytes(text))
        stream.flush()
    except OSError:
        # What is left in the buffer must not fail again when the interpreter ends.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        raise


def _bytes(text: str) -> bytes:
    """Return paths as the bytes they are on disk, and replace what the locale cannot show."""
    encoding = sys.getfilesystemencoding()
    shown = "".join(
        each if "\udc80" <= each <= "\udcff" else each.encode(encoding, "backslashreplace").decode(encoding)
        for each in text
    )
    return shown.encode(encoding, "surrogateescape")
