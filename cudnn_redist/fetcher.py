"""A label -> prefixes, in one call: answered from what is installed where that is possible, else planned and made.

Nothing heavy is imported until something has to be fetched.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .asking import Ask, ask
from .host import default_root
from .layout import Layout
from .prefix.installed import Prefix, answer, answer_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .delivery import Progress
    from .installer import InstallOptions

__all__ = ["answered", "fetch"]


def fetch(
    label: str,
    *,
    product: str = "cudnn",
    component: str | None = None,
    platform: str | None = None,
    cuda: str | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    dest: str | Path | None = None,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    options: InstallOptions | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Prefix:
    """Return the prefix of one archive, installing it first where it is not there yet.

    The arguments are those of ``plan`` and ``install``, and so are the errors. An exact label whose prefix is there
    costs no request.
    """
    asked = ask(label, product=product, component=component, platform=platform, cuda=cuda)
    force = options is not None and options.force
    if not (force or refresh):
        layout = Layout(Path(root) if root is not None else default_root())
        found = answered(asked, layout, dest=dest, manifest_sha256=manifest_sha256)
        if found is not None:
            return found[0]

    from .catalog import plan
    from .installer import install

    transfer = options.transfer if options is not None else None
    made = plan(
        label,
        product=product,
        component=component,
        platform=platform,
        cuda=cuda,
        sources=sources,
        root=root,
        refresh=refresh or force,
        manifest_sha256=manifest_sha256,
        transfer=transfer,
    )
    return install(made, dest=dest, options=options, progress=progress)[0]


def answered(
    asked: Ask, layout: Layout, *, dest: str | Path | None = None, manifest_sha256: str | None = None
) -> tuple[Prefix, ...] | None:
    """Return the installed prefixes that ``asked`` means, or ``None`` when a manifest is needed to tell.

    They are looked for under ``layout``'s root, or at ``dest`` alone. Only an exact label can be answered, and only
    when every prefix stands with all its names and sizes.
    """
    if asked.label is None or asked.label.is_partial:
        return None
    pin = manifest_sha256.lower() if manifest_sha256 is not None else None
    found: dict[Path, Prefix] = {}
    for query in asked.queries:
        if dest is None:
            prefix = answer(layout, product=asked.product, label=asked.label, query=query)
        else:
            path = Path(os.path.realpath(dest))
            prefix = answer_at(path, product=asked.product, label=asked.label, query=query)
        if prefix is None or pin not in (None, prefix.record.manifest_sha256):
            return None
        found[prefix.path] = prefix
    return tuple(found.values())
