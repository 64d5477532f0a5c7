"""``bundle``: releases of a source, or of a lock -> one file to carry to machines that see no network."""

from __future__ import annotations

import glob
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..locations import is_local, local_path
from ..locking.model import Lock
from ..owners import left_behind, own_mark
from ..prefix.space import disk_errors
from ..renames import replace
from ..source.base import TransferOptions
from ..source.bundle import LOCK_NAME, is_bundle
from ..source.local import LocalSource, is_there
from .filling import Filling
from .licences import licence_texts
from .packing import Content, content_of, write_bundle
from .tree import MirrorTree
from .waiting import waiting_beside
from .wanted import wanted_releases

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..source.sources import Sources
    from .releases import Release, WantedArchive

__all__ = ["Bundled", "bundle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """A bundle that was written: its releases (product and label), its archives by path, its size and digest."""

    path: Path
    releases: tuple[str, ...]
    archives: tuple[str, ...]
    size: int
    sha256: str


def bundle(
    out: str | Path,
    labels: str | Sequence[str] | None = None,
    *,
    lock: str | Path | Lock | None = None,
    product: str | None = None,
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    transfer: TransferOptions | None = None,
    landed: Callable[[str, int], None] = lambda _place, _done: None,
) -> Bundled:
    """Write manifests, chosen archives, licence texts and a lock of all that into one file.

    ``labels`` and choices are those of ``mirror``. With a ``lock`` they choose among its releases, all of them without
    any, and a manifest that is not the locked one is a ``LockMismatch``. A file at ``out`` is replaced if it is a
    bundle, when the new one is whole; what has to be downloaded waits in a directory beside it, which a failure leaves
    for the next run. ``landed`` is called from several threads with a path and its bytes so far. Raises
    ``UsageError``, ``NotAvailableError``, ``ManifestError``, ``TransferError``, ``IntegrityError``, ``LockError``,
    ``LockMismatch`` or ``PrefixError``.
    """
    out = Path(out).absolute()
    _require_replaceable(out)
    wanted = wanted_releases(
        labels,
        lock=lock,
        product=product,
        component=component,
        platform=platform,
        cuda=cuda,
        sources=sources,
        root=root,
        transfer=transfer,
    )
    with waiting_beside(out) as waiting:
        bundling = _Bundling(MirrorTree(waiting), transfer, landed)
        for release, opened_sources in wanted:
            bundling.add(release, opened_sources)
        return bundling.written(out)


class _Bundling:
    """One bundle in the making; ``waiting`` is where downloads wait to be packed."""

    def __init__(
        self, waiting: MirrorTree, transfer: TransferOptions | None, landed: Callable[[str, int], None]
    ) -> None:
        self._waiting = waiting
        self._transfer = transfer or TransferOptions()
        self._landed = landed
        self._releases: list[Release] = []
        self._archives: dict[str, None] = {}
        self._contents: dict[str, Content] = {}

    def add(self, release: Release, sources: Sources) -> None:
        """Bring what a release needs to this machine."""
        place = self._waiting.place
        archives = {place(release.product, each.relative_path): each for each in release.archives()}
        near = {name: url for name, each in archives.items() if (url := _near(each))}
        far = {name: each for name, each in archives.items() if name not in near}
        if far:
            Filling(self._waiting, sources, self._transfer, self._landed).bring(far)
        for name, each in archives.items():
            url = near.get(name) or (self._waiting.path / name).as_uri()
            self._contents[name] = _archive_content(url, each.expected.sha256)
        texts = {place(release.product, path): data for path, data in licence_texts(release, sources).items()}
        texts[place(release.product, release.manifest_name)] = release.manifest.data
        self._contents.update({name: content_of(data) for name, data in texts.items()})
        self._archives.update(dict.fromkeys(archives))
        self._releases.append(release)

    def written(self, out: Path) -> Bundled:
        """Pack everything, and give the file its name."""
        lock = Lock.of(release.locked for release in self._releases)
        contents = {**self._contents, LOCK_NAME: content_of(lock.to_bytes())}
        beside = out.with_name(f".{out.name}.{own_mark()}.part")
        with disk_errors(out, phase="bundle"):
            out.parent.mkdir(parents=True, exist_ok=True)
            _remove_unfinished(out)
            try:
                with beside.open("wb") as file:
                    sha256 = write_bundle(file, contents, written=self._landed)
                    size = file.tell()
                replace(beside, out)
            finally:
                beside.unlink(missing_ok=True)
        return Bundled(
            path=out,
            releases=tuple(release.locked.name for release in self._releases),
            archives=tuple(self._archives),
            size=size,
            sha256=sha256,
        )


def _near(wanted: WantedArchive) -> str | None:
    """Return where an archive can be read without a download, if it can."""
    return next((url for url in wanted.urls if is_local(url) and is_there(url)), None)


def _archive_content(url: str, sha256: str) -> Content:
    """Return an archive on this machine; the manifest may not tell its size, the file does."""
    source = LocalSource()
    with source.open_archive(url) as file:
        size = file.seek(0, 2)
    return Content(size=size, sha256=sha256, open=lambda: source.open_archive(url), where=local_path(url))


def _require_replaceable(out: Path) -> None:
    if out.is_dir() or (out.exists() and not is_bundle(out)):
        raise UsageError("there is something else than a bundle here, which stays", phase="bundle", where=out)


def _remove_unfinished(out: Path) -> None:
    """Remove what runs that were killed left beside ``out``."""
    for path in out.parent.glob(f".{glob.escape(out.name)}.*.part"):
        with suppress(FileNotFoundError):
            if left_behind(path.name, touched=path.lstat().st_mtime):
                path.unlink()
