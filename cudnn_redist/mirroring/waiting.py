"""Where downloads of one bundle wait to be packed: a directory of each run's own, which the next run takes over.

.OUT.bringing/.<mark>.run/     what a run fills, by its mark (``owners``)
.OUT.bringing/.<mark>.left/    what a run that failed has left
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ..owners import left_behind, own_mark
from ..prefix.removing import remove_tree
from ..prefix.space import disk_errors
from ..renames import rename

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["waiting_beside"]

_RUNNING = ".run"
_LEFT = ".left"


@contextmanager
def waiting_beside(out: Path) -> Iterator[Path]:
    """Yield a directory that no other run uses: one that an earlier run of ``out`` left, or the path of a new one.

    A block that fails leaves it for the next run; else it goes, and with it what other runs left. ``PrefixError``
    where it cannot.
    """
    home = out.with_name(f".{out.name}.bringing")
    own = _claimed(home) or _own(home)
    try:
        yield own
        with disk_errors(out, phase="bundle"):
            remove_tree(own)
            while left := _claimed(home):
                remove_tree(left)
    except BaseException:
        # That it cannot be handed on must not hide why the block failed.
        with suppress(OSError):
            rename(own, own.with_suffix(_LEFT))
        raise
    finally:
        with suppress(OSError):
            home.rmdir()


def _own(home: Path) -> Path:
    return home / f".{own_mark()}{_RUNNING}"


def _claimed(home: Path) -> Path | None:
    """Take over what nobody fills any more, if there is such; of several runs, the rename gives it to one."""
    own = _own(home)
    for path in _listed(home):
        with suppress(OSError):
            free = path.suffix == _LEFT or left_behind(path.name, touched=_touched(path))
            if free and os.access(path, os.R_OK | os.W_OK | os.X_OK):
                rename(path, own)
                return own
    return None


def _listed(home: Path) -> list[Path]:
    """List what runs have here; the last of them may remove ``home`` meanwhile."""
    try:
        return sorted(path for path in home.iterdir() if path.suffix in (_RUNNING, _LEFT))
    except OSError:
        return []


def _touched(directory: Path) -> float:
    """Return when something was last written there: a long download changes no directory."""
    return max(path.lstat().st_mtime for path in (directory, *directory.rglob("*")))
