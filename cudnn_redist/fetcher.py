"""A label -> prefixes, in one call: answered from what is installed where that is possible, else planned and made.

Nothing heavy is imported until something has to be fetched.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .asking import Choices, ask
from .errors import ArchiveWithdrawn, IntegrityError, UsageError
from .host import default_root
from .layout import Layout
from .prefix.installed import Prefix, answer, answer_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .asking import Ask
    from .delivery import Progress
    from .installer import InstallOptions
    from .locking.model import Lock
    from .planner import Plan

__all__ = ["answered", "fetch", "obtained"]


def fetch(
    label: str | None = None,
    *,
    product: str | None = None,
    component: str | None = None,
    platform: str | None = None,
    cuda: str | None = None,
    parts: str | Sequence[str] | None = None,
    sources: Sequence[str] = (),
    channel: str | None = None,
    root: str | Path | None = None,
    dest: str | Path | None = None,
    lock: str | Path | Lock | None = None,
    locked: bool = False,
    offline: bool = False,
    refresh: bool = False,
    manifest_sha256: str | None = None,
    options: InstallOptions | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Prefix:
    """Return the prefix of one archive, installing it first where it is not there yet.

    The arguments are those of ``plan`` and ``install``, and so are the errors. An exact label whose prefix is there
    costs no request; with a ``lock`` nothing does but the archive. ``offline`` makes none at all: what only a server
    has is an ``OfflineError``.
    """

    def installed(made: Plan) -> tuple[Prefix, ...]:
        from .installer import install

        _require_one(len(made.archives))
        return install(made, dest=dest, options=options, progress=progress)

    choices = Choices(product=product, component=component, platform=platform, cuda=cuda, parts=parts)
    if label is None or lock is not None or locked:
        from .catalog import plan

        options = _settled(options, offline=offline)
        made = plan(
            label,
            **choices,
            sources=sources,
            channel=channel,
            root=root,
            lock=lock,
            locked=locked,
            refresh=refresh,
            manifest_sha256=manifest_sha256,
            transfer=options.transfer,
        )
        return installed(made)[0]
    asked = ask(label, **choices, channel=channel)
    _require_one(len(asked.queries))
    force = options is not None and options.force
    if not (force or refresh):
        layout = Layout(Path(root) if root is not None else default_root())
        found = answered(asked, layout, dest=dest, manifest_sha256=manifest_sha256)
        if found is not None:
            return found[0]
    from .catalog import plan_asked

    options = _settled(options, offline=offline)
    planned = partial(
        plan_asked,
        asked,
        sources=sources,
        root=root,
        manifest_sha256=manifest_sha256,
        transfer=options.transfer,
    )
    return obtained(planned, installed, refresh=refresh or force)[0]


def _settled(options: InstallOptions | None, *, offline: bool) -> InstallOptions:
    from .installer import InstallOptions

    options = options or InstallOptions()
    return replace(options, transfer=replace(options.transfer, offline=True)) if offline else options


def _require_one(count: int) -> None:
    if count != 1:
        raise UsageError("fetch is for one prefix; plan and install take several choices")


def obtained(
    planned: Callable[..., Plan], installed: Callable[[Plan], tuple[Prefix, ...]], *, refresh: bool
) -> tuple[Prefix, ...]:
    """Plan and install; once more with a fresh manifest where a kept one promises what the source does not have.

    ``planned`` takes ``refresh``. A manifest may be mended in place (C07): a kept one must not be believed for ever.
    """
    made = planned(refresh=refresh)
    try:
        return installed(made)
    except (IntegrityError, ArchiveWithdrawn) as error:
        if not made.from_kept:
            raise
        fresh = planned(refresh=True)
        if fresh.manifest_sha256 == made.manifest_sha256:
            raise
        from .notes import log

        log.warning("%s; trying the manifest that the source has now", error)
        return installed(fresh)


def answered(
    asked: Ask, layout: Layout, *, dest: str | Path | None = None, manifest_sha256: str | None = None
) -> tuple[Prefix, ...] | None:
    """Return the installed prefixes that ``asked`` means, or ``None`` when a manifest is needed to tell.

    They are looked for under ``layout``'s root, or at ``dest`` alone. Only an exact label can be answered (a partial
    one has no prefixes of its own name), and only when every prefix stands with all its names and sizes.
    """
    if asked.label is None:
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
