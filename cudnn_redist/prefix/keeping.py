"""What the root remembers beside its prefixes: the manifests they came from, and a log of what was done."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .. import __version__
from ..errors import ManifestError
from ..locations import redacted
from ..notes import log
from ..renames import replace
from .publish import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..layout import Layout
    from ..manifest.labels import ReleaseLabel
    from ..manifest.models import Manifest
    from .record import Record

__all__ = ["keep_manifest", "kept_manifests", "note_install", "remembering"]


@contextlib.contextmanager
def remembering(what: str, layout: Layout) -> Iterator[None]:
    """Go on where the root cannot remember: the prefix stands, and to call that a failure would be untrue."""
    try:
        yield
    except OSError as error:
        log.warning("%s: %s could not be kept: %s", error.filename or layout.root, what, error.strerror)


def keep_manifest(layout: Layout, product: str, data: bytes, *, url: str) -> None:
    """Keep the manifest of an installed label, byte for byte as ``url`` gave it; replaced atomically."""
    path = layout.kept_manifest(product, url)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_file(beside, data)
        replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def kept_manifests(layout: Layout, product: str, label: ReleaseLabel) -> Iterator[tuple[Path, Manifest]]:
    """Yield the manifests that are kept of a label, one a source, and where each lies; a damaged one is passed over."""
    # Who only keeps one has no need of this module.
    from ..manifest.models import Manifest

    for path in sorted(layout.kept_manifests(product).glob(f"*/{label.manifest_name}")):
        with contextlib.suppress(OSError, ManifestError):
            yield path, Manifest.parse(path.read_bytes(), origin=str(path), label=label)


def note_install(layout: Layout, path: Path, record: Record, *, origin: str) -> None:
    """Append a line on an install to the root's log: when, from where, by which version of this tool."""
    note = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "tool": __version__,
        "prefix": str(path),
        "from": redacted(origin),
        "archive": record.archive_sha256,
        "manifest": record.manifest_sha256,
    }
    line = json.dumps(note).encode() + b"\n"
    handle = os.open(layout.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        # One write to a file opened for appending: lines of several processes do not mix.
        written = os.write(handle, line)
        if written < len(line):
            _take_back(handle, written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(layout.log))
    finally:
        os.close(handle)


def _take_back(handle: int, size: int) -> None:
    """Cut off the ``size`` bytes of a line that a full disk tore, unless another process wrote behind them."""
    end = os.lseek(handle, 0, os.SEEK_CUR)
    if os.fstat(handle).st_size == end:
        os.ftruncate(handle, end - size)
