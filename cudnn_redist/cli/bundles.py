"""``bundle``: releases in one file, for machines that see no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .landing import Landing
from .words import sources_of, transfer_of

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["bundle"]


def bundle(arguments: argparse.Namespace, output: Output) -> int:
    """Write a bundle, and print its path."""
    from ..mirroring.bundling import bundle as made
    from ..mirroring.licences import NOTICE, require_acceptance
    from .listening import notes_shown

    require_acceptance(accepted=arguments.accept_licence, strict=arguments.strict_licence)
    output.note(NOTICE)
    with notes_shown(output):
        found = made(
            arguments.out,
            arguments.labels,
            lock=arguments.lock,
            product=arguments.product,
            component=arguments.component,
            platform=arguments.platform,
            cuda=arguments.cuda,
            sources=sources_of(arguments),
            root=arguments.root,
            transfer=transfer_of(arguments),
            landed=Landing(output, wanted=not arguments.no_progress).landed,
        )
    output.note(f"{len(found.archives)} archives, {found.size:,} bytes, sha256 {found.sha256}")
    facts = {
        "bundle": str(found.path),
        "releases": list(found.releases),
        "archives": list(found.archives),
        "size": found.size,
        "sha256": found.sha256,
    }
    output.result(str(found.path), facts)
    return 0
