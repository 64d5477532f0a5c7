"""A symlink of the user's that points at a prefix."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from ..errors import PrefixError
from .publish import disk_errors

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["point_link"]


def point_link(link: Path, prefix: Path) -> None:
    """Point ``link`` at ``prefix``, replacing a link that is there in one step.

    Raises ``PrefixError`` where something else than a link stands in its place.
    """
    if link.exists() and not link.is_symlink():
        raise PrefixError("exists and is no link; it is left alone", phase="link", where=link)
    beside = link.with_name(f".cudnn-redist-{secrets.token_hex(6)}.link")
    with disk_errors(link, phase="link"):
        link.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.symlink_to(prefix.absolute(), target_is_directory=True)
            beside.replace(link)
        finally:
            beside.unlink(missing_ok=True)
