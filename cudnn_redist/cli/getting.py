"""``fetch``: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from ..fetcher import answered
from ..prefix.link import point_link
from .facts import plan_facts, prefixes_facts
from .words import asked_of, layout_of, plan_of, transfer_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ..planner import Plan
    from ..prefix.installed import Prefix
    from .output import Output

__all__ = ["fetch"]


def fetch(arguments: argparse.Namespace, output: Output) -> int:
    """Install what is asked for and print the path of each prefix, one a line."""
    if arguments.dest is not None and arguments.root is not None and arguments.link is not None:
        raise UsageError("--dest is a place of its own; --link points at a prefix under --root")
    prefixes = _answered(arguments, output) or _installed(arguments, output)
    if prefixes is None:
        return 0
    if arguments.link is not None:
        _link(arguments.link, prefixes)
    output.result(
        "\n".join(str(prefix.path) for prefix in prefixes),
        prefixes_facts(prefixes),
    )
    return 0


def _answered(arguments: argparse.Namespace, output: Output) -> tuple[Prefix, ...] | None:
    if arguments.force or arguments.refresh or arguments.dry_run or arguments.dest is not None:
        return None
    prefixes = answered(asked_of(arguments), layout_of(arguments), manifest_sha256=arguments.manifest_sha256)
    for prefix in prefixes or ():
        output.note(f"already there: {prefix.path}")
    return prefixes


def _installed(arguments: argparse.Namespace, output: Output) -> tuple[Prefix, ...] | None:
    from ..installer import InstallOptions, install
    from ..unpack import UnpackOptions
    from .progress import Display

    made = plan_of(arguments, refresh=arguments.force)
    for reason in made.reasons:
        output.note(reason)
    if arguments.dry_run:
        _tell_plan(made, output)
        return None
    options = InstallOptions(
        force=arguments.force,
        verify_first=arguments.verify_first,
        durable=arguments.durable,
        archives=arguments.archives,
        transfer=transfer_of(arguments),
        unpacking=UnpackOptions(threads=arguments.threads, budget=arguments.memory),
    )
    with Display(made, output, wanted=not (arguments.no_progress or arguments.quiet)) as display:
        return install(made, dest=arguments.dest, options=options, progress=display.show)


def _tell_plan(plan: Plan, output: Output) -> None:
    lines = [f"{archive.urls[0]}\n  -> {archive.prefix}" for archive in plan.archives]
    lines.append(
        f"download {plan.download_size:,} bytes; needs about {plan.disk_size:,} bytes of disk while it works"
    )
    output.result("\n".join(lines), plan_facts(plan))


def _link(link: Path, prefixes: tuple[Prefix, ...]) -> None:
    if len(prefixes) != 1:
        raise UsageError(f"one link points at one prefix, and this asks for {len(prefixes)}", where=link)
    point_link(link, prefixes[0].path)
