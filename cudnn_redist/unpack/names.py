"""How a member may be named, what a link may say, and how a refusal reads. Pure."""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import ArchiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Unsafe", "check_target", "folded", "judging", "member_path", "shown"]

# NAME_MAX of the file systems in use; the whole name is far below PATH_MAX so that any sane root fits before it.
_LONGEST_COMPONENT = 255
_LONGEST_NAME = 1024
_SHOWN = 120

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_WINDOWS_DEVICE = re.compile(
    r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])\s*(?:\..*)?", re.IGNORECASE
)
_WINDOWS_CHARACTER = re.compile(r'[<>:"|?*]')


class Unsafe(Exception):
    """What is wrong with a member; the text completes the sentence that its name begins."""


@contextmanager
def judging(member: str, archive: str) -> Iterator[None]:
    """Turn what is wrong with a member into an ``ArchiveError`` that names it and the archive."""
    try:
        yield
    except Unsafe as fault:
        raise ArchiveError(f"{shown(member)} {fault}", where=archive, member=member) from fault


def member_path(name: str, *, windows: bool) -> str:
    """Return the path below the tree that a member's name means: ``./a//b/`` is ``a/b``, ``./`` is ``""``.

    Raises ``Unsafe``. ``windows`` adds the names that Windows reserves.
    """
    _check_text(name)
    parts = [part for part in name.split("/") if part not in ("", ".")]
    for part in parts:
        _check_component(part, windows=windows)
    return "/".join(parts)


def check_target(target: str) -> None:
    """Raise ``Unsafe`` for a link target that is no relative path; where it leads is another question."""
    try:
        _check_text(target)
    except Unsafe as fault:
        raise Unsafe(f"is a link to {shown(target)}, which {fault}") from None


def folded(path: str) -> str:
    """Return what is left of a path where the file system folds case (Unicode 15, definition D145)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())


def shown(name: str) -> str:
    """Return a name fit for an error: quoted, control characters escaped, cut where it is absurd."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def _check_text(text: str) -> None:
    if not text:
        raise Unsafe("is empty")
    if _CONTROL.search(text):
        raise Unsafe("holds a control character")
    if "\\" in text:
        raise Unsafe("holds a backslash")
    if text.startswith("/"):
        raise Unsafe("is absolute")
    if _DRIVE.match(text):
        raise Unsafe("begins with a drive letter")
    try:
        # The record is UTF-8 on every machine; the locale of this one may hold less.
        length = max(len(text.encode()), len(os.fsencode(text)))
    except UnicodeEncodeError as error:
        raise Unsafe("is not UTF-8, or cannot be spelled on this file system") from error
    if length > _LONGEST_NAME:
        raise Unsafe(f"has more than {_LONGEST_NAME} bytes")


def _check_component(part: str, *, windows: bool) -> None:
    if part == "..":
        raise Unsafe("climbs with '..'")
    if len(part.encode()) > _LONGEST_COMPONENT:
        raise Unsafe(f"has a component of more than {_LONGEST_COMPONENT} bytes")
    if windows and (_WINDOWS_DEVICE.fullmatch(part) or _WINDOWS_CHARACTER.search(part) or part[-1] in ". "):
        raise Unsafe("is a name that Windows reserves")
