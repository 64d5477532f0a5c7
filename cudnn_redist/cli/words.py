"""From the words of a command to the arguments of the library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import Ask, ask
from ..host import default_root
from ..layout import Layout

if TYPE_CHECKING:
    import argparse

    from ..planner import Plan
    from ..source.base import TransferOptions

__all__ = ["asked_of", "layout_of", "plan_of", "sources_of", "transfer_of"]


def asked_of(arguments: argparse.Namespace) -> Ask:
    """Return what the label and the choices ask for."""
    return ask(
        arguments.label,
        product=arguments.product,
        component=arguments.component,
        platform=arguments.platform,
        cuda=arguments.cuda,
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


def layout_of(arguments: argparse.Namespace) -> Layout:
    """Return the layout of the root that the words name."""
    return Layout(arguments.root if arguments.root is not None else default_root())


def sources_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the sources of ``--source``, else those of ``CUDNN_REDIST_SOURCE`` (separated by blanks)."""
    return tuple(arguments.source or os.environ.get("CUDNN_REDIST_SOURCE", "").split())


def transfer_of(arguments: argparse.Namespace) -> TransferOptions:
    """Return how patient to be, and whom to trust."""
    from ..source.base import TransferOptions

    given = {
        "retries": arguments.retries,
        "stall_timeout": arguments.stall_timeout,
        "min_speed": arguments.min_speed,
        "ca_file": arguments.ca_file,
    }
    known = {name: value for name, value in given.items() if value is not None}
    return TransferOptions(netrc=_netrc(), **known)


def _netrc() -> Path | None:
    """Return the file of logins: the one that ``NETRC`` names, else the user's, if there is one to be read."""
    if os.environ.get("NETRC"):
        return Path(os.environ["NETRC"])
    # Path.expanduser would raise where the user has no home, as in many a container.
    usual = os.path.expanduser("~/.netrc")  # noqa: PTH111
    return Path(usual) if os.access(usual, os.R_OK) else None
