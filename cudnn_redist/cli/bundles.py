"""``bundle``: releases in one file, for machines that see no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .landing import Landing, tell_licence
from .words import question_of

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["bundle"]


def bundle(arguments: argparse.Namespace, output: Output) -> int:
    """Write a bundle, and print its path."""
    from ..mirroring.bundling import bundle as made
    from .listening import notes_shown

    tell_licence(arguments, output)
    with notes_shown(output):
        found = made(
            arguments.out,
            arguments.labels,
            lock=arguments.lock,
            landed=Landing(output, wanted=not arguments.no_progress).landed,
            **question_of(arguments),
        )
    output.note(f"{len(found.archives)} archives, {found.size:,} bytes, sha256 {found.sha256}")
    facts = {
        "bundle": str(found.path),
        "releases": list(found.releases),
        "archives": list(found.archives),
        "size": found.size,
        "sha256": found.sha256,
    }
    output.result(str(found.path), facts)
    return 0
