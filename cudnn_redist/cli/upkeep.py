"""``verify`` and ``remove``: prefixes that are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import plain_product
from ..errors import NotInstalled, UsageError, VerificationFailed
from ..manifest.labels import ReleaseLabel
from ..manifest.targets import CudaVariant, parse_platform
from ..prefix.installed import Prefix, find_prefixes
from ..prefix.publish import disk_errors, remove_prefix
from .facts import prefix_facts
from .words import layout_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from .output import Output

__all__ = ["remove", "verify"]


def verify(arguments: argparse.Namespace, output: Output) -> int:
    """Compare every file of the named prefixes with their records; exit code 9 when anything differs."""
    prefixes = _named(arguments)
    findings = {prefix.path: prefix.verify() for prefix in prefixes}
    faults = [f"{path}: {finding}" for path, found in findings.items() for finding in found]
    if faults:
        for fault in faults:
            output.note(fault)
        bad = [str(path) for path, found in findings.items() if found]
        count = "1 difference" if len(faults) == 1 else f"{len(faults)} differences"
        raise VerificationFailed(f"{count} from the record", where=", ".join(bad), findings=faults)
    output.result(
        "\n".join(f"{path}: as recorded" for path in findings),
        {"prefixes": [{**prefix_facts(prefix), "findings": []} for prefix in prefixes]},
    )
    return 0


def remove(arguments: argparse.Namespace, output: Output) -> int:
    """Remove the named prefixes and print their paths."""
    prefixes = _named(arguments)
    for prefix in prefixes:
        with disk_errors(prefix.path, phase="remove"):
            remove_prefix(prefix.path)
    output.result(
        "\n".join(str(prefix.path) for prefix in prefixes),
        {"removed": [str(prefix.path) for prefix in prefixes]},
    )
    return 0


def _named(arguments: argparse.Namespace) -> list[Prefix]:
    """Return the prefix at a path, or those of a label, that fit every choice given.

    What reads as a label is one, whatever the working directory holds: ``./9.27.0`` is the directory.
    """
    target: str = arguments.target
    try:
        label = ReleaseLabel.parse(target)
    except UsageError:
        if not _is_path(target):
            raise
        path = Path(target).absolute()
        return _fitting([Prefix.open(path)], arguments, where=path)
    layout, product = layout_of(arguments), plain_product(arguments.product)
    found = [
        prefix
        for candidate in label.candidates()
        for prefix in find_prefixes(layout, product=product, label=candidate.text)
    ]
    return _fitting(found, arguments, where=layout.root)


def _is_path(target: str) -> bool:
    return "/" in target or "\\" in target or os.path.lexists(target)


def _fitting(found: Iterable[Prefix], arguments: argparse.Namespace, *, where: Path) -> list[Prefix]:
    fitting = [prefix for prefix in found if _fits(prefix, arguments)]
    if not fitting:
        raise NotInstalled(f"no prefix of {arguments.target} that fits is installed", where=where)
    return fitting


def _fits(prefix: Prefix, arguments: argparse.Namespace) -> bool:
    record = prefix.record
    platforms = [platform for text in arguments.platform or () for platform in parse_platform(text)]
    cudas = [CudaVariant.asked(text) for text in arguments.cuda or ()]
    names = {name for cuda in cudas for name in (cuda.name, CudaVariant(cuda.major).name)}
    return (
        (not arguments.component or record.component in arguments.component)
        and (not platforms or record.platform in platforms)
        and (not names or record.variant in names)
    )
