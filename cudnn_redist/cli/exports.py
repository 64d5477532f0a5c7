"""``export``: a release or a lock as text for another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..asking import MAIN_PRODUCT
from ..errors import UsageError
from ..locations import folders, local_path
from .words import named_sources, question_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..locking.model import Lock
    from .output import Output

__all__ = ["export"]


def export(arguments: argparse.Namespace, output: Output) -> int:
    """Print the text; ``--json`` has it beside what it is of."""
    from ..export.kinds import text_of
    from .listening import notes_shown

    with notes_shown(output):
        sources = named_sources(arguments)
        _require_no_bundle(sources)
        lock, origin = _locked(arguments)
        text = text_of(arguments.kind, lock, sources=sources, origin=origin)
    for release in lock.releases:
        output.note(f"{release.name}: {len(release.archives)} archives")
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


def _require_no_bundle(sources: Sequence[str]) -> None:
    """Refuse sources that nobody else can read."""
    for source in sources:
        for folder in folders(source, MAIN_PRODUCT):
            if folder.local and local_path(folder.tree).is_file():
                raise UsageError(
                    "only cudnn-redist reads a bundle; export from a server or a directory", where=source
                )


def _locked(arguments: argparse.Namespace) -> tuple[Lock, str]:
    """Return what to export, pinned: of a lock file, else of the source as it is now; and what that is called."""
    from ..export.narrowing import narrowed
    from ..locking.file import read_lock
    from ..locking.making import choice, lock

    chosen = choice(component=arguments.component, platform=arguments.platform, cuda=arguments.cuda)
    if arguments.lock is not None:
        if arguments.refresh or arguments.channel is not None:
            raise UsageError(
                "--lock says which manifest counts: --refresh and --channel have no place beside it"
            )
        held, origin = read_lock(arguments.lock), str(arguments.lock)
        found = narrowed(held, arguments.labels, chosen, product=arguments.product, origin=origin)
        return found, origin
    if not arguments.labels:
        raise UsageError("a LABEL is needed, or a --lock")
    made = lock(
        arguments.labels, refresh=arguments.refresh, channel=arguments.channel, **question_of(arguments)
    )
    return narrowed(made, (), chosen, origin="the manifest"), "the manifest"
