"""What one shared library says about itself, in whichever format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Binary", "NotABinary", "cudnn_names"]

# cuDNN opens its sub-libraries by names that stand as plain text among its constants; 9.27 adds ".9" as it goes.
_CUDNN_NAME = re.compile(rb"(?:libcudnn(?:_[a-z0-9_]+)?\.so(?:\.\d+)?|cudnn(?:_[a-z0-9_]+?)?64_\d+\.dll)(?=\0)")


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
    such as ``GLIBC_2.27`` of ``libc.so.6``. The last three are ELF's alone.
    """

    format: Literal["elf", "pe"]
    machine: str
    soname: str | None = None
    needed: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    symbol_versions: tuple[tuple[str, str], ...] = ()


def cudnn_names(constants: Iterable[bytes | memoryview]) -> tuple[str, ...]:
    """Return the names of cuDNN's libraries that stand in parts of a file, sorted."""
    return tuple(sorted({name for part in constants for name in _names_in(part)}))


def _names_in(part: bytes | memoryview) -> Iterator[str]:
    for match in _CUDNN_NAME.finditer(part):
        yield match.group().decode("ascii")
