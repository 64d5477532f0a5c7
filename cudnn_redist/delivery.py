"""One archive -> an unpacked, judged tree in a stage: from the archive store, a local source, or over HTTP.

Over HTTP the calling thread downloads and a second one follows the growing file, so that download, digest and
unpacking overlap. Whatever the way, nothing is handed on before size, digest and archive are known to be right.
"""

from __future__ import annotations

import logging
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

from .digest import Judge
from .errors import ArchiveError, ArchiveWithdrawn, DigestMismatch, IntegrityError
from .layout import Layout, stored_archive
from .locations import redacted
from .prefix.publish import Stage, remove_tree
from .source.download import Download, Rewound, Stopped
from .source.follow import FileReader, Follower
from .source.partial import Partial
from .unpack import Unpacked, UnpackOptions, unpack, unpack_zip
from .unpack.streams import HEAD_SIZE, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .planner import PlannedArchive
    from .resolver import Sources
    from .source.base import TransferOptions

__all__ = ["Delivered", "Delivery", "Progress"]

_log = logging.getLogger("cudnn_redist")

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

    ``store`` is the content-addressed directory of ``--archives``. ``progress`` is called from two threads.
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
        return (
            self._from_store(archive, stage)
            or self._from_directory(archive, stage)
            or self._over_http(archive, stage)
        )

    def _from_store(self, archive: PlannedArchive, stage: Stage) -> Delivered | None:
        if self.store is None:
            return None
        path = stored_archive(self.store, archive.expected.sha256)
        try:
            with path.open("rb", buffering=0) as file:
                return self._from_file(file, path, archive, stage)
        except FileNotFoundError:
            if path.is_symlink():
                remove_tree(path)
        except (IntegrityError, IsADirectoryError) as error:
            # A damaged copy is replaced once without asking: the source has a good one (C70).
            _log.warning("stored archive %s is not what it was: %s", path, error)
            remove_tree(path)
            stage.clear()
        return None

    def _from_directory(self, archive: PlannedArchive, stage: Stage) -> Delivered | None:
        local = [url for url in archive.urls if url.startswith("file:")]
        for url in local:
            try:
                file = self.sources.directory.open_archive(url)
            except ArchiveWithdrawn:
                if len(local) == len(archive.urls) and url == local[-1]:
                    raise
            else:
                with file:
                    return self._from_file(file, url, archive, stage)
        return None

    def _from_file(self, file: BinaryIO, where: object, archive: PlannedArchive, stage: Stage) -> Delivered:
        """Read a file in place; it must not change between being judged and being unpacked."""
        before = os.fstat(file.fileno())
        reader = FileReader(file, Judge(archive.expected, where=where))
        unpacked = self._unpack(reader, lambda: _again(file), archive, stage)
        after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise DigestMismatch(
                "the file changed while it was read", where=where, expected=archive.sha256, actual=None
            )
        return Delivered(unpacked=unpacked, size=reader.received, origin=str(where))

    def _over_http(self, archive: PlannedArchive, stage: Stage) -> Delivered:
        try:
            return self._download(archive, stage, fresh=False)
        except IntegrityError as error:
            # The partial was from another run, or a cache on the way is stale: one clean start tells (C29, C40).
            _log.warning("%s; starting again", error)
            stage.clear()
            return self._download(archive, stage, fresh=True)

    def _download(self, archive: PlannedArchive, stage: Stage, *, fresh: bool) -> Delivered:
        with Partial.claim(self.layout.partials, archive.expected.sha256) as partial:
            if fresh:
                partial.truncate()
            download = Download(
                partial,
                [url for url in archive.urls if not url.startswith("file:")],
                archive.expected,
                source=self.sources.http,
                options=self.transfer,
                on_bytes=lambda done: self._tell(archive, "download", done, archive.size),
                fresh=fresh,
            )
            with ThreadPoolExecutor(1, thread_name_prefix="cudnn-redist-unpack") as pool:
                unpacking = pool.submit(self._follow, download, archive, stage)
                delivered = _joined(download, unpacking, partial)
            self._keep(partial, archive)
            return delivered

    def _follow(self, download: Download, archive: PlannedArchive, stage: Stage) -> Delivered:
        where = redacted(archive.urls[0])
        while True:
            try:
                follower = Follower(download, Judge(archive.expected, where=where))
                unpacked = self._unpack(
                    follower, download.partial.open, archive, stage, check=download.check_stopped
                )
                return Delivered(unpacked=unpacked, size=follower.received, origin=download.url)
            except Rewound:
                stage.clear()

    def _unpack(
        self,
        reader: FileReader | Follower,
        whole: Callable[[], BinaryIO],
        archive: PlannedArchive,
        stage: Stage,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> Unpacked:
        """Unpack what ``reader`` gives, or the ``whole`` file where kind or user wants it judged first."""

        def written(done: int) -> None:
            check()
            self._tell(archive, "unpack", done, None)

        try:
            kind = kind_of(reader.peek(HEAD_SIZE), name=archive.name)
            if kind is not Kind.ZIP and not self.verify_first:
                return self._unpack_stream(reader, kind, archive, stage, written)
            reader.finish()
            with whole() as file:
                if kind is Kind.ZIP:
                    return unpack_zip(
                        file, stage.path, name=archive.name, options=self.unpacking, progress=written
                    )
                again = FileReader(file, Judge(archive.expected, where=archive.name))
                return self._unpack_stream(again, kind, archive, stage, written)
        except ArchiveError:
            # Wrong bytes explain a damaged archive; only right ones make it the archive's own fault.
            reader.finish()
            raise

    def _unpack_stream(
        self,
        reader: FileReader | Follower,
        kind: Kind,
        archive: PlannedArchive,
        stage: Stage,
        written: Callable[[int], None],
    ) -> Unpacked:
        unpacked = unpack(
            reader, stage.path, name=archive.name, kind=kind, options=self.unpacking, progress=written
        )
        reader.finish()
        return unpacked

    def _tell(self, archive: PlannedArchive, phase: Phase, done: int, total: int | None) -> None:
        self.progress(Progress(archive=archive, phase=phase, done=done, total=total))

    def _keep(self, partial: Partial, archive: PlannedArchive) -> None:
        """Put a judged archive into the store, under its digest."""
        if self.store is None:
            return
        path = stored_archive(self.store, archive.expected.sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        partial.store_at(path)


def _joined(download: Download, unpacking: Future[Delivered], partial: Partial) -> Delivered:
    """Run the download here while the other thread unpacks; whoever fails ends both."""
    unpacking.add_done_callback(lambda done: download.stop() if done.exception() else None)
    try:
        with suppress(Stopped):
            download.run()
        return unpacking.result()
    except (IntegrityError, ArchiveError, OSError):
        raise
    except BaseException:
        # A failure of transport, or the user's Ctrl-C: the bytes are good as far as they go.
        partial.release()
        raise
    finally:
        download.stop()


def _again(file: BinaryIO) -> BinaryIO:
    handle = os.dup(file.fileno())
    os.lseek(handle, 0, os.SEEK_SET)
    return os.fdopen(handle, "rb", buffering=0)
