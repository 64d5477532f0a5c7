"""The files that are added to a prefix: which, where, and never in the place of one that the vendor ships."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .cmake_config import config_text
from .cmake_version import version_text
from .libraries import contents_of
from .pkg_config import pkg_config_text

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["generated_files"]

_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}")


def generated_files(paths: Collection[str], *, version: str, platform: str) -> dict[str, bytes]:
    """Return path -> content of what is to be added to a tree of these ``paths`` (its files and links).

    ``version`` is the component's (``9.27.0.42``). A tree without any part of cuDNN gets nothing. The two pkg-config
    files have the same bytes, so that where a file system takes their names for one, both are still what the record
    says. A path of which the vendor has a spelling of its own is left to the vendor.
    """
    contents = contents_of(paths)
    if not (contents.has_headers or contents.shared or contents.static):
        return {}
    matched = _VERSION.match(version)
    plain = matched[0] if matched else "0"
    # A vendor's "lib" that is a link would take the files elsewhere than the record says.
    lib = "lib64" if "lib" in paths else "lib"
    pkg_config = pkg_config_text(contents, version=plain)
    texts = {
        f"{lib}/cmake/cudnn/cudnn-config.cmake": config_text(contents, version=plain, platform=platform),
        f"{lib}/cmake/cudnn/cudnn-config-version.cmake": version_text(version=plain, platform=platform),
        f"{lib}/pkgconfig/cudnn.pc": pkg_config,
        f"{lib}/pkgconfig/cuDNN.pc": pkg_config,
    }
    vendors = {path.casefold() for path in paths}
    return {
        path: text.encode("ascii") for path, text in texts.items() if not _stands(path.casefold(), vendors)
    }


def _stands(path: str, vendors: Collection[str]) -> bool:
    """Whether the vendor has a file at ``path``, or one where a directory above it would have to be."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in vendors for depth in range(1, len(parts) + 1))
