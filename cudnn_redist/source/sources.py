"""The sources of one run, by scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .http import HttpSource
from .local import LocalSource

if TYPE_CHECKING:
    from ..locations import Folder
    from .base import Source, TransferOptions

__all__ = ["Sources"]


class Sources:
    """The sources of one run, by scheme; a context manager that holds their connections."""

    def __init__(self, options: TransferOptions) -> None:
        self.http = HttpSource(options)
        self.local = LocalSource()

    def __enter__(self) -> Sources:
        return self

    def __exit__(self, *exc: object) -> None:
        self.http.__exit__(*exc)

    def of(self, folder: Folder) -> Source:
        """Return the source that serves ``folder``."""
        return self.local if folder.local else self.http
