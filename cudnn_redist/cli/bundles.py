"""``bundle``: releases in one file, for machines that see no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from .landing import Landing
from .words import question_of

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["bundle"]


def bundle(arguments: argparse.Namespace, output: Output) -> int:
    """Write a bundle, and print its path."""
    from ..mirroring.bundling import bundle as made
    from .listening import notes_shown

    if not arguments.labels and arguments.lock is None:
        raise UsageError("this is taken for OUT, and no LABEL follows it, nor a --lock", where=arguments.out)
    landing = Landing(arguments, output)
    with notes_shown(output):
        found = made(
            arguments.out,
            arguments.labels,
            lock=arguments.lock,
            landed=landing.landed,
            **question_of(arguments),
        )
    landing.tell_licence()
    count = "1 archive" if len(found.archives) == 1 else f"{len(found.archives)} archives"
    output.note(f"{count}, {found.size:,} bytes, sha256 {found.sha256}")
    facts = {
        "bundle": str(found.path),
        "releases": list(found.releases),
        "archives": list(found.archives),
        "size": found.size,
        "sha256": found.sha256,
    }
    output.result(str(found.path), facts)
    return 0
