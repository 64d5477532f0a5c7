"""Archives -> their places in a mirror: several at a time, resumed, judged, each under its final name or not at all."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ..blame import from_first
from ..digest import Judge
from ..errors import ArchiveWithdrawn, IntegrityError, TransferError
from ..locations import is_local, redacted
from ..notes import log
from ..prefix.space import disk_errors, require_space
from ..source.download import Download, Stopped
from ..source.follow import FileReader
from ..source.partial import Partial, discard_partials, landed_size, sweep_partials
from .tree import Listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from ..source.base import TransferOptions
    from ..source.sources import Sources
    from .releases import Release, WantedArchive
    from .tree import MirrorTree

__all__ = ["AT_ONCE", "Filling"]

AT_ONCE = 4
"""Archives under way at a time: enough to fill a line, few enough to be polite."""

_PIECE = 1024 * 1024


class Filling:
    """Brings archives into ``tree``; ``landed`` is called with a place and how many of its bytes are there."""

    def __init__(
        self,
        tree: MirrorTree,
        sources: Sources,
        transfer: TransferOptions,
        landed: Callable[[str, int], None] = lambda _place, _done: None,
    ) -> None:
        self._tree = tree
        self._sources = sources
        self._transfer = transfer
        self._landed = landed
        self._stopped = threading.Event()
        self._under_way: set[Download] = set()
        self._changing = threading.Lock()

    def bring(self, wanted: Mapping[str, WantedArchive]) -> tuple[str, ...]:
        """Bring every archive to its place, and return the places that were not filled before.

        What a mirror put there with the wanted digest, and still has its size, is left alone; any other file of the
        right size is hashed first. Raises the first failure, ``NotAvailableError``, ``TransferError``,
        ``IntegrityError`` or ``PrefixError``; what is complete by then stays, and other downloads stay to be resumed.
        """
        with disk_errors(self._tree.path, phase="mirror"):
            missing = {place: each for place, each in wanted.items() if not self._is_there(place, each)}
            require_space([(self._tree.path, self._lacking(missing.values()))])
            self._tree.announce({place: _listed(each) for place, each in missing.items()})
            sweep_partials(self._tree.partials)
        self._bring_all(missing)
        with disk_errors(self._tree.path, phase="mirror"):
            known = self._tree.files
            self._tree.settle({place: _listed(each) for place, each in wanted.items() if place in known})
        return tuple(missing)

    @staticmethod
    def place(original: str) -> str:
        """Return where an archive goes: to its own place."""
        return original

    @staticmethod
    def manifest(release: Release) -> bytes:
        """Return the manifest of a release, as it was published."""
        return release.manifest.data

    def _bring_all(self, missing: Mapping[str, WantedArchive]) -> None:
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="cudnn-redist-mirror") as pool:
            pending = [pool.submit(self._bring, place, each) for place, each in missing.items()]
            try:
                done, _ = wait(pending, return_when=FIRST_EXCEPTION)
                failures = [error for each in pending if each in done and (error := each.exception())]
            except BaseException:
                self._stop()
                raise
            finally:
                for each in pending:
                    each.cancel()
            if failures:
                self._stop()
                raise next((error for error in failures if not isinstance(error, Stopped)), failures[0])

    def _bring(self, place: str, wanted: WantedArchive) -> None:
        with disk_errors(self._tree.path / place, phase="mirror"):
            from_first(wanted.urls, lambda url: self._from(url, place, wanted))
        discard_partials(self._tree.partials, wanted.expected.sha256)

    def _from(self, url: str, place: str, wanted: WantedArchive) -> None:
        if is_local(url):
            self._copy(url, place, wanted)
            return
        try:
            self._download(url, place, wanted, fresh=False)
        except IntegrityError as error:
            # The partial was from another run, or a cache on the way is stale: one clean start tells (C29).
            log.warning("%s; starting again", error)
            self._download(url, place, wanted, fresh=True)

    def _download(self, url: str, place: str, wanted: WantedArchive, *, fresh: bool) -> None:
        with Partial.claim(self._tree.partials, wanted.expected.sha256) as partial:
            if fresh:
                partial.truncate()
            download = Download(
                partial,
                url,
                wanted.expected,
                source=self._sources.http,
                options=self._transfer,
                on_bytes=lambda done: self._landed(place, done),
                fresh=fresh,
            )
            with self._registered(download):
                try:
                    download.run()
                except (TransferError, ArchiveWithdrawn, Stopped):
                    partial.release()
                    raise
            try:
                with partial.open() as file:
                    FileReader(file, Judge(wanted.expected, where=redacted(url))).finish()
            except IntegrityError as error:
                raise download.blamed(error) from error
            self._store(partial, place)

    def _copy(self, url: str, place: str, wanted: WantedArchive) -> None:
        """Copy what lies in a directory: judged as it is written."""
        with (
            self._sources.local.open_archive(url) as file,
            Partial.claim(self._tree.partials, wanted.expected.sha256) as partial,
        ):
            partial.truncate()
            reader = FileReader(file, Judge(wanted.expected, where=redacted(url)))
            while data := reader.read(_PIECE):
                self._require_going()
                partial.write_at(data, reader.received - len(data))
                self._landed(place, reader.received)
            reader.finish()
            self._store(partial, place)

    def _store(self, partial: Partial, place: str) -> None:
        path = self._tree.path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.store_at(path)

    def _lacking(self, wanted: Iterable[WantedArchive]) -> int:
        """Return how many bytes must still come, as far as the manifests tell sizes."""
        promised = {each.expected.sha256: each.expected.size or 0 for each in wanted}
        partials = self._tree.partials
        return sum(max(0, size - landed_size(partials, sha256)) for sha256, size in promised.items())

    def _is_there(self, place: str, wanted: WantedArchive) -> bool:
        if self._tree.holds(place, _listed(wanted)):
            return True
        path = self._tree.path / place
        return path.is_file() and wanted.expected.size in (None, path.stat().st_size) and _is(path, wanted)

    @contextmanager
    def _registered(self, download: Download) -> Iterator[None]:
        with self._changing:
            self._require_going()
            self._under_way.add(download)
        try:
            yield
        finally:
            with self._changing:
                self._under_way.discard(download)

    def _require_going(self) -> None:
        if self._stopped.is_set():
            raise Stopped

    def _stop(self) -> None:
        self._stopped.set()
        with self._changing:
            for download in self._under_way:
                download.stop()


def _listed(wanted: WantedArchive) -> Listed:
    return Listed(sha256=wanted.expected.sha256, size=wanted.expected.size)


def _is(path: Path, wanted: WantedArchive) -> bool:
    """Whether a file that is there already holds the promised bytes."""
    with suppress(OSError, IntegrityError), path.open("rb", buffering=0) as file:
        FileReader(file, Judge(wanted.expected, where=path)).finish()
        return True
    return False
