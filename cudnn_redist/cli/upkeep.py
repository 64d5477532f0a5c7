"""``verify`` and ``remove``: prefixes that are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import plain_product
from ..errors import NotInstalled, PrefixError, UsageError, VerificationFailed
from ..findings import Finding, faults
from ..layout import RECORD_NAME, parted
from ..manifest.labels import ReleaseLabel
from ..manifest.targets import CudaVariant, parse_platform
from ..parts import named_parts
from ..prefix.installed import Prefix, find_directories
from ..prefix.removing import remove_prefix
from ..prefix.space import disk_errors
from .facts import prefix_facts
from .verdicts import tell_findings
from .words import layout_of, named_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from .output import Output

__all__ = ["remove", "verify"]

# Product, label, component, platform and variant.
_LEVELS = 5


def verify(arguments: argparse.Namespace, output: Output) -> int:
    """Look at every file of the named prefixes, with ``--load`` and ``--gpu`` use them; exit code 9 for any fault."""
    prefixes, findings = _examined(arguments)
    tell_findings(findings, output)
    bad = {path: faults(found) for path, found in findings.items() if faults(found)}
    if bad:
        count = sum(map(len, bad.values()))
        raise VerificationFailed(
            "1 fault" if count == 1 else f"{count} faults",
            where=", ".join(map(str, bad)),
            findings=[
                {"prefix": str(path), **finding.facts()}
                for path, found in findings.items()
                for finding in found
            ],
        )
    output.result(
        "\n".join(f"{prefix.path}: as recorded" for prefix in prefixes),
        {
            "prefixes": [
                {**prefix_facts(prefix), "findings": [each.facts() for each in findings[prefix.path]]}
                for prefix in prefixes
            ]
        },
    )
    return 0


def _examined(arguments: argparse.Namespace) -> tuple[list[Prefix], dict[Path, list[Finding]]]:
    """Return the prefixes that are meant, and what is to be said of each place, damaged ones included."""
    if arguments.lock is None and arguments.target is None:
        raise UsageError("a LABEL or a PREFIX is needed, or a --lock")
    findings: dict[Path, list[Finding]] = {}
    if arguments.lock is None:
        prefixes, damaged = _named(arguments)
    else:
        from ..locking.file import read_lock
        from .lock_verifying import beside_lock

        lock = read_lock(arguments.lock)
        prefixes, damaged = _named(arguments)
        levels = {path: _levels(path, arguments) for path in damaged}
        findings, apart = beside_lock(lock, arguments, prefixes, levels)
        prefixes = [prefix for prefix in prefixes if prefix.path not in apart]
        damaged = {path: error for path, error in damaged.items() if path not in apart}
    for path, error in damaged.items():
        findings[path] = [Finding(code="record-damaged", where=RECORD_NAME, detail=error.cause)]
    for prefix in prefixes:
        findings.setdefault(prefix.path, []).extend((*prefix.verify(), *_loaded(prefix, arguments)))
    return prefixes, findings


def _loaded(prefix: Prefix, arguments: argparse.Namespace) -> Iterator[Finding]:
    """Yield what loading shows, and work on a GPU, where they are asked for."""
    try:
        if arguments.load:
            from ..doctor.loading import load

            yield from load(prefix, os.environ)
        if arguments.gpu:
            from ..doctor.gpu import try_gpu

            yield try_gpu(prefix, os.environ)
    except OSError as error:
        raise PrefixError(f"no child process: {error.strerror}", phase="load", where=prefix.path) from error


def remove(arguments: argparse.Namespace, output: Output) -> int:
    """Remove the named prefixes, and those whose record is damaged, and print their paths.

    A link that is named stays, leading nowhere: the prefix that it leads to is what is removed.
    """
    prefixes, damaged = _named(arguments, surely=True)
    removed = [*(prefix.path for prefix in prefixes), *damaged]
    for path in removed:
        with disk_errors(path, phase="remove"):
            remove_prefix(path, root=layout_of(arguments).root)
    named = named_path(arguments.target)
    if named is not None and named not in removed:
        output.note(f"{named}: this link now leads nowhere, and is left")
    output.result("\n".join(map(str, removed)), {"removed": list(map(str, removed))})
    return 0


def _named(
    arguments: argparse.Namespace, *, surely: bool = False
) -> tuple[list[Prefix], dict[Path, PrefixError]]:
    """Return the prefix at a path, or those of a label, that fit every choice given; and those damaged in the record.

    Where a version is asked for, a damaged record cannot tell it: ``surely`` makes that an error. So is a record
    that cannot be read.
    """
    fitting: list[Prefix] = []
    damaged: dict[Path, PrefixError] = {}
    for directory, version in _directories(arguments):
        try:
            prefix = Prefix.open(directory)
        except PrefixError as error:
            if not _fits(_levels(directory, arguments), parted(directory.name)[1], arguments):
                continue
            if isinstance(error.__cause__, OSError) or (surely and version is not None):
                raise
            damaged[directory] = error
        else:
            fits = _fits(prefix.record.levels, prefix.record.parts, arguments)
            if fits and version in (None, prefix.record.version):
                fitting.append(prefix)
    if not fitting and not damaged:
        where = (arguments.target and named_path(arguments.target)) or layout_of(arguments).root
        raise NotInstalled(
            f"no prefix of {arguments.target or 'the lock'} that fits is installed", where=where
        )
    return fitting, damaged


def _directories(arguments: argparse.Namespace) -> Iterator[tuple[Path, str | None]]:
    """Yield the directories that ``target`` names, each with the version that must be in it, if one is asked for."""
    if arguments.target is None:
        yield from ((directory, None) for directory in find_directories(layout_of(arguments)))
        return
    path = named_path(arguments.target)
    if path is not None:
        linked = os.path.islink(path)  # noqa: PTH114 - never raises
        yield Path(os.path.realpath(path)) if linked else path, None
        return
    layout, product = layout_of(arguments), plain_product(arguments.product)
    label = ReleaseLabel.parse(arguments.target)
    for candidate in label.candidates():
        version = None if candidate == label else label.text
        for directory in find_directories(layout, product=product, label=candidate.text):
            yield directory, version


def _levels(directory: Path, arguments: argparse.Namespace) -> tuple[str | None, ...]:
    """Return what its place under the root says of a prefix whose record says nothing; see ``Record.levels``."""
    try:
        above = directory.parent.relative_to(layout_of(arguments).root).parts
        names = (*above, parted(directory.name)[0])
    except ValueError:
        names = ()
    return (*names, *(None,) * _LEVELS)[:_LEVELS]


def _fits(levels: Sequence[str | None], parts: Sequence[str], arguments: argparse.Namespace) -> bool:
    """Whether component, platform and variant of ``levels``, and ``parts``, are those chosen; silence chooses any."""
    _, _, component, platform, variant = levels
    platforms = [platform for text in arguments.platform or () for platform in parse_platform(text)]
    variants = {each.name for text in arguments.cuda or () for each in CudaVariant.asked(text).alternatives}
    return (
        (not arguments.component or component in arguments.component)
        and (not platforms or platform in platforms)
        and (not variants or variant in variants)
        and (not arguments.only or tuple(parts) == named_parts(arguments.only))
    )
