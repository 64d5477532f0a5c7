"""What every source can do, and how patient we are with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..manifest.reading import MAX_MANIFEST_BYTES as MANIFEST_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from ..manifest.labels import ReleaseLabel

__all__ = ["MANIFEST_LIMIT", "NoIndex", "RangeRefused", "Source", "TransferOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferOptions:
    """How patient to be. There is no limit on the whole transfer: a slow line may take as long as it takes.

    ``retries`` counts failures in a row without progress; ``retry_delay`` is the first pause in seconds, doubled
    each time; ``connect_timeout`` is how long connecting may take, ``stall_timeout`` how long no byte may arrive, in
    seconds; ``min_speed`` is the slowest rate accepted over ``speed_window`` seconds, in bytes per second (0: any).
    ``ca_file`` is trusted in addition to the system's certificates; ``netrc`` is a file of logins, used only for the
    host a source names. ``offline`` allows no request at all: what would be one is an ``OfflineError``. ``same_host``
    refuses a redirect to another host.
    """

    retries: int = 5
    retry_delay: float = 0.5
    connect_timeout: float = 15.0
    stall_timeout: float = 30.0
    min_speed: int = 1024
    speed_window: float = 30.0
    ca_file: Path | None = None
    netrc: Path | None = None
    offline: bool = False
    same_host: bool = False


class NoIndex(Exception):
    """The source does not list what it has."""


class RangeRefused(Exception):
    """A server has no bytes from the asked offset on, or answered with others; ``total`` is the size it tells."""

    def __init__(self, cause: str, *, where: str, total: int | None) -> None:
        super().__init__(cause)
        self.where = where
        self.total = total


class Source(Protocol):
    """Where manifests come from. URLs are absolute and of a scheme this source serves."""

    def read_labels(self, folder_url: str) -> tuple[ReleaseLabel, ...]:
        """Return the labels of a redist folder.

        Raises ``NoIndex`` where it lists nothing, ``TransferError`` where it cannot be read.
        """
        ...

    def read_manifest(self, url: str, *, fresh: bool = False) -> bytes:
        """Return the bytes of a manifest, past every cache when ``fresh``.

        Raises ``LabelNotFound`` where there is none, ``ManifestError`` where it is larger than ``MANIFEST_LIMIT``,
        ``TransferError`` where it cannot be read.
        """
        ...
