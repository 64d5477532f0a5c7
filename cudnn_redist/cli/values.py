"""Words that become values as the command line is read; each raises what argparse turns into a usage error."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from ..layout import absolute

__all__ = [
    "count",
    "directory_variable",
    "path",
    "positive",
    "seconds",
    "sha256",
    "switch_variable",
    "word",
    "zstd_level",
]

_WHOLE = re.compile(r"[0-9]{1,18}")
_HIGHEST_LEVEL = 19
_LONGEST = 24 * 3600.0
_SHA256 = re.compile(r"[0-9a-f]{64}")


def word(text: str) -> str:
    """Refuse the empty word, which an unset shell variable leaves."""
    if not text:
        raise argparse.ArgumentTypeError("is empty")
    return text


def path(text: str) -> Path:
    """Return an absolute path, so that what is printed stays true in another directory."""
    return absolute(Path(word(text)))


def directory_variable(name: str) -> Path | None:
    """Return the path that an environment variable holds, if it holds one."""
    value = os.environ.get(name)
    return path(value) if value else None


def switch_variable(name: str) -> bool:
    """Whether an environment variable switches something on: it is set, and not to 0."""
    return os.environ.get(name, "") not in ("", "0")


def sha256(text: str) -> str:
    """Return a sha256 in small letters."""
    if not _SHA256.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no sha256: 64 hexadecimal digits")
    return text.lower()


def count(text: str) -> int:
    """Read a whole number, 0 included."""
    if not _WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number of 1 or more."""
    if (number := count(text)) == 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


def zstd_level(text: str) -> int:
    """Read a level of zstd; the higher ones need more memory to decode than readers allow."""
    if not 1 <= (number := count(text)) <= _HIGHEST_LEVEL:
        raise argparse.ArgumentTypeError(f"must be from 1 to {_HIGHEST_LEVEL}")
    return number


def seconds(text: str) -> float:
    """Read a number of seconds, up to a day."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no number of seconds between 0 and a day")
    return number
