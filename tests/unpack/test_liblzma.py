from __future__ import annotations

import lzma
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from cudnn_redist.unpack.liblzma import fastest

if TYPE_CHECKING:
    import pytest


def test_lzma_mt_decodes_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = ModuleType("lzma_mt")
    vars(installed)["LZMADecompressor"] = type("LZMADecompressor", (), {})
    monkeypatch.setitem(sys.modules, "lzma_mt", installed)
    assert fastest() is vars(installed)["LZMADecompressor"]


def test_the_standard_library_decodes_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    # None there makes the import fail (docs.python.org, "The import system", 5.3.1).
    monkeypatch.setitem(sys.modules, "lzma_mt", None)
    assert fastest() is lzma.LZMADecompressor
