"""``fetch``: the main job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..fetcher import answered, obtained
from ..prefix.installed import Prefix
from .facts import dry_run_facts, prefixes_facts
from .words import asked_of, layout_of, locked_plans_of, only_label, plan_of, transfer_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ..asking import Ask
    from ..planner import Plan, PlannedArchive
    from .output import Output

__all__ = ["fetch"]


def fetch(arguments: argparse.Namespace, output: Output) -> int:
    """Install what is asked for and print the path of each prefix, one a line."""
    _require_sense(arguments)
    prefixes = _of_label(arguments, output) if arguments.lock is None else _of_lock(arguments, output)
    if prefixes is None:
        return 0
    if arguments.link is not None:
        from ..prefix.link import point_link

        point_link(arguments.link, prefixes[0].path)
    output.result("\n".join(str(prefix.path) for prefix in prefixes), prefixes_facts(prefixes))
    return 0


def _of_label(arguments: argparse.Namespace, output: Output) -> tuple[Prefix, ...] | None:
    """Return the prefixes of one label; ``None`` where they were only to be told."""
    asked = asked_of(arguments, only_label(arguments))
    prefixes = _answered(asked, arguments, output)
    if prefixes is not None:
        return prefixes
    from .listening import notes_shown

    with notes_shown(output):
        if arguments.dry_run:
            text, facts = _told(_planned(asked, arguments, output, refresh=arguments.force), arguments)
            output.result(text, facts)
            return None
        return obtained(
            partial(_planned, asked, arguments, output),
            lambda plan: _installed(plan, arguments, output),
            refresh=arguments.force,
        )


def _of_lock(arguments: argparse.Namespace, output: Output) -> tuple[Prefix, ...] | None:
    """Return the prefixes of what a lock names, as ``_of_label`` does."""
    from .listening import notes_shown

    with notes_shown(output):
        plans = [_with_dest(plan, arguments) for plan in _locked(arguments, output)]
        if arguments.dry_run:
            told = [_told(plan, arguments) for plan in plans]
            output.result("\n".join(text for text, _ in told), {"plans": [facts for _, facts in told]})
            return None
        return tuple(prefix for plan in plans for prefix in _installed(plan, arguments, output))


def _locked(arguments: argparse.Namespace, output: Output) -> tuple[Plan, ...]:
    from .cautions import caution

    plans = locked_plans_of(arguments)
    for reason in dict.fromkeys(reason for plan in plans for reason in plan.reasons):
        output.note(reason)
    caution([archive for plan in plans for archive in plan.archives], output, strict=arguments.strict)
    count = sum(len(plan.archives) for plan in plans)
    _require_one_for_link(arguments.link, count)
    if arguments.dest is not None and count != 1:
        raise UsageError(f"one directory holds one archive, and this asks for {count}", where=arguments.dest)
    return plans


def _require_sense(arguments: argparse.Namespace) -> None:
    """Refuse what cannot end well before anything is asked or written."""
    if arguments.link is not None:
        from ..prefix.link import require_linkable

        require_linkable(arguments.link)
    if arguments.dest is None:
        return
    others = {
        "the root": layout_of(arguments).root,
        "--archives": arguments.archives,
        "--link": arguments.link,
    }
    for name, path in others.items():
        if path is not None and arguments.dest in (path, *path.parents):
            raise UsageError(f"--dest holds one prefix and nothing else: {name} cannot be in it", where=path)


def _answered(asked: Ask, arguments: argparse.Namespace, output: Output) -> tuple[Prefix, ...] | None:
    if arguments.force or arguments.refresh or arguments.dry_run:
        return None
    prefixes = answered(
        asked,
        layout_of(arguments),
        dest=arguments.dest,
        manifest_sha256=arguments.manifest_sha256,
    )
    if prefixes is not None:
        _require_one_for_link(arguments.link, len(prefixes))
        if arguments.strict:
            from .cautions import caution

            caution([prefix.record for prefix in prefixes], output, strict=True)
        for prefix in prefixes:
            adopted = " (adopted: nobody vouches for it)" if prefix.record.unproven else ""
            output.note(f"already there: {prefix.path}{adopted}")
    return prefixes


def _planned(asked: Ask, arguments: argparse.Namespace, output: Output, *, refresh: bool) -> Plan:
    from .cautions import caution

    plan = plan_of(arguments, asked, refresh=refresh)
    for reason in plan.reasons:
        output.note(reason)
    caution(plan.archives, output, strict=arguments.strict)
    _require_one_for_link(arguments.link, len(plan.archives))
    return _with_dest(plan, arguments)


def _with_dest(plan: Plan, arguments: argparse.Namespace) -> Plan:
    return plan if arguments.dest is None else plan.into(arguments.dest)


def _require_one_for_link(link: Path | None, count: int) -> None:
    if link is not None and count != 1:
        raise UsageError(f"one link points at one prefix, and this asks for {count}", where=link)


def _installed(plan: Plan, arguments: argparse.Namespace, output: Output) -> tuple[Prefix, ...]:
    from ..installer import InstallOptions, install
    from ..unpack import UnpackOptions
    from .progress import Display

    options = InstallOptions(
        force=arguments.force,
        verify_first=arguments.verify_first,
        durable=arguments.durable,
        archives=arguments.archives,
        transfer=transfer_of(arguments),
        unpacking=UnpackOptions(threads=arguments.threads, budget=arguments.memory),
    )
    with Display(plan, output, wanted=not (arguments.no_progress or arguments.quiet)) as display:
        prefixes = install(plan, dest=arguments.dest, options=options, progress=display.show)
    for prefix in prefixes:
        _tell_saved(prefix, output)
    return prefixes


def _tell_saved(prefix: Prefix, output: Output) -> None:
    """Say what the parts of an archive save; without parts they save nothing."""
    record = prefix.record
    if record.parts:
        output.note(
            f"only {', '.join(record.parts)}: saves {record.disk_saved:,} bytes of disk; "
            f"the download is the same {record.archive_size:,} bytes"
        )


def _told(plan: Plan, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Return what a dry run says of a plan, as text and as JSON."""
    exact = arguments.dest is not None
    present = [not arguments.force and _is_there(archive, exact=exact) for archive in plan.archives]
    facts = dry_run_facts(plan, present)
    lines = [
        f"{each['url']}\n  -> {each['prefix']}{' (already there)' if each['present'] else ''}"
        for each in facts["archives"]
    ]
    download, disk = facts["download_size"], facts["disk_size"]
    lines.append(f"download {download:,} bytes; needs about {disk:,} bytes of disk while it works")
    return "\n".join(lines), facts


def _is_there(archive: PlannedArchive, *, exact: bool) -> bool:
    """Whether what stands there stays: only in an ``exact`` directory does another archive give way."""
    prefix = Prefix.whole_at(archive.prefix)
    if prefix is None:
        return False
    is_it = (prefix.record.archive_sha256, prefix.record.parts) == (archive.sha256, archive.parts)
    return is_it or not exact
