"""The options of ``mirror`` and ``bundle``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .options import WHAT, add_choices, add_patience, add_root, add_sources, add_telling
from .values import path, switch_variable, zstd_level

if TYPE_CHECKING:
    from .parser import Parser

__all__ = ["add_bundle", "add_licence", "add_mirror"]

_LABELS_HELP = "9.27.0; the newest of 9.27 or 9; latest; or a range: '>=9.10,<10'"


def add_mirror(mirror: Parser) -> None:
    """Add the options of ``mirror``."""
    add = mirror.group(WHAT).add_argument
    add("dest", metavar="DEST", type=path, help="the mirror: absent, empty, or made by this command")
    add("labels", metavar="LABEL", nargs="*", help=_LABELS_HELP)
    add_choices(mirror, otherwise="all", product=None)
    add("--check", action="store_true", help="hash every file of the mirror again, and ask no source")
    add(
        "--prune",
        action="store_true",
        help="remove what a mirror made of this product and is not asked for now",
    )
    add(
        "--repack",
        choices=("zst",),
        metavar="zst",
        help="store archives as .tar.zst, which unpacks far faster",
    )
    add("--level", type=zstd_level, metavar="N", help="of --repack: 1 (fast) to 19 (small) (10)")
    add_licence(mirror)
    add_sources(mirror, pinned=False, copied=True)
    add_root(mirror)
    add_patience(mirror)
    add_telling(mirror)


def add_bundle(bundle: Parser) -> None:
    """Add the options of ``bundle``."""
    add = bundle.group(WHAT).add_argument
    add("out", metavar="OUT", type=path, help="the file: absent, or a bundle that is replaced")
    add("labels", metavar="LABEL", nargs="*", help=_LABELS_HELP)
    add_choices(bundle, otherwise="all", product=None)
    add("--lock", metavar="FILE", type=path, help="what FILE has of the LABELs, all of it without any")
    add_licence(bundle)
    add_sources(bundle, pinned=False, copied=True)
    add_root(bundle)
    add_patience(bundle)
    add_telling(bundle)


def add_licence(parser: Parser) -> None:
    """Add what the user says of NVIDIA's licence."""
    add = parser.group("licence").add_argument
    add(
        "--accept-licence",
        action="store_true",
        default=switch_variable("CUDNN_REDIST_ACCEPT_LICENCE"),
        help="NVIDIA's licence has been read and accepted (CUDNN_REDIST_ACCEPT_LICENCE=1)",
    )
    add("--strict-licence", action="store_true", help="do nothing unless the licence is accepted")
