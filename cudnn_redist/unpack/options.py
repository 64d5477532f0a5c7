"""What a caller may bound while an archive is unpacked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class Wanted(Protocol):
        """Says whether a file, or a symbolic ``link``, is to be written."""

        def __call__(self, path: str, *, link: bool) -> bool:
            """Return the answer for one path of the archive."""


__all__ = ["DEFAULTS", "UnpackOptions", "everything"]

_GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class UnpackOptions:
    """Bounds on time, memory and disk.

    ``threads`` decode (xz blocks, zip members) and ``budget`` bytes of xz blocks may be under way; ``None``
    lets the decoder choose for this machine. ``memory_limit`` bounds the bytes one decoder may ask for (an xz
    dictionary, a zstd window). ``max_bytes`` bounds the content of all files together (the largest cuDNN
    archive has 2 GB, packed). ``max_members`` counts files, links and directories, named or implied.
    """

    threads: int | None = None
    budget: int | None = None
    memory_limit: int = _GIB
    max_bytes: int = 64 * _GIB
    max_members: int = 1_000_000


DEFAULTS = UnpackOptions()


def everything(path: str, *, link: bool) -> bool:  # noqa: ARG001 - what every answer is asked
    """Want the whole archive."""
    return True
