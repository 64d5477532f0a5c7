"""A symlink of the user's that points at a prefix."""

from __future__ import annotations

import secrets
import stat
from typing import TYPE_CHECKING

from ..errors import PrefixError
from ..renames import replace
from .ground import require_outside
from .strays import sweep_files

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["point_link", "require_linkable"]


def require_linkable(link: Path) -> None:
    """Raise ``PrefixError`` where something else than a link stands at ``link``, or where none can be.

    Asked before anything is fetched.
    """
    try:
        require_outside(link, phase="link")
        found = link.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise PrefixError(error.strerror or str(error), phase="link", where=link) from error
    if not stat.S_ISLNK(found.st_mode):
        raise PrefixError("exists and is no link; it is left alone", phase="link", where=link)


def point_link(link: Path, prefix: Path) -> None:
    """Point ``link`` at ``prefix``, replacing a link that is there in one step.

    Raises ``PrefixError`` where something else than a link stands in its place, or the system refuses.
    """
    require_linkable(link)
    beside = link.with_name(f".cudnn-redist-{secrets.token_hex(6)}.link")
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        sweep_files(link.parent.glob(".cudnn-redist-*.link"))
        try:
            beside.symlink_to(prefix.absolute(), target_is_directory=True)
            replace(beside, link)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        # Named is the link that the user knows, not the temporary one that the system speaks of.
        raise PrefixError(error.strerror or str(error), phase="link", where=link) from error
