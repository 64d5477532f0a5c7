"""``nix``: each archive as a fixed-output derivation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .archives import exported, heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..planner import Plan
    from .archives import Exported

__all__ = ["nix_text"]

_TEXT = """\
# @HEADING@.
#
#   import ./FILE { inherit (pkgs) fetchurl; }   or, with Nix alone,   import ./FILE { }
#
# The archives, by component, label, platform and CUDA variant.
{
  fetchurl ? import <nix/fetchurl.nix>,
}:
{
@ARCHIVES@}
"""


def nix_text(plans: Sequence[Plan]) -> str:
    """Return an expression: a function of ``fetchurl`` (that of nixpkgs, or Nix' own), to derivations.

    Several URLs need the one of nixpkgs.
    """
    archives = exported(plans)
    lines = "".join(map(_attribute, archives))
    return _TEXT.replace("@HEADING@", heading(archives, "nix")).replace("@ARCHIVES@", lines)


def _attribute(archive: Exported) -> str:
    levels = (archive.component, archive.label, archive.platform, archive.variant)
    place = ".".join(_string(level) for level in levels if level is not None)
    url = f"url = {_string(archive.urls[0])};"
    if len(archive.urls) > 1:
        url = f"urls = {_list(archive.urls)};"
    return (
        f"  {place} = fetchurl {{\n"
        f"    name = {_string(archive.name)};\n"
        f"    {url}\n"
        f"    hash = {_string(archive.integrity)};\n"
        "  };\n"
    )


def _list(texts: Iterable[str]) -> str:
    return f"[ {' '.join(map(_string, texts))} ]"


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${")
    return f'"{escaped}"'
