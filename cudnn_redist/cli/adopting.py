"""``adopt``: what is at hand becomes a prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..adoption.adopting import adopt as adopted
from .facts import prefix_facts
from .listening import notes_shown
from .words import layout_of, sources_of, transfer_of

if TYPE_CHECKING:
    import argparse

    from .output import Output

__all__ = ["adopt"]


def adopt(arguments: argparse.Namespace, output: Output) -> int:
    """Make a prefix of an archive, a wheel or a directory, say what could not be proven, and print its path."""
    with notes_shown(output):
        prefix = adopted(
            arguments.path,
            label=arguments.version,
            component=arguments.component,
            platform=arguments.platform,
            cuda=arguments.cuda,
            sources=sources_of(arguments),
            root=layout_of(arguments).root,
            force=arguments.force,
            transfer=transfer_of(arguments),
        )
    for sentence in prefix.record.unproven:
        output.note(f"not proven: {sentence}")
    output.result(str(prefix.path), {**prefix_facts(prefix), "unproven": list(prefix.record.unproven)})
    return 0
