"""``verify`` and ``remove``: prefixes that are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import plain_product
from ..errors import NotInstalled, PrefixError, UsageError, VerificationFailed
from ..layout import RECORD_NAME
from ..manifest.labels import ReleaseLabel
from ..manifest.targets import CudaVariant, parse_platform
from ..prefix.installed import Prefix, find_directories
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
    prefixes, damaged = _named(arguments)
    faults = [f"{path}: {RECORD_NAME}: {error.cause}" for path, error in damaged.items()]
    for prefix in prefixes:
        faults.extend(f"{prefix.path}: {finding}" for finding in prefix.verify())
    if faults:
        for fault in faults:
            output.note(fault)
        count = "1 difference" if len(faults) == 1 else f"{len(faults)} differences"
        bad = dict.fromkeys(fault.partition(": ")[0] for fault in faults)
        raise VerificationFailed(f"{count} from the record", where=", ".join(bad), findings=faults)
    output.result(
        "\n".join(f"{prefix.path}: as recorded" for prefix in prefixes),
        {"prefixes": [{**prefix_facts(prefix), "findings": []} for prefix in prefixes]},
    )
    return 0


def remove(arguments: argparse.Namespace, output: Output) -> int:
    """Remove the named prefixes, and those whose record is damaged, and print their paths."""
    prefixes, damaged = _named(arguments)
    removed = [*(prefix.path for prefix in prefixes), *damaged]
    for path in removed:
        with disk_errors(path, phase="remove"):
            remove_prefix(path, root=layout_of(arguments).root)
    output.result("\n".join(map(str, removed)), {"removed": list(map(str, removed))})
    return 0


def _named(arguments: argparse.Namespace) -> tuple[list[Prefix], dict[Path, PrefixError]]:
    """Return the prefix at a path, or those of a label, that fit every choice given; and those damaged in the record.

    What reads as a label is one, whatever the working directory holds: ``./9.27.0`` is the directory.
    """
    target: str = arguments.target
    try:
        label = ReleaseLabel.parse(target)
    except UsageError:
        if not _is_path(target):
            raise
        return _fitting([Path(target).absolute()], arguments, where=target)
    layout, product = layout_of(arguments), plain_product(arguments.product)
    found = [
        directory
        for candidate in label.candidates()
        for directory in find_directories(layout, product=product, label=candidate.text)
    ]
    return _fitting(found, arguments, where=layout.root)


def _fitting(
    directories: Iterable[Path], arguments: argparse.Namespace, *, where: object
) -> tuple[list[Prefix], dict[Path, PrefixError]]:
    fitting: list[Prefix] = []
    damaged: dict[Path, PrefixError] = {}
    for directory in directories:
        try:
            prefix = Prefix.open(directory)
        except PrefixError as error:
            damaged[directory] = error
        else:
            if _fits(prefix, arguments):
                fitting.append(prefix)
    if not fitting and not damaged:
        raise NotInstalled(f"no prefix of {arguments.target} that fits is installed", where=where)
    return fitting, damaged


def _is_path(target: str) -> bool:
    return "/" in target or "\\" in target or os.path.lexists(target)


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
