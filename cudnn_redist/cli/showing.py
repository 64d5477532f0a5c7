"""``list``, ``url`` and ``where``: answers that install nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..asking import MAIN_PRODUCT, parse_label, plain_product
from ..errors import NotInstalled, UsageError
from ..fetcher import answered
from ..prefix.installed import find_prefixes
from .facts import manifest_facts, plan_facts, prefixes_facts
from .words import (
    asked_of,
    layout_of,
    locked_plans_of,
    only_label,
    plan_of,
    sources_of,
    transfer_of,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..layout import Layout
    from ..manifest.labels import ReleaseLabel
    from ..manifest.models import Archive, Manifest
    from ..prefix.installed import Prefix
    from .output import Output

__all__ = ["list_", "standing", "url", "where"]

_MEGABYTE = 1_000_000


def list_(arguments: argparse.Namespace, output: Output) -> int:
    """Show the labels of a source, its channels, what one label has, or what is installed."""
    _require_sense(arguments)
    if arguments.installed:
        _list_installed(arguments, output)
        return 0
    from .listening import notes_shown

    with notes_shown(output):
        if arguments.channels:
            _list_channels(arguments, output)
        elif arguments.label is not None:
            _list_release(arguments, output)
        else:
            _list_labels(arguments, output)
    return 0


def url(arguments: argparse.Namespace, output: Output) -> int:
    """Print URL, size and sha256 of each archive, one a line: the plan, without doing it."""
    from .listening import notes_shown

    with notes_shown(output):
        if arguments.lock is None:
            plans = [plan_of(arguments, asked_of(arguments, only_label(arguments)))]
        else:
            plans = list(locked_plans_of(arguments))
    for reason in dict.fromkeys(reason for plan in plans for reason in plan.reasons):
        output.note(reason)
    facts = [plan_facts(plan) for plan in plans]
    lines = [
        f"{archive['url']}  {_or_dash(archive['size'])}  {_or_dash(archive['sha256'])}"
        for told in facts
        for archive in told["archives"]
    ]
    output.result("\n".join(lines), facts[0] if arguments.lock is None else {"plans": facts})
    return 0


def where(arguments: argparse.Namespace, output: Output) -> int:
    """Print the path of each installed prefix that the choice means."""
    prefixes = standing(arguments)
    output.result(
        "\n".join(str(prefix.path) for prefix in prefixes),
        prefixes_facts(prefixes),
    )
    return 0


def standing(arguments: argparse.Namespace) -> tuple[Prefix, ...]:
    """Return the installed prefixes that the choice means; ``NotInstalled`` lists what is there instead."""
    layout = layout_of(arguments)
    asked = asked_of(arguments)
    prefixes = answered(asked, layout)
    if prefixes is None:
        found = _of_label(layout, product=asked.product, label=asked.label)
        there = [str(prefix.path) for prefix in found]
        instead = f" like that; installed are {', '.join(there)}" if there else ""
        raise NotInstalled(
            f"{arguments.label} is not installed{instead}",
            where=layout.root,
            available=there,
        )
    return prefixes


def _require_sense(arguments: argparse.Namespace) -> None:
    """Refuse words of which one would be passed over."""
    if arguments.channels and arguments.installed:
        raise UsageError("--channels shows what a source has, and --installed what is here: one of them")
    if arguments.channels and arguments.label is not None:
        raise UsageError("--channels shows the channels of a source, and not what a LABEL has")
    reads_manifest = arguments.label is not None and not arguments.installed
    if arguments.manifest_sha256 is not None and not reads_manifest:
        raise UsageError("--manifest-sha256 is for the manifest of a LABEL, and none is read here")


def _list_installed(arguments: argparse.Namespace, output: Output) -> None:
    product = None if arguments.product is None else plain_product(arguments.product)
    label = None if arguments.label is None else parse_label(arguments.label)
    prefixes = list(_of_label(layout_of(arguments), product=product, label=label))
    output.result(
        "\n".join(str(prefix.path) for prefix in prefixes),
        prefixes_facts(prefixes),
    )


def _of_label(layout: Layout, *, product: str | None, label: ReleaseLabel | None) -> Iterator[Prefix]:
    """Yield what is installed of a label, or of every one that it is the beginning of."""
    beginnings = [f"{each}." for each in label.candidates()] if label is not None else [""]
    for prefix in find_prefixes(layout, product=product):
        if f"{prefix.record.label}.".startswith(tuple(beginnings)):
            yield prefix


def _list_labels(arguments: argparse.Namespace, output: Output) -> None:
    from ..catalog import labels

    product = arguments.product or MAIN_PRODUCT
    found = labels(
        product=product,
        sources=sources_of(arguments),
        channel=arguments.channel,
        root=arguments.root,
        transfer=transfer_of(arguments),
    )
    names = [label.text for label in found]
    output.result("\n".join(names), {"product": product, "labels": names})


def _list_channels(arguments: argparse.Namespace, output: Output) -> None:
    from ..catalog import channels

    found = channels(sources=sources_of(arguments), transfer=transfer_of(arguments))
    lines = [f"{name}: {', '.join(products)}" for name, products in found.items()]
    output.result("\n".join(lines), {"channels": found})


def _list_release(arguments: argparse.Namespace, output: Output) -> None:
    from ..catalog import manifest
    from .cautions import caution_about

    found = manifest(
        arguments.label,
        product=arguments.product or MAIN_PRODUCT,
        sources=sources_of(arguments),
        root=arguments.root,
        refresh=arguments.refresh,
        manifest_sha256=arguments.manifest_sha256,
        channel=arguments.channel,
        transfer=transfer_of(arguments),
    )
    caution_about(found, output, strict=arguments.strict)
    output.result("\n".join(_release_lines(found)), manifest_facts(found))


def _release_lines(manifest: Manifest) -> list[str]:
    lines = [f"{manifest.label}  {manifest.date or ''}".rstrip()]
    for component in manifest.components.values():
        lines.append(f"{component.key}  {_or_dash(component.version)}  {component.name or ''}".rstrip())
        for platform, archives in component.platforms.items():
            has = ", ".join(
                f"{archive.variant_name or 'any CUDA'} ({_size(archive)})" for archive in archives
            )
            lines.append(f"  {platform:<16} {has or 'nothing'}")
    return lines


def _size(archive: Archive) -> str:
    if archive.size is None:
        return "size unknown"
    if archive.size < _MEGABYTE:
        return f"{archive.size:,} bytes"
    return f"{archive.size / _MEGABYTE:.0f} MB"


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
