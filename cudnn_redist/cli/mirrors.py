"""``mirror``: releases, copied for others to fetch from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError, VerificationFailed
from .landing import Landing
from .words import question_of

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["mirror"]


def mirror(arguments: argparse.Namespace, output: Output) -> int:
    """Make, continue or check a mirror, and print its path."""
    if arguments.check:
        return _check(arguments, output)
    from ..mirroring.making import mirror as made
    from .listening import notes_shown

    if not arguments.labels:
        raise UsageError("this is taken for DEST, and no LABEL follows it", where=arguments.dest)
    landing = Landing(arguments, output)
    with notes_shown(output):
        found = made(
            arguments.dest,
            arguments.labels,
            prune=arguments.prune,
            repack=_level(arguments),
            landed=landing.landed,
            **question_of(arguments),
        )
    landing.tell_licence()
    for label, absent in found.absent.items():
        if absent:
            count = "1 archive" if len(absent) == 1 else f"{len(absent)} archives"
            output.note(f"{label}: {count} of its manifest not in this mirror")
    for place in found.pruned:
        output.note(f"removed: {place}")
    facts = {
        "mirror": str(found.path),
        "labels": list(found.labels),
        "fetched": list(found.fetched),
        "pruned": list(found.pruned),
        "absent": {label: list(absent) for label, absent in found.absent.items()},
    }
    output.result(str(found.path), facts)
    return 0


def _level(arguments: argparse.Namespace) -> int | None:
    """Return the level at which archives are repacked, if they are to be."""
    if arguments.repack is None:
        if arguments.level is not None:
            raise UsageError("--level is that of --repack")
        return None
    from ..mirroring.repack import DEFAULT_LEVEL

    return DEFAULT_LEVEL if arguments.level is None else int(arguments.level)


def _check(arguments: argparse.Namespace, output: Output) -> int:
    from ..mirroring.checking import check_mirror

    if arguments.labels or arguments.prune:
        raise UsageError("--check looks at all files of a mirror: no LABEL and no --prune beside it")
    try:
        places = check_mirror(arguments.dest)
    except VerificationFailed as error:
        for fault in error.findings:
            output.aloud().note(fault)
        raise
    output.result(
        f"{arguments.dest}: {len(places)} files, all as mirrored",
        {"mirror": str(arguments.dest), "files": list(places)},
    )
    return 0
