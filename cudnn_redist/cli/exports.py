"""``export``: a release or a lock as text for another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from .words import sources_of, transfer_of

if TYPE_CHECKING:
    import argparse

    from ..locking.model import Lock
    from .output import Output

__all__ = ["export"]


def export(arguments: argparse.Namespace, output: Output) -> int:
    """Print the text; ``--json`` has it beside what it is of."""
    from ..export.kinds import text_of
    from .listening import notes_shown

    with notes_shown(output):
        lock, origin = _locked(arguments)
        text = text_of(arguments.kind, lock, sources=sources_of(arguments), origin=origin)
    facts = {
        "kind": arguments.kind,
        "text": text,
        "releases": [
            {
                "product": release.product,
                "label": release.label,
                "manifest_sha256": release.manifest.sha256,
                "archives": [archive.model_dump(mode="json") for archive in release.archives],
            }
            for release in lock.releases
        ],
    }
    output.result(text.removesuffix("\n"), facts)
    return 0


def _locked(arguments: argparse.Namespace) -> tuple[Lock, str]:
    """Return what to export, pinned: of a lock file, else of the source as it is now; and what that is called."""
    from ..export.narrowing import narrowed
    from ..locking.file import read_lock
    from ..locking.making import choice, lock

    chosen = choice(component=arguments.component, platform=arguments.platform, cuda=arguments.cuda)
    if arguments.lock is not None:
        if arguments.refresh:
            raise UsageError("--lock says which manifest counts: --refresh has no place beside it")
        held, origin = read_lock(arguments.lock), str(arguments.lock)
        found = narrowed(held, arguments.labels, chosen, product=arguments.product, origin=origin)
        return found, origin
    if not arguments.labels:
        raise UsageError("a LABEL is needed, or a --lock")
    made = lock(
        arguments.labels,
        product=arguments.product,
        component=arguments.component,
        platform=arguments.platform,
        cuda=arguments.cuda,
        sources=sources_of(arguments),
        root=arguments.root,
        refresh=arguments.refresh,
        transfer=transfer_of(arguments),
    )
    return narrowed(made, (), chosen, origin="the manifest"), "the manifest"
