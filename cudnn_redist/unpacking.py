"""What a judged reader gives -> a tree: nothing is handed on, and no archive blamed, before its bytes are proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .digest import Judge
from .errors import ArchiveError
from .source.follow import FileReader
from .unpack import HEAD_SIZE, Kind, kind_of, unpack, unpack_zip
from .unpack.options import DEFAULTS, everything

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .source.follow import JudgedReader
    from .unpack import Unpacked, UnpackOptions
    from .unpack.options import Wanted

__all__ = ["unpack_judged"]


def unpack_judged(
    reader: JudgedReader,
    destination: Path,
    *,
    options: UnpackOptions = DEFAULTS,
    wanted: Wanted = everything,
    progress: Callable[[int], None] | None = None,
    verify_first: bool = False,
) -> Unpacked:
    """Unpack an archive of any kind into ``destination``, an empty directory, while ``reader`` brings it.

    A zip, which ends with its directory, is unpacked when all of it was read and found right; with ``verify_first``
    any other kind is so too, and judged again. The rest is as of ``unpack``, and ``IntegrityError`` is raised.
    """

    def streamed(reader: JudgedReader) -> Unpacked:
        unpacked = unpack(
            reader, destination, name=name, kind=kind, options=options, wanted=wanted, progress=progress
        )
        reader.finish()
        return unpacked

    name = str(reader.judge.where)
    try:
        kind = kind_of(reader.peek(HEAD_SIZE), name=name)
        if kind is not Kind.ZIP and not verify_first:
            return streamed(reader)
        reader.finish()
        with reader.again() as file:
            if kind is Kind.ZIP:
                return unpack_zip(
                    file, destination, name=name, options=options, wanted=wanted, progress=progress
                )
            return streamed(FileReader(file, Judge(reader.judge.expected, where=name)))
    except ArchiveError:
        # Wrong bytes explain a damaged archive; only right ones make it the archive's own fault.
        reader.finish()
        raise
