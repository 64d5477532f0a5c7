"""What one shared library says about itself, in whichever format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Binary", "Data", "NotABinary", "cudnn_texts", "pieces"]

_PIECE = 1 << 20
_LONGEST_NAME = 256
# Three times the constants of 8.9's largest part; a damaged size must not keep the reader busy.
_MOST_CONSTANTS = 256 << 20

# cuDNN opens its sub-libraries by names that stand as plain text among its constants; 9.27 adds ".9" as it goes. A
# pattern that begins with a word is sought fifteen times as fast as one that begins with a choice of words.
_CUDNN_NAMES = (
    re.compile(rb"libcudnn(?:_[a-z0-9_]+)?\.so(?:\.\d+)?(?=\0)"),
    re.compile(rb"cudnn(?:_[a-z0-9_]+?)?64_\d+\.dll(?=\0)"),
)

# A check that cuDNN 9 compiles into its graph library and its engines, as it is printed where it fails.
_RELEASE = re.compile(rb"cudnn_version != \((\d{1,3}) \* 10000 \+ (\d{1,3}) \* 100 \+ (\d{1,3})\)")


class Data(Protocol):
    """The bytes of a file, by slice; what lies beyond the end is left out, as for ``bytes``."""

    def __getitem__(self, part: slice, /) -> bytes: ...


class NotABinary(ValueError):
    """The bytes are no shared library that this package can read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One shared library.

    ``machine`` is ``x86_64``, ``aarch64`` and so on, one spelling for both formats. ``needed`` are the libraries that
    the loader brings with it; ``named`` those of cuDNN that its code may open later, by the names in its constants
    (``libcudnn_ops.so``, to which the code adds the major version, or ``libcudnn_ops.so.9``).
    ``rpath`` and ``runpath`` are as written, ``$ORIGIN`` unexpanded: the loader looks into the first before
    ``LD_LIBRARY_PATH`` and into the second after it. ``symbol_versions`` holds what is asked of each needed library,
    such as ``GLIBC_2.27`` of ``libc.so.6``. The last three are ELF's alone. ``release`` is the release of cuDNN that
    the library was built as (``9.27.0``), where it has that among its symbols or constants: not every part has.
    """

    format: Literal["elf", "pe"]
    machine: str
    soname: str | None = None
    needed: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    symbol_versions: tuple[tuple[str, str], ...] = ()
    release: str | None = None


def pieces(data: Data, offset: int, size: int) -> Iterator[bytes]:
    """Yield a part of a file a little at a time; two pieces share enough bytes that no name is cut in both."""
    end = offset + min(size, _MOST_CONSTANTS)
    for start in range(offset, end, _PIECE):
        piece = data[start : min(start + _PIECE + _LONGEST_NAME, end)]
        if not piece:
            break
        yield piece


def cudnn_texts(constants: Iterable[bytes]) -> tuple[tuple[str, ...], str | None]:
    """Return the names of cuDNN's libraries that stand in parts of a file, sorted, and the release it was built as."""
    names: set[str] = set()
    release: str | None = None
    for part in constants:
        names.update(_names_in(part))
        release = release or _release_in(part)
    return tuple(sorted(names)), release


def _names_in(part: bytes) -> Iterator[str]:
    for pattern in _CUDNN_NAMES:
        for match in pattern.finditer(part):
            yield match.group().decode("ascii")


def _release_in(part: bytes) -> str | None:
    found = _RELEASE.search(part)
    return ".".join(str(int(number)) for number in found.groups()) if found else None
