"""What shared libraries say about themselves, ELF and PE, read without loading them and without any tool."""

from __future__ import annotations

from .binary import Binary, NotABinary
from .reading import read_binary

__all__ = ["Binary", "NotABinary", "read_binary"]
