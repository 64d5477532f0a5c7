"""The options of ``export``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .options import WHAT, add_choices, add_patience, add_root, add_sources, add_telling
from .values import path

if TYPE_CHECKING:
    from .parser import Parser

__all__ = ["EXPORT_KINDS", "add_export"]

EXPORT_KINDS = (
    "cmake",
    "bazel",
    "rules-cuda",
    "rules-ml-toolchain",
    "nix",
    "docker",
    "shell",
    "aria2",
    "sha256sums",
    "python",
)
"""Those of ``export.kinds``, which is not imported to print a help."""


def add_export(export: Parser) -> None:
    """Add everything of ``export``."""
    add = export.group(WHAT).add_argument
    add("kind", metavar="KIND", choices=EXPORT_KINDS, help=", ".join(EXPORT_KINDS))
    add("labels", metavar="LABEL", nargs="*", help="9.27.0; the newest of 9.27 or 9; latest")
    add_choices(export, otherwise="all", product=None)
    export.group("which lock").add_argument(
        "--lock", type=path, metavar="FILE", help="what FILE has of the LABELs, all of it without any"
    )
    add_sources(export, pinned=False)
    add_root(export)
    add_patience(export)
    add_telling(export)
