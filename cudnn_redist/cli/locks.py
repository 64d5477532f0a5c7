"""``lock`` and its modes, and ``prune``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..errors import LockMismatch, UsageError
from .words import layout_of, named_sources, question_of, sources_of, transfer_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ..locking.model import Chosen, Lock
    from .output import Output

__all__ = ["lock", "prune"]


def lock(arguments: argparse.Namespace, output: Output) -> int:
    """Make, compare or renew a lock file."""
    from .listening import notes_shown

    with notes_shown(output):
        if arguments.check:
            return _check(arguments, output)
        if arguments.outdated:
            return _outdated(arguments, output)
        if arguments.upgrade:
            return _upgrade(arguments, output)
        if arguments.from_installed:
            return _from_installed(arguments, output)
        return _make(arguments, output)


def prune(arguments: argparse.Namespace, output: Output) -> int:
    """Remove what no lock names, and print its paths."""
    from ..locking.file import read_lock
    from ..locking.pruning import prunable
    from ..locking.pruning import prune as pruned

    locks = [read_lock(path) for path in arguments.lock]
    found = (prunable if arguments.dry_run else pruned)(layout_of(arguments), locks)
    for path, reason in found.left:
        output.note(f"left: {path}: {reason}")
    removed = [str(path) for path in found.removed]
    left = [{"path": str(path), "reason": reason} for path, reason in found.left]
    output.result("\n".join(removed), {"removed": removed, "left": left, "dry_run": arguments.dry_run})
    return 0


def _make(arguments: argparse.Namespace, output: Output) -> int:
    from ..locking.file import existing_lock, write_lock
    from ..locking.making import lock as made

    path = arguments.output
    before = existing_lock(path) if arguments.add else None
    fresh = made(
        arguments.labels, channel=arguments.channel, refresh=arguments.refresh, **question_of(arguments)
    )
    result = before.with_releases(fresh.releases) if before else fresh
    write_lock(path, result)
    _tell(path, result, output)
    return 0


def _from_installed(arguments: argparse.Namespace, output: Output) -> int:
    from ..asking import parse_label
    from ..locking.file import existing_lock, write_lock
    from ..locking.installed import lock_installed

    _refuse(arguments, "add", "channel")
    path = arguments.output
    result = lock_installed(
        layout_of(arguments),
        [parse_label(label) for label in arguments.labels],
        product=arguments.product,
        chosen=_chosen(arguments),
        sources=named_sources(arguments),
        base=existing_lock(path),
    )
    write_lock(path, result)
    _tell(path, result, output)
    return 0


def _check(arguments: argparse.Namespace, output: Output) -> int:
    from ..locking.checking import check

    _refuse(arguments, "labels", "component", "platform", "cuda", "product", "add", "channel")
    path, held = _named(arguments, arguments.check)
    found = check(held, sources=sources_of(arguments), root=arguments.root, transfer=transfer_of(arguments))
    differences = [line for each in found for line in each.differences()]
    if differences:
        for line in differences:
            output.aloud().note(line)
        names = ", ".join(each.release.name for each in found if not each.same)
        raise LockMismatch(
            f"the source differs in {names}",
            where=path,
            differences=differences,
            releases=[each.facts() for each in found],
        )
    output.result(
        "\n".join(f"{each.release.name}: as locked" for each in found),
        {"lock": str(path), "releases": [each.facts() for each in found]},
    )
    return 0


def _outdated(arguments: argparse.Namespace, output: Output) -> int:
    from ..locking.renewing import outdated

    _refuse(arguments, "labels", "component", "platform", "cuda", "add", "channel")
    path, held = _named(arguments, arguments.outdated)
    found = outdated(
        held,
        product=arguments.product,
        sources=sources_of(arguments),
        root=arguments.root,
        transfer=transfer_of(arguments),
    )
    newer = [each for each in found if each.matching or each.newest]
    lines = [
        f"{each.release.name} (asked for as {each.release.asked}): "
        + ", ".join(
            f"{label} {what}"
            for label, what in ((each.matching, "fits"), (each.newest, "is the newest"))
            if label is not None
        )
        for each in newer
    ]
    facts = {"lock": str(path), "outdated": bool(newer), "releases": [each.facts() for each in found]}
    output.result("\n".join(lines), facts)
    return 0


def _upgrade(arguments: argparse.Namespace, output: Output) -> int:
    from ..locking.file import write_lock
    from ..locking.renewing import upgraded

    _refuse(arguments, "labels", "component", "platform", "cuda", "add", "channel")
    path, held = _named(arguments, True)
    label = None if arguments.upgrade is True else arguments.upgrade
    result, upgrades = upgraded(
        held,
        label,
        product=arguments.product,
        sources=sources_of(arguments),
        root=arguments.root,
        transfer=transfer_of(arguments),
    )
    written = write_lock(path, result)
    lines = [line for each in upgrades for line in each.differences()]
    facts = {"lock": str(path), "written": written, "upgrades": [each.facts() for each in upgrades]}
    output.result("\n".join(lines or (f"{each.after.name}: nothing newer" for each in upgrades)), facts)
    return 0


def _named(arguments: argparse.Namespace, given: Path | Literal[True]) -> tuple[Path, Lock]:
    """Return the lock file that a mode names (``True``: none, so that of ``--output``), and what is in it."""
    from ..locking.file import read_lock

    path: Path = arguments.output if given is True else given
    return path, read_lock(path)


def _refuse(arguments: argparse.Namespace, *names: str) -> None:
    """Refuse words that mean nothing in a mode."""
    for name in names:
        if getattr(arguments, name):
            word = "a LABEL" if name == "labels" else f"--{name}"
            raise UsageError(f"{word} has no meaning here; see cudnn-redist lock --help")


def _chosen(arguments: argparse.Namespace) -> Chosen:
    from ..locking.making import choice

    return choice(component=arguments.component, platform=arguments.platform, cuda=arguments.cuda)


def _tell(path: Path, result: Lock, output: Output) -> None:
    """Name the lock file, and what it holds now."""
    releases = [
        {
            "product": release.product,
            "asked": release.asked,
            "label": release.label,
            "manifest_sha256": release.manifest.sha256,
            "archives": len(release.archives),
        }
        for release in result.releases
    ]
    for each in releases:
        asked = "" if each["asked"] == each["label"] else f" (asked for as {each['asked']})"
        count = "1 archive" if each["archives"] == 1 else f"{each['archives']} archives"
        output.note(f"{each['product']} {each['label']}{asked}: {count}")
    output.result(str(path), {"lock": str(path), "releases": releases})
