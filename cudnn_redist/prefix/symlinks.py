"""What a symbolic link says, letter by letter, as an archive and a record have it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["link_target"]


def link_target(path: Path) -> str:
    """Return the target of the link at ``path``, with the separators of an archive."""
    # Path.readlink would make "../x" of "./../x", and the record has what the archive says.
    return os.readlink(path).replace(os.sep, "/")  # noqa: PTH115 - see above
