"""Which liblzma decodes: the standard library's, or a newer one where the extra ``fast`` is installed."""

from __future__ import annotations

import importlib
import lzma
from typing import Protocol

__all__ = ["Decompressor", "NewDecompressor", "fastest"]


class Decompressor(Protocol):
    """What is used of ``lzma.LZMADecompressor``; damage is a ``lzma.LZMAError``, whoever provides the class."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether nothing comes out before more is put in."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What was put in behind the end."""
        ...

    def decompress(self, data: bytes | memoryview, max_length: int) -> bytes:
        """Return at most ``max_length`` bytes."""
        ...


class NewDecompressor(Protocol):
    """``lzma.LZMADecompressor`` itself, or a class that is called as it is."""

    def __call__(self, format: int, *, memlimit: int) -> Decompressor:  # noqa: A002, D102 - as lzma names it
        ...


def fastest() -> NewDecompressor:
    """Return the class of ``lzma-mt`` if that is there (liblzma 5.8; its threads stay unused), else the usual one."""
    try:
        found: NewDecompressor = importlib.import_module("lzma_mt").LZMADecompressor
    except ImportError:
        return lzma.LZMADecompressor
    return found
