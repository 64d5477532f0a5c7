"""Where a symbolic link in the tree leads, decided on the list of members and not on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .names import Unsafe, shown

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

__all__ = ["Lead", "resolve"]

# As many as Linux follows (path_resolution(7)); a longer chain would be unusable where it is installed.
_MOST_LINKS = 40
# Forty targets of a thousand bytes take twenty times as many; no honest link takes a tenth, and there may be a million.
_MOST_STEPS = 1000


class Lead(NamedTuple):
    """Where a link leads: the file or directory at its ``end``, and the other links on the way."""

    end: str
    through: tuple[str, ...]


def resolve(
    link: str, *, links: Mapping[str, str], directories: Container[str], files: Container[str], top: str
) -> Lead:
    """Return where ``link`` leads; every step stays at or below ``top``.

    Paths are relative to the destination, ``top`` is the directory that becomes the prefix (``""`` for the
    destination itself). A chain is followed link by link, as the kernel would, so that no detour leaves the
    tree. Raises ``Unsafe`` for a link that leaves it, turns in a circle, walks too long, or ends at nothing.
    """
    here = link.rpartition("/")[0]
    ahead = _steps(links[link])
    through: list[str] = []
    for _ in range(_MOST_STEPS):
        if not ahead:
            return Lead(here, tuple(through))
        step = ahead.pop()
        if step == "..":
            here = _parent(here, top=top, target=links[link])
            continue
        path = f"{here}/{step}" if here else step
        if path in links:
            through.append(path)
            if len(through) >= _MOST_LINKS:
                raise Unsafe(f"is a link that passes more than {_MOST_LINKS} links")
            ahead += _steps(links[path])
        elif path in directories:
            here = path
        elif path in files and not ahead:
            return Lead(path, tuple(through))
        else:
            raise Unsafe(f"is a link to {shown(links[link])}, which is not in the archive")
    raise Unsafe(f"is a link that takes more than {_MOST_STEPS} steps")


def _steps(target: str) -> list[str]:
    """Return the steps of a target, the first one last."""
    return [step for step in reversed(target.split("/")) if step not in ("", ".")]


def _parent(here: str, *, top: str, target: str) -> str:
    if here == top:
        raise Unsafe(f"is a link to {shown(target)}, which leaves the tree")
    return here.rpartition("/")[0]
