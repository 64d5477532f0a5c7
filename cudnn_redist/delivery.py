"""One archive -> an unpacked, judged tree in a stage: from the archive store, a local source, or over HTTP.

Over HTTP the calling thread downloads and a second one follows the growing file, so that download, digest and
unpacking overlap. Whatever the way, nothing is handed on before size, digest and archive are known to be right.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

from .blame import from_first, reported
from .digest import Judge
from .errors import ArchiveWithdrawn, DigestMismatch, IntegrityError, TransferError
from .locations import is_local, redacted
from .notes import log
from .prefix.space import disk_errors
from .source.download import Download, Rewound, Stopped
from .source.follow import Follower, SourceReader
from .source.partial import Partial, discard_partials
from .source.store import ArchiveStore
from .unpacking import unpack_judged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .layout import Layout
    from .planner import PlannedArchive
    from .prefix.publish import Stage
    from .source.base import TransferOptions
    from .source.follow import JudgedReader
    from .source.sources import Sources
    from .unpack import Unpacked, UnpackOptions

__all__ = ["Delivered", "Delivery", "Progress"]

Phase = Literal["download", "unpack", "installed", "present"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far one archive is: ``done`` of ``total`` bytes (``total`` is ``None`` when nobody knows)."""

    archive: PlannedArchive
    phase: Phase
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """An unpacked, judged archive: its size in bytes, and the URL or path it came from."""

    unpacked: Unpacked
    size: int
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How archives are brought: from which sources, into which root, and how carefully.

    ``store`` is the content-addressed directory of ``--archives``. ``progress`` is called from several threads.
    """

    layout: Layout
    sources: Sources
    transfer: TransferOptions
    unpacking: UnpackOptions
    store: Path | None = None
    verify_first: bool = False
    progress: Callable[[Progress], None] = lambda _: None

    def bring(self, archive: PlannedArchive, stage: Stage) -> Delivered:
        """Unpack ``archive`` into ``stage``.

        Raises ``NotAvailableError``, ``TransferError``, ``IntegrityError``, ``ArchiveError``, or ``OSError`` from the
        disk. The caller discards the stage on any of them.
        """
        delivered = self._from_store(archive, stage) or self._from_sources(archive, stage)
        discard_partials(self.layout.partials, archive.expected.sha256)
        return delivered

    def _from_store(self, archive: PlannedArchive, stage: Stage) -> Delivered | None:
        if self.store is None:
            return None
        store, sha256 = ArchiveStore(self.store), archive.expected.sha256
        file = store.open(sha256)
        if file is None:
            return None
        try:
            with file:
                return self._from_file(file, store.path(sha256), archive, stage)
        except (IntegrityError, TransferError) as error:
            log.warning("the stored archive is not what it was and is replaced: %s", error)
            store.discard(sha256)
            stage.clear()
        return None

    def _from_sources(self, archive: PlannedArchive, stage: Stage) -> Delivered:
        """Try the URLs in order; what one gave before the line failed is good for the next."""
        try:
            return from_first(
                archive.urls,
                lambda url: self._from_source(url, archive, stage),
                before_next=stage.clear,
                decide=lambda failures: reported(failures, archive),
            )
        except ArchiveWithdrawn:
            discard_partials(self.layout.partials, archive.expected.sha256)
            raise

    def _from_source(self, url: str, archive: PlannedArchive, stage: Stage) -> Delivered:
        if is_local(url):
            with self.sources.local.open_archive(url) as file:
                return self._from_file(file, url, archive, stage)
        try:
            return self._download(url, archive, stage, fresh=False)
        except IntegrityError as error:
            # The partial was from another run, or a cache on the way is stale: one clean start tells (C29, C40).
            log.warning("%s; starting again", error)
            stage.clear()
            return self._download(url, archive, stage, fresh=True)

    def _from_file(self, file: BinaryIO, where: object, archive: PlannedArchive, stage: Stage) -> Delivered:
        """Read a file in place; it must not change between being judged and being unpacked."""
        before = _state(file)
        reader = SourceReader(file, Judge(archive.expected, where=where))
        unpacked = self._unpack(reader, archive, stage)
        if _state(file) != before:
            raise DigestMismatch(
                "the file changed while it was read", where=where, expected=archive.sha256, actual=None
            )
        return Delivered(unpacked=unpacked, size=reader.received, origin=str(where))

    def _download(self, url: str, archive: PlannedArchive, stage: Stage, *, fresh: bool) -> Delivered:
        def landed(done: int) -> None:
            stage.touch()
            self._tell(archive, "download", done, archive.size)

        with disk_errors(self.layout.partials, phase="download"):
            claimed = Partial.claim(self.layout.partials, archive.expected.sha256)
        with claimed as partial:
            if fresh:
                partial.truncate()
            download = Download(
                partial,
                url,
                archive.expected,
                source=self.sources.http,
                options=self.transfer,
                on_bytes=landed,
                fresh=fresh,
            )
            delivered = _joined(download, lambda: self._follow(download, archive, stage), partial)
            if self.store is not None:
                ArchiveStore(self.store).keep(partial, archive.expected.sha256)
            return delivered

    def _follow(self, download: Download, archive: PlannedArchive, stage: Stage) -> Delivered:
        # What an error is raised from is shown by --debug: no word of the login may be in that either.
        where = redacted(download.url)
        while True:
            try:
                follower = Follower(download, Judge(archive.expected, where=where))
                unpacked = self._unpack(follower, archive, stage, check=download.check_stopped)
                return Delivered(unpacked=unpacked, size=follower.received, origin=where)
            except Rewound:
                stage.clear()
            except IntegrityError as error:
                raise download.blamed(error) from error

    def _unpack(
        self,
        reader: JudgedReader,
        archive: PlannedArchive,
        stage: Stage,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> Unpacked:
        def written(done: int) -> None:
            check()
            self._tell(archive, "unpack", done, None)

        return unpack_judged(
            reader,
            stage.path,
            options=self.unpacking,
            wanted=archive.wants,
            progress=written,
            verify_first=self.verify_first,
        )

    def _tell(self, archive: PlannedArchive, phase: Phase, done: int, total: int | None) -> None:
        self.progress(Progress(archive=archive, phase=phase, done=done, total=total))


def _joined(download: Download, follow: Callable[[], Delivered], partial: Partial) -> Delivered:
    """Download here while another thread follows; whoever fails ends both."""
    with ThreadPoolExecutor(1, thread_name_prefix="cudnn-redist-unpack") as pool:
        try:
            following = pool.submit(follow)
            following.add_done_callback(lambda done: download.stop() if done.exception() else None)
            with suppress(Stopped), disk_errors(partial.path, phase="download"):
                download.run()
            return following.result()
        except BaseException as error:
            download.stop()
            # A failure of transport, or the user's Ctrl-C: the bytes are good as far as they go. That this source
            # has no such archive says nothing about bytes that another gave.
            if isinstance(error, (TransferError, ArchiveWithdrawn)) or not isinstance(error, Exception):
                partial.release()
            raise


def _state(file: BinaryIO) -> tuple[int, int, int]:
    """Return what changes when a file is written to; the time of change cannot be set back."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns
