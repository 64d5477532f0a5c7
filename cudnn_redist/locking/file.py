"""Lock files on disk: read whole, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LockError, PrefixError, UsageError
from ..renames import replace
from ..source.bundle import LOCK_NAME, Bundle, is_bundle
from .model import Lock

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["existing_lock", "opened_lock", "read_lock", "sources_beside", "write_lock"]


def read_lock(path: str | Path) -> Lock:
    """Read a lock file, or the lock in a bundle.

    Raises ``UsageError`` where there is none (a directory is none), ``PrefixError`` where it may not be read, and
    ``LockError`` where it is damaged or of another schema; of a bundle what ``Bundle`` raises.
    """
    try:
        if is_bundle(Path(path)):
            return _lock_in(Bundle.open(Path(path)))
        data = Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError("no such lock file; `lock` makes one", phase="lock", where=path) from error
    except IsADirectoryError as error:
        raise UsageError("is a directory and no lock file", phase="lock", where=path) from error
    except ValueError as error:
        raise UsageError("no file has such a name", phase="lock", where=ascii(str(path))) from error
    except OSError as error:
        raise PrefixError(f"cannot be read: {error.strerror}", phase="lock", where=path) from error
    return Lock.parse(data, origin=str(path))


def _lock_in(bundle: Bundle) -> Lock:
    if LOCK_NAME not in bundle.files:
        raise LockError("there is no lock in this bundle", where=bundle.path)
    return Lock.parse(bundle.read(LOCK_NAME), origin=str(bundle.path))


def existing_lock(path: Path) -> Lock | None:
    """Read a lock file as ``read_lock`` does; ``None`` where there is none yet."""
    return read_lock(path) if os.path.lexists(path) else None


def opened_lock(given: str | Path | Lock) -> tuple[Lock, str]:
    """Return a lock that was given as a value or as a file, and what to call it."""
    return (given, "the lock") if isinstance(given, Lock) else (read_lock(given), str(given))


def sources_beside(lock: str | Path | Lock, sources: Sequence[str]) -> Sequence[str]:
    """Return ``sources``; without any, the bundle that ``lock`` names, if it is one: it is all that is needed."""
    named = not isinstance(lock, Lock) and is_bundle(Path(lock))
    return (str(lock),) if named and not sources else sources


def write_lock(path: Path, lock: Lock) -> bool:
    """Write a lock file in one rename, behind a link if ``path`` is one; return whether that changed anything.

    ``PrefixError`` where the disk or a permission refuses it, ``UsageError`` where a bundle stands.
    """
    data = lock.to_bytes()
    target = Path(os.path.realpath(path))
    if is_bundle(target):
        raise UsageError("a bundle, whose lock is not changed; name another file", phase="lock", where=path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        if target.is_file() and target.read_bytes() == data:
            return False
        try:
            beside.write_bytes(data)
            replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise PrefixError(f"cannot be written: {error.strerror}", phase="lock", where=path) from error
    return True
