"""The options of ``lock`` and ``prune``, and what other commands know of locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .options import HOW, WHAT, add_choices, add_patience, add_root, add_sources, add_telling
from .values import path, word

if TYPE_CHECKING:
    from .parser import Parser

__all__ = ["DEFAULT_LOCK", "add_lock", "add_lock_use", "add_prune", "add_verify_lock"]

DEFAULT_LOCK = "cudnn-redist.lock"
_WHICH = "which lock"


def add_lock(lock: Parser) -> None:
    """Add everything of ``lock``."""
    lock.group(WHAT).add_argument(
        "labels", metavar="LABEL", nargs="*", help="9.27.0; the newest of 9.27 or 9; latest"
    )
    add_choices(lock, otherwise="all", product=None)
    add = lock.group(_WHICH).add_argument
    add(
        "-o",
        "--output",
        type=path,
        metavar="FILE",
        default=DEFAULT_LOCK,
        help=f"where it is written ({DEFAULT_LOCK})",
    )
    add("--add", action="store_true", help="keep the other releases that FILE has")
    _add_modes(lock)
    add_sources(lock, pinned=False)
    add_root(lock)
    add_patience(lock)
    add_telling(lock)


def _add_modes(lock: Parser) -> None:
    add = lock.group("instead of making one").add_mutually_exclusive_group().add_argument
    add(
        "--from-installed",
        action="store_true",
        help="make FILE of what is installed, or add to it, with tree digests; no source is asked",
    )
    add(
        "--check",
        nargs="?",
        const=True,
        type=path,
        metavar="FILE",
        help="say how the source differs from FILE (exit code 8)",
    )
    add(
        "--outdated",
        nargs="?",
        const=True,
        type=path,
        metavar="FILE",
        help="say which releases of FILE have newer ones",
    )
    add(
        "--upgrade",
        nargs="?",
        const=True,
        type=word,
        metavar="LABEL",
        help="move FILE to the newest that fits what was asked, or to LABEL, and say what changed",
    )


def add_lock_use(parser: Parser) -> None:
    """Add a lock to get things by."""
    add = parser.group(_WHICH).add_argument
    add(
        "--lock",
        type=path,
        metavar="FILE",
        help="what FILE has of the LABELs, or all that fits; no manifest is read",
    )
    add("--locked", action="store_true", help="read the manifests, and refuse any that is not the locked one")


def add_verify_lock(verify: Parser) -> None:
    """Add a lock to compare with."""
    verify.group(_WHICH).add_argument(
        "--lock",
        type=path,
        metavar="FILE",
        help="compare with FILE too; without LABEL, all that is installed of it",
    )


def add_prune(prune: Parser) -> None:
    """Add everything of ``prune``."""
    add = prune.group(WHAT).add_argument
    add(
        "--lock",
        type=path,
        metavar="FILE",
        nargs="+",
        action="extend",
        required=True,
        help="what stays; repeatable",
    )
    add_root(prune)
    prune.group(HOW).add_argument("--dry-run", action="store_true", help="say what would go; remove nothing")
    add_telling(prune)
