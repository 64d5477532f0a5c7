"""From the words of a command to the arguments of the library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..asking import Ask, ask
from ..errors import UsageError
from ..host import default_root
from ..layout import Layout, absolute
from ..manifest.labels import ReleaseLabel

if TYPE_CHECKING:
    import argparse

    from ..planner import Plan
    from ..source.base import TransferOptions

__all__ = [
    "Question",
    "asked_of",
    "layout_of",
    "locked_plans_of",
    "named_path",
    "named_sources",
    "only_label",
    "plan_of",
    "question_of",
    "sources_of",
    "transfer_of",
]


class Question(TypedDict):
    """What every function that deals in releases takes: what is chosen of them, and who is asked, and how."""

    product: str | None
    component: list[str] | None
    platform: list[str] | None
    cuda: list[str] | None
    sources: tuple[str, ...]
    root: Path | None
    transfer: TransferOptions


def question_of(arguments: argparse.Namespace) -> Question:
    """Return what the words choose, and whom they ask."""
    return {
        "product": arguments.product,
        "component": arguments.component,
        "platform": arguments.platform,
        "cuda": arguments.cuda,
        "sources": sources_of(arguments),
        "root": arguments.root,
        "transfer": transfer_of(arguments),
    }


def asked_of(arguments: argparse.Namespace, label: str | None = None) -> Ask:
    """Return what the label (that of the words without another) and the choices ask for."""
    return ask(
        arguments.label if label is None else label,
        product=arguments.product,
        component=arguments.component,
        platform=arguments.platform,
        cuda=arguments.cuda,
        parts=arguments.only,
        channel=getattr(arguments, "channel", None),
    )


def plan_of(arguments: argparse.Namespace, asked: Ask, *, refresh: bool = False) -> Plan:
    """Return the plan of getting what is asked for."""
    from ..catalog import plan_asked

    return plan_asked(
        asked,
        sources=sources_of(arguments),
        root=arguments.root,
        refresh=refresh or arguments.refresh,
        manifest_sha256=arguments.manifest_sha256,
        transfer=transfer_of(arguments),
    )


def locked_plans_of(arguments: argparse.Namespace) -> tuple[Plan, ...]:
    """Return the plans that ``--lock`` yields, one a release."""
    if arguments.refresh or arguments.manifest_sha256 is not None or arguments.channel is not None:
        raise UsageError(
            "--lock says which manifest counts: --refresh, --manifest-sha256 and --channel have no place beside it"
        )
    from ..locking.locked import locked_plans

    return locked_plans(
        arguments.lock,
        arguments.labels,
        parts=arguments.only,
        unchanged=arguments.locked,
        **question_of(arguments),
    )


def only_label(arguments: argparse.Namespace) -> str:
    """Return the one label of a command that takes several only beside ``--lock``."""
    if arguments.locked:
        raise UsageError("--locked needs a --lock")
    if not arguments.labels:
        raise UsageError("a LABEL is needed, or a --lock; see --help")
    if len(arguments.labels) > 1:
        raise UsageError(f"one LABEL is needed, and not {len(arguments.labels)}; several need a --lock")
    label: str = arguments.labels[0]
    return label


def layout_of(arguments: argparse.Namespace) -> Layout:
    """Return the layout of the root that the words name."""
    return Layout(arguments.root if arguments.root is not None else default_root())


def named_path(target: str) -> Path | None:
    """Return the path that is meant, or ``None`` where a label is.

    What reads as a label is one, whatever the working directory holds: ``./9.27.0`` is the directory.
    """
    try:
        ReleaseLabel.parse(target)
    except UsageError:
        if "/" in target or "\\" in target or os.path.lexists(target):
            return absolute(Path(target))
        raise
    return None


def sources_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the sources to ask: ``named_sources``, or the bundle that ``--lock`` names.

    With ``--no-fallback`` it is an error where there are none.
    """
    named = named_sources(arguments)
    if not arguments.source:
        _require_one_there(named)
    lock = getattr(arguments, "lock", None)
    if lock is not None:
        from ..locking.file import sources_beside

        named = tuple(sources_beside(lock, named))
    if arguments.no_fallback and not named:
        raise UsageError(
            "no source is named, and --no-fallback (or CUDNN_REDIST_NO_FALLBACK) lets nobody else be asked: "
            "give --source or set CUDNN_REDIST_SOURCE",
            phase="source",
        )
    return named


def named_sources(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the sources of ``--source``, else those of ``CUDNN_REDIST_SOURCE`` (separated by blanks)."""
    if arguments.source:
        return tuple(arguments.source)
    return tuple(os.environ.get("CUDNN_REDIST_SOURCE", "").split())


def _require_one_there(named: tuple[str, ...]) -> None:
    """Refuse sources of the variable of which none is there: most likely one path with a blank in it."""
    if named and not any(":" in each or os.path.lexists(each) for each in named):
        raise UsageError(
            "no such directory; a source of CUDNN_REDIST_SOURCE, in which blanks separate them, is a directory, "
            "a bundle, or a URL that begins with http:// or https://",
            phase="source",
            where=named[0],
        )


def transfer_of(arguments: argparse.Namespace) -> TransferOptions:
    """Return how patient to be, and whom to trust."""
    from ..source.base import TransferOptions

    given = {
        "retries": arguments.retries,
        "stall_timeout": arguments.stall_timeout,
        "min_speed": arguments.min_speed,
        "ca_file": arguments.ca_file,
        "offline": arguments.offline,
        "same_host": arguments.no_fallback,
    }
    known = {name: value for name, value in given.items() if value is not None}
    return TransferOptions(netrc=_netrc(), **known)


def _netrc() -> Path | None:
    """Return the file of logins: the one that ``NETRC`` names, else the user's, if there is one to be read."""
    if os.environ.get("NETRC"):
        return Path(os.environ["NETRC"])
    # Path.expanduser would raise where the user has no home, as in many a container.
    usual = os.path.expanduser("~/.netrc")  # noqa: PTH111 - see above
    return Path(usual) if os.access(usual, os.R_OK) else None
