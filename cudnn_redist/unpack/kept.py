"""What of an archive is kept where not all of it is wanted. Pure: names in, names out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from .links import Lead
    from .options import Wanted

__all__ = ["kept_names"]


def kept_names(
    wanted: Wanted,
    *,
    top: str,
    directories: Mapping[str, object],
    files: Mapping[str, object],
    links: Mapping[str, Lead],
) -> frozenset[str]:
    """Return the directories, files and links that are kept, of those of a whole archive below ``top``.

    A file is kept where it is ``wanted``; a link, where what it ends at is, together with all links on its way, so
    that none dangles; a directory, and with it every link to it, unless what is left out would leave it empty.
    """
    to_files = {path: lead for path, lead in links.items() if lead.end in files}
    kept = {path for path in files if wanted(path, link=False)}
    for path, lead in to_files.items():
        if lead.end in kept and wanted(path, link=True):
            kept.update((path, *lead.through))
    left_out = {*files, *to_files} - kept
    kept.update(_standing(directories, top, kept=_above(kept), left_out=_above(left_out)))
    for path, lead in links.items():
        if path not in to_files and (lead.end == top or lead.end in kept):
            kept.update((path, *lead.through))
    kept.update(_above(kept))
    return frozenset(kept)


def _standing(
    directories: Mapping[str, object], top: str, *, kept: Container[str], left_out: Container[str]
) -> Iterator[str]:
    for path in directories:
        if path == top or path in kept or path not in left_out:
            yield path


def _above(paths: set[str]) -> set[str]:
    """Return the directories that hold something of ``paths``."""
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found
