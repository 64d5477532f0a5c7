"""What of an archive is kept where not all of it is wanted. Pure: names in, names out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .names import shown

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from .links import Lead
    from .options import Wanted

__all__ = ["kept_names", "left_out"]

_NAMED = 3


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
    if kept.issuperset((*files, *to_files)):
        return frozenset((*directories, *files, *links))
    emptied = _above({*files, *links} - kept) - _above(kept) - {top}
    kept.update(path for path in directories if path not in emptied)
    _add_links_to_directories(kept, top, {path: links[path] for path in links if path not in to_files})
    return frozenset(kept)


def left_out(wanted: Wanted, kept: Container[str], links: Iterable[str], *, top: str) -> Iterator[str]:
    """Say which wanted links are not kept, below ``top``, and why."""
    skip = len(top) + 1 if top else 0
    lost = [shown(path[skip:]) for path in links if path not in kept and wanted(path, link=True)]
    if lost:
        more = ", ..." if len(lost) > _NAMED else ""
        named = ", ".join(lost[:_NAMED])
        yield f"links left out, since what they lead to is in no chosen part: {named}{more}"


def _add_links_to_directories(kept: set[str], top: str, links: Mapping[str, Lead]) -> None:
    """Add the links to directories that are kept; a directory may be kept for such a link alone."""
    more = {top}
    while more:
        kept.update(more)
        leading = [path for path, lead in links.items() if lead.end in kept and path not in kept]
        more = {name for path in leading for name in (path, *links[path].through)}
        more |= _above(more)


def _above(paths: set[str]) -> set[str]:
    """Return the directories that hold something of ``paths``."""
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found
