"""A mirror that is there, hashed again."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ..errors import UsageError, VerificationFailed
from .tree import LIST_NAME, MirrorTree

if TYPE_CHECKING:
    from pathlib import Path

    from .tree import Listed

__all__ = ["check_mirror"]

_PIECE = 1024 * 1024


def check_mirror(path: Path) -> tuple[str, ...]:
    """Hash every file of a mirror, on all cores, and return their paths below it.

    ``VerificationFailed`` names each file that is missing or differs; ``UsageError`` where there is no mirror.
    """
    if not (path / LIST_NAME).is_file():
        raise UsageError("no mirror of ours here", phase="mirror", where=path)
    files = MirrorTree(path).files
    stopped = threading.Event()
    with ThreadPoolExecutor() as pool:
        try:
            found = pool.map(lambda place: _fault(path, place, files[place], stopped), files)
            faults = [fault for fault in found if fault]
        finally:
            # Of what is under way nobody wants to hear any more when Ctrl-C comes.
            stopped.set()
    if faults:
        count = "1 file is" if len(faults) == 1 else f"{len(faults)} files are"
        raise VerificationFailed(
            f"{count} not as mirrored ({faults[0]}); what is removed is fetched again",
            where=path,
            findings=faults,
        )
    return tuple(files)


def _fault(mirror: Path, place: str, listed: Listed, stopped: threading.Event) -> str | None:
    digest = hashlib.sha256()
    try:
        with (mirror / place).open("rb", buffering=0) as file:
            while (data := file.read(_PIECE)) and not stopped.is_set():
                digest.update(data)
    except FileNotFoundError:
        return f"missing: {place}"
    except OSError as error:
        return f"unreadable: {place}: {error.strerror}"
    found = digest.hexdigest()
    return (
        None if found == listed.sha256 else f"changed: {place}: sha256 is {found}, expected {listed.sha256}"
    )
