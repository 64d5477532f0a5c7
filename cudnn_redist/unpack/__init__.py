"""From a readable archive to files, and nothing said of networks or prefixes.

``unpack`` takes the kinds that are streams, ``unpack_zip`` an open zip file. Both write into an existing
empty directory that the caller removes on failure; both return only when the archive's end was proven and no
thread runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .contents import Member, Unpacked
from .members import Tree
from .options import DEFAULTS, UnpackOptions, everything
from .streams import HEAD_SIZE, Kind, decoded, kind_of
from .tar import read_tar
from .zip import read_zip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

    from .options import Wanted
    from .reader import Reader

__all__ = ["HEAD_SIZE", "Kind", "Member", "UnpackOptions", "Unpacked", "kind_of", "unpack", "unpack_zip"]


def unpack(
    raw: Reader,
    destination: Path,
    *,
    name: str,
    kind: Kind,
    options: UnpackOptions = DEFAULTS,
    wanted: Wanted = everything,
    progress: Callable[[int], None] | None = None,
) -> Unpacked:
    """Unpack a tar, compressed or not, that ``raw`` reads from its first byte to its last.

    ``name`` is the archive's, for errors; ``wanted`` says which files and links are written, and what is not is
    judged all the same; ``progress`` is called with the bytes of content so far. Raises ``ArchiveError``; ``OSError``
    from the disk; and passes on what ``raw`` and ``progress`` raise.
    """
    tree = Tree(destination, name=name, options=options, wanted=wanted)
    with decoded(raw, kind, name=name, options=options) as stream:
        read_tar(stream, tree, name=name, progress=progress)
    return tree.finish()


def unpack_zip(
    file: BinaryIO,
    destination: Path,
    *,
    name: str,
    options: UnpackOptions = DEFAULTS,
    wanted: Wanted = everything,
    progress: Callable[[int], None] | None = None,
) -> Unpacked:
    """Unpack a zip from an open, seekable file, which nobody else may use meanwhile; it is never reopened by path.

    As ``unpack``, but ``progress`` is called from several threads, one at a time.
    """
    tree = Tree(destination, name=name, options=options, wanted=wanted)
    read_zip(file, tree, name=name, threads=options.threads, progress=progress)
    return tree.finish()
