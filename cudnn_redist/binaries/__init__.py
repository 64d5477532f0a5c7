"""What shared libraries say about themselves, ELF and PE, read without loading them and without any tool."""

from __future__ import annotations

from .binary import Binary, NotABinary
from .reading import read_binary, read_symbols
from .symbols import Symbols

__all__ = ["Binary", "NotABinary", "Symbols", "read_binary", "read_symbols"]
