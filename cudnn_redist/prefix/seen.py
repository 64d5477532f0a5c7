"""A prefix as its consumers see it: the facts from which the variables that lead to it are worked out."""

from __future__ import annotations

import os
from pathlib import Path

from ..env.facts import Facts
from ..errors import VerificationFailed
from .installed import Prefix

__all__ = ["facts_of"]


def facts_of(prefix: Prefix) -> Facts:
    """Return the facts of a prefix, at its real path: no link on the way to it can be moved under a running job.

    ``VerificationFailed`` where files have gone or changed their size since it was installed.
    """
    absent = prefix.absent_names()
    if absent:
        raise VerificationFailed(
            "files of this prefix are missing or of another size; fetch --force installs it again",
            where=prefix.path,
            findings=absent,
        )
    real = Prefix(Path(os.path.realpath(prefix.path)), prefix.record)
    entries = (*prefix.record.entries, *prefix.record.generated)
    return Facts(
        path=real.path,
        include_dir=real.include_dir,
        lib_dir=real.lib_dir,
        bin_dir=real.bin_dir,
        version=prefix.record.version,
        paths=frozenset(entry.path for entry in entries if entry.kind != "directory"),
    )
