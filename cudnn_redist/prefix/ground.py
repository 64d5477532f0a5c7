"""Where a prefix is to go, and what already stands there."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from ..errors import PrefixError
from ..layout import LEAVING_PATTERN, RECORD_NAME, Layout
from .installed import Prefix

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["require_apart", "require_movable", "require_ours", "require_outside", "stage_places"]


def require_ours(directory: Path, *, force: bool) -> None:
    """Refuse, with ``PrefixError``, a directory that the user named and that holds anything but a prefix of ours.

    ``force`` gives up what was added to a prefix, not what never was one.
    """
    require_outside(directory)
    if not os.path.lexists(directory) or any(directory.glob(LEAVING_PATTERN)):
        return
    if not (directory / RECORD_NAME).is_file():
        if not directory.is_dir() or any(directory.iterdir()):
            raise PrefixError("exists and is no installed prefix; it is left alone", where=directory)
    elif not force:
        _require_nothing_foreign(directory)


def require_movable(directory: Path) -> None:
    """Refuse a directory that no rename can replace, before anything is fetched for it.

    ``OSError`` where there can be none of this name.
    """
    with contextlib.suppress(FileNotFoundError):
        directory.lstat()
    if os.path.ismount(directory):
        raise PrefixError(
            "a file system is mounted here, and no prefix can take its place; name a directory in it",
            where=directory,
        )


def _require_nothing_foreign(directory: Path) -> None:
    """Refuse a prefix to which somebody added files: they would go with it."""
    try:
        foreign = Prefix.open(directory).foreign_names()
    except PrefixError as error:
        raise PrefixError(
            "its record is damaged, and nothing else tells whose files these are; --force replaces all of it",
            where=directory,
        ) from error
    if foreign:
        named = ", ".join(foreign[:3])
        raise PrefixError(f"holds what is not ours ({named}); --force replaces all of it", where=directory)


def require_apart(directory: Path) -> None:
    """Refuse a prefix inside a prefix: a label whose shape changed must not take its variants along."""
    inside = next(directory.glob(f"*/{RECORD_NAME}"), None)
    if inside is not None and not (directory / RECORD_NAME).is_file():
        raise PrefixError(
            f"holds other prefixes ({inside.parent.name}); they are left alone", where=directory
        )
    require_outside(directory)


def require_outside(path: Path, *, phase: str = "publish") -> None:
    """Refuse what would lie within a prefix: that has what its record says, and nothing is put there."""
    if any((above / RECORD_NAME).is_file() for above in path.parents):
        raise PrefixError("lies in another prefix; that is left alone", phase=phase, where=path)


def stage_places(layout: Layout) -> Iterator[Path]:
    """Yield the directories under a root that prefixes, and so stages, lie in."""
    for depth in ("*/*/*", "*/*/*/*"):
        # A run that failed removes directories that it leaves empty, also while they are listed.
        with contextlib.suppress(FileNotFoundError):
            yield from (path for path in layout.root.glob(depth) if not path.name.startswith("."))
