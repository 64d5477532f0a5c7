"""Results on stdout, everything else on stderr; no locale makes it fail (C75)."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Output"]


class Output:
    """Where a command's words go. With ``json``, stdout carries one object and nothing else."""

    def __init__(self, *, json: bool, quiet: bool) -> None:
        self.json = json
        self.quiet = quiet

    def result(self, text: str, facts: Mapping[str, Any]) -> None:
        """Give the command's answer: ``text`` for people and shells, ``facts`` for programs."""
        if self.json:
            text = json.dumps(facts, indent=2, ensure_ascii=True)
        if text:
            _write(sys.stdout, text + "\n")

    def note(self, text: str) -> None:
        """Tell something on the way."""
        if not self.quiet:
            _write(sys.stderr, text + "\n")

    def failure(self, facts: Mapping[str, Any], text: str) -> None:
        """Say why the command failed: the last line on stderr."""
        if self.json:
            _write(sys.stdout, json.dumps({"error": facts}, indent=2, ensure_ascii=True, default=str) + "\n")
        _write(sys.stderr, f"cudnn-redist: {' '.join(text.split())}\n")


def _write(stream: TextIO, text: str) -> None:
    """Write paths as the bytes they are on disk, and replace what the stream cannot show."""
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        data = text.encode(stream.encoding or "ascii", "backslashreplace")
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(data.decode("utf-8", "replace"))
    else:
        buffer.write(data)
    stream.flush()
