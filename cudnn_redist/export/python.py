"""``python``: one file that installs what a lock names, with the standard library alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from .archives import exported
from .carrying import carried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..locking.model import Lock
    from ..planner import Plan

__all__ = ["python_text"]

_FRAME = "export.standalone.frame"
_COMMAND = "export.standalone.command"
_PUT_IN = re.compile(r"(?<=has them\.\n).*(?=# The end of what is put in\.\n)", re.DOTALL)


def python_text(plans: Sequence[Plan], lock: Lock) -> str:
    """Return the installer of ``lock``, which gets its archives from the URLs in ``plans``.

    Its prefixes, records included, are the same bytes as those of ``install``. ``UsageError`` where this copy of the
    package has no sources to put into it.
    """
    pins = {
        "lock": lock.model_dump(mode="json", by_alias=True),
        "urls": {archive.sha256: archive.urls for archive in exported(plans)},
    }
    modules = carried(_COMMAND)
    frame = carried(_FRAME)[_FRAME]
    put_in = [f"PINS = {_quoted(json.dumps(pins, indent=1, sort_keys=True))}", "MODULES = {"]
    put_in += [f'"{name}": {_quoted(source)},' for name, source in modules.items()]
    text = _PUT_IN.sub(lambda _: "\n".join((*put_in, "}", "")), frame)
    return f"#!/usr/bin/env python3\n{text}"


def _quoted(text: str) -> str:
    """Return ``text`` as it can be read in a program: no escapes, where none are needed."""
    plain = "'''" not in text and not text.endswith(("'", "\\"))
    return f"r'''{text}'''" if plain else repr(text)
